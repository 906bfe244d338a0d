"""What the provider stopped serving from its cache, as a figure of each exchange.

Existing rows get it from the counts and the price that they have, in slices.
"""

from decimal import Decimal
from typing import Any

from django.db import migrations, models

SLICE = 2_000
"""Rows read and written at once."""

MILLION, SMALLEST = Decimal(1_000_000), Decimal("0.00000001")

COLUMNS = (
    *("pk", "cached_tokens", "prompt_tokens", "previous", "previous__cached_tokens", "price", "price__above"),
    *("price__input", "price__cached", "price__input_above", "price__cached_above"),
)


def fill(apps: Any, schema_editor: Any) -> None:
    exchanges = apps.get_model("sessions_app", "Exchange").objects.using(schema_editor.connection.alias)
    known = exchanges.exclude(verdict__in=("", "unknown")).filter(
        cached_tokens__isnull=False, prompt_tokens__isnull=False
    )
    last = 0
    while rows := list(known.filter(pk__gt=last).order_by("pk").values(*COLUMNS)[:SLICE]):
        last = rows[-1]["pk"]
        changed = [exchanges.model(pk=row["pk"], **loss_of(row)) for row in rows]
        exchanges.bulk_update(changed, ["lost_tokens", "lost_usd"], batch_size=200)


def loss_of(row: dict[str, Any]) -> dict[str, Any]:
    """As `prompt.prefix_diff.cache_loss` counted when this was written."""
    was_cached = row["previous__cached_tokens"] if row["previous"] else 0
    if was_cached is None:
        return {"lost_tokens": None, "lost_usd": None}
    tokens = max(0, min(was_cached, row["prompt_tokens"]) - row["cached_tokens"])
    if row["price"] is None:
        return {"lost_tokens": tokens, "lost_usd": None if tokens else Decimal(0)}
    difference = rate_of(row, "input") - rate_of(row, "cached")
    return {"lost_tokens": tokens, "lost_usd": (tokens * difference / MILLION).quantize(SMALLEST)}


def rate_of(row: dict[str, Any], name: str) -> Decimal:
    above, higher = row["price__above"], row[f"price__{name}_above"]
    rate = (
        row[f"price__{name}"] if above is None or row["prompt_tokens"] <= above or higher is None else higher
    )
    return Decimal(rate)


class Migration(migrations.Migration):
    dependencies = [("sessions_app", "0027_cache_events")]

    operations = [
        migrations.AddField(
            "exchange",
            "lost_tokens",
            models.PositiveIntegerField(
                help_text="Cached for the previous exchange and not for this one; null: unknown.", null=True
            ),
        ),
        migrations.AddField(
            "exchange",
            "lost_usd",
            models.DecimalField(decimal_places=8, help_text="Paid for these.", max_digits=14, null=True),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
