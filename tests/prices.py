"""Prices for tests: rows of a migration do not outlive a test that empties its tables."""

from datetime import date
from decimal import Decimal

from sessions_app.models import Price

LONG_AGO = date(2020, 1, 1)

SEEDED = date(2026, 10, 13)
"""The last day on which the migration's prices of today begin."""


def make_price(
    model: str, valid_from: date = LONG_AGO, *, source: str = "", above: int | None = None, **rates: str
) -> Price:
    """The only price of its model from that day on: `input` 0.50, `cached` 0.05, `output` 3, `storage` 1,
    unless said otherwise."""
    said = {"input": "0.50", "cached": "0.05", "output": "3", "storage": "1"} | rates
    Price.objects.filter(model=model, valid_from__gt=valid_from, valid_from__lte=SEEDED).delete()
    amounts = {name: Decimal(rate) for name, rate in said.items()}
    return Price.objects.create(model=model, valid_from=valid_from, source=source, above=above, **amounts)
