"""Money for making and keeping explicit caches, reserved before the provider is asked for them.

A cache beside a request that may use up a budget is neither made nor kept longer; the next answer
tries again.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from decimal import Decimal

from sessions_app.database import database_sync_to_async
from sessions_app.models import CacheEntry, Reservation, Session
from sessions_app.prompt import pricing
from sessions_app.prompt.layers import Layers
from sessions_app.prompt.payload import cacheable
from sessions_app.runs.budgets import Spender, reserve
from sessions_app.runs.cache_bookings import KeptCache, price_of_cache

CLOCKS_APART = timedelta(minutes=1)
"""The most by which the provider's clock may differ: it says until when it keeps a cache."""

Reserve = Callable[[], Reservation | None]


@asynccontextmanager
async def reserving(take: Reserve) -> AsyncIterator[None]:
    """Holds what `take` reserves until what it was for is booked, or failed. Raises BudgetSpent."""
    held = await database_sync_to_async(take)()
    try:
        yield
    finally:
        if held is not None:
            await database_sync_to_async(Reservation.objects.filter(pk=held.pk).delete)()


def reserve_creation(
    session: Session, model: str, route: str, layers: Layers, lifetime: timedelta
) -> Reservation | None:
    """For making a cache and keeping it: a token of text has a byte at least."""
    spender = Spender.of(session, session.options)
    if not spender.pays_for(route):
        return None
    cache = KeptCache("", model, route, len(cacheable(layers)))
    return reserve(spender, route, making_cost(cache) + keeping_cost(cache, lifetime))


def reserve_extension(
    name: str, route: str, lifetime: timedelta, session: Session | None
) -> Reservation | None:
    """For keeping a cache longer: of whoever asked for it, else of the person for whom it was made."""
    entry = CacheEntry.objects.at_provider().filter(name=name).first()
    owner = session.owner_id if session else entry.owner_id if entry else None
    if entry is None or owner is None:
        return None
    spender = Spender.of(session, session.options) if session else Spender.person(owner)
    if not spender.pays_for(route):
        return None
    return reserve(spender, route, keeping_cost(KeptCache.of(entry), lifetime))


def making_cost(cache: KeptCache) -> Decimal:
    """0 for a model without a price, which no budget counts."""
    price = price_of_cache(cache)
    return pricing.creation_cost(cache.tokens, price.rates(cache.tokens)).total if price else Decimal(0)


def keeping_cost(cache: KeptCache, lifetime: timedelta) -> Decimal:
    price = price_of_cache(cache)
    hours = (lifetime + CLOCKS_APART).total_seconds() / 3_600
    found = pricing.storage_cost(cache.tokens, hours, price.rates(cache.tokens)) if price else None
    return found or Decimal(0)
