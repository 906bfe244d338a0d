"""Lets bookings, and the sums of days, tell the tokens of the provider's tools, which are charged beside the prompt.

Those of an answer are known by its exchange, as long as that is kept.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from django.db import migrations, models

SLICE = 500
"""Rows that are written at once."""

DAY = ("owner", "day", "model", "source")
EXCHANGE = ("exchange__usage", "exchange__money")
COLUMN = "tool_use_tokens"


def fill(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    booking, spending = (
        apps.get_model("sessions_app", name).objects.using(using) for name in ("Booking", "Spending")
    )
    by_day: Counter[tuple[Any, ...]] = Counter()
    changed = []
    for pk, day, count in _counted(booking):
        changed.append(booking.model(pk=pk, tool_use_tokens=count))
        by_day[day] += count
    booking.bulk_update(changed, [COLUMN], batch_size=SLICE)
    days = {day for _, day, _, _ in by_day}
    kept = spending.filter(day__in=days).order_by("pk").values_list("pk", *DAY)
    # A day of nobody may have several rows: one of them counts for all.
    found = [(pk, by_day.pop(tuple(key), 0)) for pk, *key in kept]
    counted = [spending.model(pk=pk, tool_use_tokens=count) for pk, count in found if count]
    spending.bulk_update(counted, [COLUMN], batch_size=SLICE)


def _counted(booking: Any) -> Iterator[tuple[int, tuple[Any, ...], int]]:
    """Key, day and tokens of each booking that has some."""
    of_answers = booking.exclude(exchange=None).exclude(exchange__usage={}).order_by()
    rows = of_answers.values_list("pk", *DAY, *EXCHANGE)
    for pk, *day, usage, money in rows.iterator(SLICE):
        if count := _count(usage, money):
            yield pk, tuple(day), count


def _count(usage: Any, money: Any) -> int:
    """Where the tokens of an answer are estimated, those that it was charged for."""
    from sessions_app.prompt.chunks import Usage

    if money.get("estimated"):
        return sum(term["tokens"] for term in money.get("terms", ()) if term["name"] == "tool use")
    return Usage.of(usage).tool_use


def _column() -> Any:
    told = "Of the provider's tools; charged as the prompt, beside it."
    return models.PositiveBigIntegerField(default=0, db_default=0, help_text=told)


class Migration(migrations.Migration):
    dependencies = [("sessions_app", "0115_bounds_and_labels")]

    operations = [
        migrations.AddField("booking", COLUMN, _column()),
        migrations.AddField("spending", COLUMN, _column()),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
