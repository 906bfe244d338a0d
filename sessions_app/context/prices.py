"""Prices as a request needs them to choose how it is cached: kept in memory, so that none costs a query.

What is charged is looked up anew (`runs/account`): a price that an admin has just deleted must not be
booked.
"""

from datetime import date
from time import monotonic
from typing import Any

from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver

from sessions_app.models import Price

TTL = 30.0
"""Seconds a process goes on with what it has read: an edit in another process is late by so much."""

_memo: dict[tuple[str, date, str], tuple[float, Price | None]] = {}


def price_now(model: str, day: date, *, family: str = "") -> Price | None:
    """The price of a model on a day, at most `TTL` seconds old."""
    key = (model, day, family)
    read_at, price = _memo.get(key, (None, None))
    if read_at is None or monotonic() - read_at > TTL:
        price = Price.objects.of(model, day, family=family)
        _memo[key] = (monotonic(), price)
    return price


def forget_prices() -> None:
    """The next question reads the rows again."""
    _memo.clear()


@receiver([post_save, post_delete], sender=Price)
def _changed(**_: Any) -> None:
    forget_prices()
