"""Explicit caches reserve before they are asked for: side by side they pass a budget by one at most."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.utils import timezone

from sessions_app.gemini.provider_resources import CacheCreated, CacheListed
from sessions_app.hosts import GOOGLE
from sessions_app.models import Allowance, Booking, CacheEntry, Reservation, Session
from sessions_app.prompt.payload import cacheable
from sessions_app.prompt.turns import user_task
from sessions_app.runs import cache_reservations
from sessions_app.runs.cache_lifecycle import CacheRequest, create_cache, extend_cache
from sessions_app.runs.cache_reservations import reserve_creation, reserve_extension
from tests.factories import MODEL, make_layers, make_session
from tests.prices import make_price

HOUR, ROUTE = timedelta(hours=1), "route-a"
LIMIT = Decimal("0.0002")
"""Less than what one cache of `SlowProvider` may cost, and its storage for an hour."""


class SlowProvider:
    """Makes and keeps caches after a moment, so that all that are asked for overlap."""

    route = ROUTE
    base_url = GOOGLE

    def __init__(self) -> None:
        self.asked = 0

    async def create_cache(self, **_: Any) -> CacheCreated:
        self.asked += 1
        name = f"cachedContents/{self.asked}"
        await asyncio.sleep(0.3)
        return CacheCreated(name, timezone.now() + HOUR, 1_000)

    async def extend_cache(self, name: str, seconds: int) -> CacheListed:
        self.asked += 1
        await asyncio.sleep(0.3)
        return CacheListed(name, MODEL, "", timezone.now() + timedelta(seconds=seconds), 1_000)


@pytest.fixture
def provider(transactional_db: None, alice: User) -> Any:
    make_price(MODEL)
    Allowance.objects.create(owner=alice, usd_per_day=LIMIT)
    return SlowProvider()


def request_of(session: Session, number: int) -> CacheRequest:
    layers = make_layers([user_task("a", "Hello")], session)
    return CacheRequest(f"{number:064}", MODEL, ROUTE, layers, session, HOUR, exchange=0)


async def together(jobs: list[Callable[[], Awaitable[bool]]]) -> list[bool]:
    return await asyncio.gather(*(job() for job in jobs))


async def make_five(provider: Any, owner: User) -> list[bool]:
    sessions = [await sync_to_async(make_session)(owner) for _ in range(5)]
    requests = [await sync_to_async(request_of)(one, n) for n, one in enumerate(sessions)]
    return await together([lambda one=one: create_cache(provider, one) for one in requests])  # type: ignore[misc]


def assert_one_too_many() -> None:
    """The oracle: what was booked by request, nothing of what is kept or reserved."""
    by_cache: dict[str, Decimal] = {}
    for name, usd in Booking.objects.values_list("cache_name", "usd"):
        by_cache[name] = by_cache.get(name, Decimal(0)) + (usd or Decimal(0))
    assert sum(by_cache.values()) < LIMIT + max(by_cache.values())
    assert not Reservation.objects.exists()


async def test_caches_made_side_by_side_pass_a_budget_by_one(provider: Any, alice: User) -> None:
    made = await make_five(provider, alice)
    assert made.count(True) == provider.asked == 1
    assert await CacheEntry.objects.acount() == 1
    await sync_to_async(assert_one_too_many)()


async def test_without_reservations_they_would_pass_it_by_several(
    provider: Any, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_reservations, "reserve", lambda *_: None)
    assert (await make_five(provider, alice)).count(True) == 5
    with pytest.raises(AssertionError):
        await sync_to_async(assert_one_too_many)()


def keep_five(owner: User) -> list[str]:
    names = [f"cachedContents/{n}" for n in range(5)]
    for n, name in enumerate(names):
        soon = timezone.now() + timedelta(minutes=1)
        facts = {"route": ROUTE, "model": MODEL, "tokens": 1_000, "state": CacheEntry.State.LIVE}
        CacheEntry.objects.create(
            fingerprint=f"{n:064}",
            name=name,
            owner_id=owner.pk,
            expires_at=soon,
            made_at=timezone.now(),
            **facts,
        )
    return names


@pytest.mark.parametrize("by_admin", [False, True])
async def test_caches_kept_longer_side_by_side_pass_it_by_one(
    provider: Any, alice: User, by_admin: bool
) -> None:
    names = await sync_to_async(keep_five)(alice)
    session = None if by_admin else await sync_to_async(make_session)(alice)
    kept = await together([lambda one=one: extend_cache(provider, one, HOUR, session) for one in names])  # type: ignore[misc]
    assert kept.count(True) == provider.asked == 1
    await sync_to_async(assert_one_too_many)()


async def test_a_cache_that_is_not_made_holds_nothing(provider: Any, alice: User) -> None:
    provider.create_cache = None
    session = await sync_to_async(make_session)(alice)
    with pytest.raises(TypeError):
        await create_cache(provider, await sync_to_async(request_of)(session, 1))
    assert not await Reservation.objects.aexists()


@pytest.mark.django_db
def test_what_is_reserved_is_more_than_what_is_paid(alice: User) -> None:
    make_price(MODEL)
    session = make_session(alice)
    layers = make_layers([user_task("a", "Hello")], session)
    assert reserve_creation(session, MODEL, ROUTE, layers, HOUR) is None
    Allowance.objects.create(owner=alice, usd_per_day=1)
    held = reserve_creation(session, MODEL, ROUTE, layers, HOUR)
    assert held is not None and held.session == session and held.usd > 0


@pytest.mark.django_db
def test_a_cache_reserves_its_making_and_its_life_with_a_minute_more(alice: User) -> None:
    make_price(MODEL, input="0.50", storage="6")
    session = make_session(alice)
    layers = make_layers([user_task("a", "Hello")], session)
    Allowance.objects.create(owner=alice, usd_per_day=1)
    tokens = len(cacheable(layers))
    held = reserve_creation(session, MODEL, ROUTE, layers, HOUR)
    paid = tokens * (Decimal("0.50") + Decimal("6.1")) / 1_000_000
    assert held is not None and held.usd == pytest.approx(paid, abs=Decimal("0.00000002"))


@pytest.mark.django_db
def test_a_cache_without_a_price_reserves_nothing_of_a_budget(alice: User) -> None:
    session = make_session(alice, model="gemini-0-unpriced")
    layers = make_layers([user_task("a", "Hello")], session)
    Allowance.objects.create(owner=alice, usd_per_day=1)
    held = reserve_creation(session, session.model, ROUTE, layers, HOUR)
    assert held is None or held.usd == 0


@pytest.mark.django_db
def test_who_has_a_cache_kept_longer_reserves_it_of_the_sessions_budget_too(alice: User) -> None:
    make_price(MODEL)
    name = keep_five(alice)[0]
    session = make_session(alice, settings={"budget_usd": 1})
    held = reserve_extension(name, ROUTE, HOUR, session)
    assert held is not None and held.session == session and held.usd > 0
    assert reserve_extension(name, ROUTE, HOUR, None) is None
