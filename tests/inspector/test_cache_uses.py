"""What the explicit caches of a session have cost it, and what they can have saved, from the rows alone."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User

from sessions_app.inspector.cache_uses import cache_uses
from sessions_app.models import Booking, CacheEntry, CacheEvent, Exchange, Price, Session
from sessions_app.prompt.savings import CacheUse
from tests import factories
from tests.factories import NOW
from tests.prices import make_price

CENT = Decimal("0.01")
NAME = "cachedContents/a"
TOKENS = 20_000
"""Cached at a difference of 0.50 dollars a million: a cent."""


@pytest.fixture
def price(db: None) -> Price:
    return make_price(factories.MODEL, input="0.60", cached="0.10", above=90_000, input_above="1.10")


@pytest.fixture
def sessions(alice: User, price: Price) -> tuple[Session, Session]:
    return factories.make_session(alice), factories.make_session(alice)


@pytest.fixture
def entry(db: None) -> CacheEntry:
    return CacheEntry.objects.create(fingerprint="f" * 64, route="r", model=factories.MODEL, name=NAME)


def pay(session: Session, usd: Decimal | None, **fields: Any) -> None:
    facts = {"day": NOW.date(), "model": factories.MODEL, "cause": "cache_kept", "cache_name": NAME}
    Booking.objects.create(owner=session.owner, session=session, usd=usd, **facts | fields)


def event(entry: CacheEntry, kind: str, minutes: int | None = None, **fields: Any) -> None:
    expires = None if minutes is None else NOW + timedelta(minutes=minutes)
    facts = {"at": NOW, "name": NAME, "expires": expires}
    CacheEvent.objects.create(entry=entry, kind=kind, **facts | fields)


def use(
    session: Session, entry: CacheEntry, price: Price | None, *, prompt: int = 30_000, **facts: Any
) -> int:
    exchange = factories.answered(session, "Hello", "Hi")
    counts = {"prompt_tokens": prompt, "cached_tokens": TOKENS, "price": price} | facts
    Exchange.objects.filter(pk=exchange.pk).update(**counts)
    event(entry, "named", exchange=exchange, session=session)
    return exchange.number


def test_a_session_without_a_cache_has_none(sessions: tuple[Session, Session], entry: CacheEntry) -> None:
    own, other = sessions
    pay(other, CENT)
    pay(own, CENT, cause="answer", cache_name="")
    event(entry, "deleted", session=own)
    assert cache_uses(own, NOW) == []


@pytest.mark.parametrize(
    ("events", "has_ended"),
    [
        ([("made", 60)], False),
        ([("made", None)], False),
        ([("made", 60), ("deleted", None)], True),
        ([("made", 60), ("expired", None)], True),
        ([("made", 60), ("gone", None)], True),
        ([("made", 60), ("dropped", None)], False),
        ([("made", 0)], True),
        ([("made", 1)], False),
        ([("made", -5), ("extended", 5)], False),
    ],
)
def test_only_a_cache_that_has_ended_is_judged(
    sessions: tuple[Session, Session],
    entry: CacheEntry,
    events: list[tuple[str, int | None]],
    has_ended: bool,
) -> None:
    own, _ = sessions
    pay(own, CENT)
    for kind, minutes in events:
        event(entry, kind, minutes, session=own)
    assert bool(cache_uses(own, NOW)) == has_ended


def test_what_it_saved_is_counted_for_every_use_and_each_cache_by_itself(
    sessions: tuple[Session, Session], entry: CacheEntry, price: Price
) -> None:
    own, _ = sessions
    pay(own, 3 * CENT)
    pay(own, CENT, cause="cache_made")
    pay(own, CENT, cache_name="cachedContents/b")
    use(own, entry, price)
    event(entry, "deleted")
    event(entry, "deleted", name="cachedContents/b")
    found = {one.paid: one for one in cache_uses(own, NOW)}
    assert found[4 * CENT] == CacheUse(4 * CENT, CENT, 1, 1)
    assert found[CENT] == CacheUse(CENT, Decimal(0), 0, None)


def test_what_others_paid_and_used_is_no_waste_of_this_session(
    sessions: tuple[Session, Session], entry: CacheEntry, price: Price
) -> None:
    """All paid four cents and saved two: of the two that are left, this session's own are two at most."""
    own, other = sessions
    pay(own, 3 * CENT)
    pay(other, CENT)
    use(other, entry, price)
    factories.answered(own, "Before", "it")
    first = use(own, entry, price)
    event(entry, "deleted")
    assert cache_uses(own, NOW) == [CacheUse(3 * CENT, CENT, 2, first)]
    assert first == 2


def test_a_long_prompt_saved_at_its_own_tier(
    sessions: tuple[Session, Session], entry: CacheEntry, price: Price
) -> None:
    own, _ = sessions
    pay(own, 9 * CENT)
    use(own, entry, price, prompt=90_000)
    use(own, entry, price, prompt=90_001)
    event(entry, "deleted")
    assert [one.saved for one in cache_uses(own, NOW)] == [3 * CENT]


@pytest.mark.parametrize("unknown", ["booking", "price", "count"])
def test_an_amount_that_is_not_known_makes_the_whole_unknown(
    sessions: tuple[Session, Session], entry: CacheEntry, price: Price, unknown: str
) -> None:
    own, _ = sessions
    pay(own, CENT)
    if unknown == "booking":
        pay(own, None)
    use(own, entry, price)
    facts: dict[str, Any] = {"cached_tokens": None} if unknown == "count" else {}
    use(own, entry, None if unknown == "price" else price, **facts)
    event(entry, "deleted")
    (found,) = cache_uses(own, NOW)
    assert not found.is_whole and found.uses == 2
