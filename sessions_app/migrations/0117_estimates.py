"""Lets bookings, and the sums of sessions and days, tell what is an estimate.

Whether the sum of an answer is one is known by its exchange, as long as that is kept; a cache has no other price
than the one that is known. Of the rest nobody knows. What came of an answer without its end is no lower bound
where it is estimated.
"""

from collections.abc import Iterator
from typing import Any

from django.db import migrations, models
from django.db.models import Count, Q

SLICE = 500
"""Rows that are written at once."""

DAY = ("owner", "day", "model", "source")
COUNTED = {"estimates": Q(estimated=True), "cut_off": Q(cut_off=True)}


def fill(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    names = ("Booking", "Session", "Spending")
    booking, session, spending = (apps.get_model("sessions_app", name).objects.using(using) for name in names)
    # Without a price nothing of it is in a sum.
    known = Q(exchange__money__has_key="terms") | Q(usd=None) | Q(cause__in=("cache_made", "cache_kept"))
    booking.filter(known).update(estimated=False)
    estimates = list(_estimates(booking))
    for start in range(0, len(estimates), SLICE):
        booking.filter(pk__in=estimates[start : start + SLICE]).update(estimated=True, cut_off=False)
    estimated = booking.filter(estimated=True).order_by()
    _write(session, _of_sessions(booking, session, set(estimated.values_list("session", flat=True))))
    _write(spending, _of_days(booking, spending, set(estimated.values_list(*DAY))))


def _estimates(booking: Any) -> Iterator[int]:
    from sessions_app.prompt.chunks import is_standard_text

    rows = booking.exclude(exchange=None).exclude(usd=None).order_by()
    for pk, usage, money in rows.values_list("pk", "exchange__usage", "exchange__money").iterator(SLICE):
        is_known = money.get("estimated") or money.get("other_price")
        if "terms" in money and (is_known or not is_standard_text(usage)):
            yield pk


def _counts(rows: Any, *keys: str) -> dict[Any, dict[str, int]]:
    counts = {name: Count("pk", filter=which) for name, which in COUNTED.items()}
    found = rows.order_by().values_list(*keys).annotate(**counts)
    return {tuple(row[: len(keys)]): dict(zip(COUNTED, row[len(keys) :], strict=True)) for row in found}


def _of_sessions(booking: Any, session: Any, keys: set[int | None]) -> Iterator[Any]:
    for (key,), counts in _counts(booking.exclude(session=None), "session").items():
        if key in keys:
            yield session.model(pk=key, **counts)


def _of_days(booking: Any, spending: Any, keys: set[Any]) -> Iterator[Any]:
    days = {day for _, day, _, _ in keys}
    booked = _counts(booking.filter(day__in=days), *DAY)
    for pk, *key in spending.filter(day__in=days).order_by("pk").values_list("pk", *DAY):
        if tuple(key) in keys:
            # A day of nobody may have several rows: the first of them counts for all.
            yield spending.model(pk=pk, **booked.pop(tuple(key), dict.fromkeys(COUNTED, 0)))


def _write(rows: Any, changed: Iterator[Any]) -> None:
    rows.bulk_update(list(changed), list(COUNTED), batch_size=SLICE)


class Migration(migrations.Migration):
    dependencies = [("sessions_app", "0116_tool_use_tokens")]

    operations = [
        migrations.AddField(
            "booking",
            "estimated",
            models.BooleanField(
                null=True,
                help_text="Its sum is an estimate (Money.is_estimate). Unknown: an earlier version did not keep it.",
            ),
        ),
        migrations.AddField(
            "session",
            "estimates",
            models.PositiveIntegerField(default=0, db_default=0, help_text="Bookings that are estimates."),
        ),
        migrations.AddField(
            "spending",
            "estimates",
            models.PositiveIntegerField(
                default=0, db_default=0, help_text="Bookings whose sum is an estimate."
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
