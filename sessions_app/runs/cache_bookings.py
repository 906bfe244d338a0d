"""Books what explicit caches cost: making one, keeping it for a time, and what an early end gives back.

Each is booked to the session whose run caused it; what is given back, to the session that had paid for it.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import NamedTuple

from django.db import transaction
from django.utils import timezone

from sessions_app.models import Booking, CacheEntry, Exchange, Price, Session
from sessions_app.models.cache_event import NOBODY, CausedBy
from sessions_app.prompt import pricing
from sessions_app.prompt.bookings import SpendingCause, StorageBooking, refunds
from sessions_app.prompt.caching import CacheAction
from sessions_app.prompt.pricing import MoneySource
from sessions_app.runs.money_source import source_of_cache
from sessions_app.runs.serving import model_of_cache, price_of_served


@dataclass(frozen=True, slots=True)
class KeptCache:
    """A cache at the provider, as far as its price needs it; `at` is when it is made, kept longer or ends.

    `is_programs`: a captured program made it; each person who has captured it has bookings of their own.
    """

    name: str
    model: str
    route: str
    tokens: int
    at: datetime = field(default_factory=timezone.now)
    is_programs: bool = False

    @property
    def serving_model(self) -> str:
        return model_of_cache(self.model, self.route, self.at.date())

    @classmethod
    def of(cls, entry: CacheEntry, at: datetime | None = None) -> "KeptCache":
        at = at or timezone.now()
        return cls(entry.name, entry.model, entry.route, entry.tokens, at, entry.is_programs)


class Payer(NamedTuple):
    """The session that pays, or without one the person; None too where the person was erased."""

    session: Session | None
    owner_id: int | None


def book_creation(
    cache: KeptCache,
    session: Session | None,
    lifetime: timedelta,
    owner_id: int | None = None,
    *,
    source: MoneySource | None = None,
) -> None:
    """Books making a cache for a session, and keeping it for `lifetime`; without one, to the owner.

    `source` says who pays where the route does not tell; what follows for this cache is of the same source.
    """
    price = price_of_cache(cache)
    made = pricing.creation_cost(cache.tokens, price.rates(cache.tokens)).total if price else None
    payer = Payer(session, owner_id)
    bookings = [_booking(cache, payer, SpendingCause.CACHE_MADE, price, made)]
    if lifetime > timedelta():
        bookings.append(_storage(cache, payer, price, lifetime))
    for one in bookings:
        one.source = (source or MoneySource(one.source)).value
    Booking.objects.book(*bookings)


def book_extension(
    cache: KeptCache, session: Session | None, owner_id: int | None, gained: timedelta
) -> None:
    """Books keeping a cache longer; without a session to the person whose run had it made."""
    if gained < timedelta():
        book_early_end(cache, owner_id, -gained)
    elif gained:
        Booking.objects.book(_storage(cache, Payer(session, owner_id), price_of_cache(cache), gained))


def book_early_end(cache: KeptCache, owner_id: int | None, left: timedelta) -> None:
    """Gives back the storage booked for the last `left` of a cache's life."""
    rows = Booking.objects.filter(cache_name=cache.name).order_by("pk")
    own = {one.pk: one for one in (rows.filter(owner=owner_id) if cache.is_programs else rows)}
    kept = [one for one in own.values() if one.cause == SpendingCause.CACHE_KEPT]
    booked = [StorageBooking(one.pk, one.stored_seconds, one.usd) for one in kept]
    found, unbooked = refunds(booked, left.total_seconds())
    bookings = [_refund(own[one.key], one, cache.at) for one in found]
    # Earlier versions booked a cache without its name.
    if unbooked and len(kept) == len(own):
        bookings.append(_unlinked_refund(cache, owner_id, unbooked))
    Booking.objects.book(*bookings)


@transaction.atomic
def record_end(entry: CacheEntry, reason: str, said: str = "", *, by: CausedBy = NOBODY) -> None:
    """Marks a cache that the provider no longer has, and gives back the storage booked beyond now.

    Since when it was gone nobody knows: what it cost until now is an upper bound.
    """
    now = by.moment
    # It may have been extended since it was read.
    named = CacheEntry.objects.filter(pk=entry.pk, name=entry.name)
    known = named.locked().first()
    if known is None:
        return
    left = (known.expires_at or now) - now
    if known.drop(reason, said, by=by) and left > timedelta():
        book_early_end(KeptCache.of(known, now), known.owner_id, left)


def session_that_made(entry: CacheEntry) -> Session | None:
    """The session whose request planned this cache; None where no row says."""
    planned = Exchange.objects.filter(
        fingerprint=entry.fingerprint, cache_action=CacheAction.CREATE, session__owner_id=entry.owner_id
    )
    newest = planned.select_related("session").only("session").order_by("-pk").first()
    return newest.session if newest else None


def price_of_cache(cache: KeptCache) -> Price | None:
    return price_of_served(cache.model, cache.serving_model, cache.at.date())


def _storage(cache: KeptCache, payer: Payer, price: Price | None, time: timedelta) -> Booking:
    hours = time.total_seconds() / 3_600
    usd = pricing.storage_cost(cache.tokens, hours, price.rates(cache.tokens)) if price else None
    booking = _booking(cache, payer, SpendingCause.CACHE_KEPT, price, usd)
    booking.stored_seconds = time.total_seconds()
    return booking


def _booking(
    cache: KeptCache, payer: Payer, cause: SpendingCause, price: Price | None, usd: Decimal | None
) -> Booking:
    return Booking.of(
        payer.session,
        cause,
        source_of_cache(cache.name, payer.session, cache.route),
        price,
        model=cache.serving_model,
        day=cache.at.date(),
        usd=usd,
        cache_name=cache.name,
        owner_id=payer.owner_id,
        estimated=False,
    )


def _refund(paid: Booking, given: StorageBooking, at: datetime) -> Booking:
    """A booking of the day of the end, for whoever had paid."""
    return Booking(
        owner_id=paid.owner_id,
        session_id=paid.session_id,
        price_id=paid.price_id,
        day=at.date(),
        model=paid.model,
        cause=SpendingCause.CACHE_KEPT.value,
        source=paid.source,
        usd=given.usd,
        estimated=paid.estimated,
        cache_name=paid.cache_name,
        stored_seconds=given.seconds,
    )


def _unlinked_refund(cache: KeptCache, owner_id: int | None, seconds: float) -> Booking:
    booking = _storage(cache, Payer(None, owner_id), price_of_cache(cache), timedelta(seconds=seconds))
    booking.usd = -booking.usd if booking.usd is not None else None
    booking.stored_seconds = -seconds
    return booking
