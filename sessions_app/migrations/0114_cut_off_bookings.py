"""Lets bookings, and the sums of sessions and days, tell what is a lower bound.

An answer that was not received to its end is known by the money of its exchange, as long as that is kept.
"""

from typing import Any

from django.db import migrations, models
from django.db.models import Count, Exists, OuterRef

SLICE = 500
"""Rows that are written at once."""

DAY = ("owner", "day", "model", "source")


def fill(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    names = ("Booking", "Exchange", "Session", "Spending")
    booking, exchange, session, spending = (
        apps.get_model("sessions_app", name).objects.using(using) for name in names
    )
    bounds = exchange.filter(pk=OuterRef("exchange"), money__at_least=True)
    booking.filter(Exists(bounds)).update(cut_off=True)
    cut = booking.filter(cut_off=True).order_by()
    by_session = cut.exclude(session=None).values_list("session").annotate(Count("pk"))
    write(session, [session.model(pk=key, cut_off=count) for key, count in by_session])
    by_day = {row[:4]: row[4] for row in cut.values_list(*DAY).annotate(Count("pk"))}
    days = {day for _, day, _, _ in by_day}
    kept = spending.filter(day__in=days).order_by("pk").values_list("pk", *DAY)
    # A day of nobody may have several rows: one of them counts for all.
    found = [(pk, by_day.pop(tuple(key), 0)) for pk, *key in kept]
    write(spending, [spending.model(pk=pk, cut_off=count) for pk, count in found if count])


def write(rows: Any, changed: list[Any]) -> None:
    rows.bulk_update(changed, ["cut_off"], batch_size=SLICE)


class Migration(migrations.Migration):
    dependencies = [("sessions_app", "0113_redundant_indexes")]

    operations = [
        migrations.AddField(
            "booking",
            "cut_off",
            models.BooleanField(
                default=False,
                db_default=False,
                help_text="Its answer was not received to its end: tokens and sum are lower bounds.",
            ),
        ),
        migrations.AddField(
            "session",
            "cut_off",
            models.PositiveIntegerField(default=0, db_default=0, help_text="Bookings of answers cut off."),
        ),
        migrations.AddField(
            "spending",
            "cut_off",
            models.PositiveIntegerField(
                default=0, db_default=0, help_text="Bookings of answers that were not received to their end."
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
