"""What the explicit caches that a session paid for have cost, and what they can have saved."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from django.db.models import Count, Q, Sum

from sessions_app.models import Booking, CacheEvent, Price, Session
from sessions_app.models.booking import exact
from sessions_app.prompt.bookings import OF_CACHES
from sessions_app.prompt.cache_life import CacheEventKind
from sessions_app.prompt.pricing import MILLION, SMALLEST
from sessions_app.prompt.savings import NO_MONEY, CacheUse

_ENDED = {CacheEventKind.DELETED, CacheEventKind.EXPIRED, CacheEventKind.GONE}


class _Event(NamedTuple):
    """A cache event with the exchange that caused it, None where none did or it was erased."""

    name: str
    kind: str
    expires: datetime | None
    session: int | None
    number: int | None
    prompt_tokens: int | None
    cached_tokens: int | None
    price: int | None


class _Paid(NamedTuple):
    """What a session paid for a cache, and what all did. `unpriced` bookings are in neither."""

    own: Decimal
    all: Decimal
    unpriced: int


def cache_uses(session: Session, now: datetime) -> list[CacheUse]:
    """The uses of caches that have ended; others may still pay for themselves. Three queries."""
    paid = _paid(session)
    if not paid:
        return []
    events = _events(session)
    prices = Price.objects.in_bulk({one.price for listed in events.values() for one in listed if one.price})
    return [
        _use(session, amounts, events[name], prices)
        for name, amounts in paid.items()
        if _has_ended(events[name], now)
    ]


def _paid(session: Session) -> dict[str, _Paid]:
    """What the session paid for caches, by the name of the cache."""
    booked = Booking.objects.filter(cause__in=OF_CACHES).exclude(cache_name="").order_by()
    own_names = booked.filter(session=session).values("cache_name")
    own = Q(session=session)
    rows = booked.filter(cache_name__in=own_names).values_list("cache_name")
    sums = rows.annotate(own=Sum("usd", filter=own), all=Sum("usd"), unpriced=Count("pk", filter=Q(usd=None)))
    return {name: _Paid(exact(mine), exact(total), unpriced) for name, mine, total, unpriced in sums}


def _events(session: Session) -> Mapping[str, Sequence[_Event]]:
    """The events of the entries that the session's requests have made, named or extended, by cache."""
    entries = CacheEvent.objects.filter(session=session).order_by().values("entry")
    rows = CacheEvent.objects.filter(entry__in=entries).exclude(name="").order_by("at", "pk")
    of_exchange = ("number", "prompt_tokens", "cached_tokens", "price")
    found: dict[str, list[_Event]] = defaultdict(list)
    for row in rows.values_list(
        "name", "kind", "expires", "exchange__session", *(f"exchange__{name}" for name in of_exchange)
    ):
        event = _Event(*row)
        found[event.name].append(event)
    return found


def _has_ended(events: Sequence[_Event], now: datetime) -> bool:
    """Whether the provider no longer stores it: what was booked ahead has been given back by then."""
    if any(one.kind in _ENDED for one in events):
        return True
    expires = [one.expires for one in events if one.expires is not None]
    return bool(expires) and expires[-1] <= now


def _use(session: Session, paid: _Paid, events: Iterable[_Event], prices: Mapping[int, Price]) -> CacheUse:
    own = [one.number for one in events if one.session == session.pk and one.number is not None]
    named = [one for one in events if one.kind == CacheEventKind.NAMED]
    saved = list(_saved(named, prices))
    known = sum((one for one in saved if one is not None), NO_MONEY)
    # Where others paid as well, what is not covered is theirs too: at most this session's own.
    covered = max(NO_MONEY, paid.own - max(NO_MONEY, paid.all - known))
    is_whole = not paid.unpriced and None not in saved
    return CacheUse(paid.own, covered, len(named), own[0] if own else None, is_whole)


def _saved(named: Iterable[_Event], prices: Mapping[int, Price]) -> Iterator[Decimal | None]:
    """What each use saved against new input; None where its price or its count is not known."""
    for one in named:
        price = prices.get(one.price or 0)
        if price is None or one.cached_tokens is None:
            yield None
            continue
        rates = price.rates(one.prompt_tokens or 0)
        usd = one.cached_tokens * (rates.input - rates.cached) / MILLION
        yield usd.quantize(SMALLEST)
