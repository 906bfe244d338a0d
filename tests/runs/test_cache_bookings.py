"""Caches are paid by the session that caused them: making, keeping longer, what an early end gives back."""

import uuid
from datetime import timedelta
from decimal import Decimal
from unittest.mock import AsyncMock, Mock

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.contrib.auth.models import User
from django.db import OperationalError, transaction
from django.utils import timezone

from sessions_app.audit.cache_bookings import CacheBookings, cache_findings
from sessions_app.audit.prices import PriceRows
from sessions_app.errors import ProviderDown
from sessions_app.gemini.provider_resources import CacheCreated, CacheListed
from sessions_app.hosts import GOOGLE
from sessions_app.models import Booking, CacheEntry, Price, Session, Spending
from sessions_app.models.cache_event import NOBODY
from sessions_app.prompt.bookings import SpendingCause
from sessions_app.prompt.caching import EntryReason
from sessions_app.prompt.pricing import MoneySource
from sessions_app.prompt.turns import user_task
from sessions_app.runs.cache_bookings import (
    KeptCache,
    book_creation,
    book_early_end,
    book_extension,
    record_end,
)
from sessions_app.runs.cache_janitor import (
    Reconciliation,
    _adopt_or_discard,
    apply_requested_changes,
    reconcile,
)
from sessions_app.runs.cache_lifecycle import (
    CacheRequest,
    _record_created,
    _record_extended,
    create_cache,
    use_cache,
)
from tests.beside import beside
from tests.factories import MODEL, make_layers, make_session
from tests.models.money import assert_sums_agree
from tests.models.test_cache import claim, keep
from tests.prices import make_price
from tests.runs.running import running

HOUR = timedelta(hours=1)
CACHE = KeptCache("cachedContents/a", MODEL, "route-a", 1_000_000)


@pytest.fixture
def price(transactional_db: None) -> Price:
    return make_price(MODEL)


@pytest.fixture
def pair(price: Price, alice: User, bob: User) -> tuple[Session, Session]:
    return make_session(alice), make_session(bob)


def spent(*sessions: Session) -> list[Decimal]:
    for session in sessions:
        session.refresh_from_db()
    return [session.spent_usd for session in sessions]


def test_who_makes_it_and_who_extends_it_pay_their_own(pair: tuple[Session, Session]) -> None:
    maker, user = pair
    book_creation(CACHE, maker, HOUR)
    book_extension(CACHE, user, maker.owner_id, HOUR / 2)
    assert spent(maker, user) == [Decimal("1.5"), Decimal("0.5")]
    causes = [one.cause for one in Booking.objects.filter(session=maker).by_cause()]
    assert causes == [SpendingCause.CACHE_MADE, SpendingCause.CACHE_KEPT]
    assert_sums_agree()


def test_an_early_end_pays_back_whoever_had_paid(pair: tuple[Session, Session]) -> None:
    maker, user = pair
    book_creation(CACHE, maker, HOUR)
    book_extension(CACHE, user, maker.owner_id, HOUR / 2)
    book_early_end(CACHE, maker.owner_id, timedelta(minutes=45))
    assert spent(maker, user) == [Decimal("1.25"), Decimal(0)]
    assert_sums_agree()


def test_a_new_price_gives_back_what_was_paid_at_the_old_one(pair: tuple[Session, Session]) -> None:
    maker, _ = pair
    book_creation(CACHE, maker, HOUR)
    make_price(MODEL, timezone.now().date(), storage="40")
    book_early_end(CACHE, maker.owner_id, HOUR)
    assert spent(maker) == [Decimal("0.5")]


def test_a_shorter_extension_gives_back(pair: tuple[Session, Session]) -> None:
    maker, user = pair
    book_creation(CACHE, maker, HOUR)
    book_extension(CACHE, user, maker.owner_id, -HOUR / 2)
    assert spent(maker, user) == [Decimal(1), Decimal(0)]


def test_what_an_admin_extends_is_of_the_owner_and_no_session(pair: tuple[Session, Session]) -> None:
    maker, _ = pair
    book_creation(CACHE, maker, HOUR)
    book_extension(CACHE, None, maker.owner_id, HOUR)
    assert spent(maker) == [Decimal("1.5")]
    assert Booking.objects.get(session=None).owner == maker.owner
    assert_sums_agree()


def test_a_cache_of_an_earlier_version_gives_back_to_its_owner(pair: tuple[Session, Session]) -> None:
    """It was booked without its name."""
    maker, _ = pair
    book_early_end(CACHE, maker.owner_id, HOUR)
    assert Spending.objects.get().storage_usd == Decimal(-1)


def test_a_cache_nobody_has_a_row_for_was_made_all_the_same(pair: tuple[Session, Session]) -> None:
    """Another run took the claim while the provider made it: it is deleted, and was paid."""
    maker, _ = pair
    layers = make_layers([user_task("a", "Hello")], maker)
    request = CacheRequest("f" * 64, MODEL, "route-a", layers, maker, HOUR, exchange=0)
    created = CacheCreated(CACHE.name, None, CACHE.tokens)
    assert not _record_created(request, created, MoneySource.PROVIDER, use_cache)
    assert spent(maker) == [Decimal("0.5")]


@pytest.mark.parametrize(("deleted", "kept"), [(None, []), (ProviderDown("down"), [3_600])])
def test_a_cache_that_is_not_needed_is_kept_where_it_cannot_be_deleted(
    pair: tuple[Session, Session], deleted: ProviderDown | None, kept: list[int]
) -> None:
    """Its storage is booked for all the time that was asked for; the audit has nothing to say."""
    maker, _ = pair
    layers = make_layers([user_task("a", "Hello")], maker)
    request = CacheRequest("f" * 64, MODEL, "route-a", layers, maker, HOUR, exchange=0)
    gateway = AsyncMock(route="route-a", base_url=GOOGLE)
    gateway.delete_cache.side_effect = deleted

    async def make(**_: object) -> CacheCreated:
        await CacheEntry.objects.all().adelete()
        return CacheCreated(CACHE.name, None, CACHE.tokens)

    gateway.create_cache.side_effect = make
    assert async_to_sync(create_cache)(gateway, request) is False
    storage = Booking.objects.filter(cause=SpendingCause.CACHE_KEPT)
    assert [one.stored_seconds for one in storage] == kept
    assert spent(maker) == [Decimal("1.5") if kept else Decimal("0.5")]
    found = cache_findings(CacheBookings(CACHE.name, PriceRows()))
    assert all(stored == expected for _, stored, expected in found)


@pytest.mark.parametrize("reason", [EntryReason.PROVIDER, EntryReason.NOT_LISTED])
def test_a_cache_that_the_provider_dropped_costs_no_storage_from_when_we_know(
    pair: tuple[Session, Session], reason: EntryReason
) -> None:
    """Given back once, however often it is found gone."""
    maker, _ = pair
    book_creation(CACHE, maker, HOUR)
    end = timezone.now() + HOUR / 2
    facts = {"name": CACHE.name, "model": CACHE.model, "route": CACHE.route, "tokens": CACHE.tokens}
    entry = CacheEntry.objects.create(fingerprint="f" * 64, state="live", expires_at=end, **facts)
    for _ in range(2):
        record_end(entry, reason)
    (paid_back,) = Booking.objects.filter(stored_seconds__lt=0)
    assert paid_back.stored_seconds == pytest.approx(-1_800, abs=5)
    assert spent(maker) == [pytest.approx(Decimal(1), abs=Decimal("0.01"))]
    assert_sums_agree()


async def test_a_request_whose_cache_is_gone_gives_its_storage_back(price: Price, alice: User) -> None:
    session = await sync_to_async(make_session)(alice, purpose=LONG)
    async with running() as runner:
        await runner.send(session.pk, uuid.uuid4(), "Hello")
        await runner.drain()
        entry = await CacheEntry.objects.aget()
        await runner.gateway.delete_cache(entry.name)
        await runner.send(session.pk, uuid.uuid4(), "And again")
        await runner.drain()
    back = await Booking.objects.filter(cache_name=entry.name, stored_seconds__lt=0).aget()
    assert back.session_id == session.pk and back.usd is not None and back.usd < 0


LONG = "The rules of the house. " * 400


async def test_a_run_books_its_cache_to_its_session(price: Price, alice: User) -> None:
    session = await sync_to_async(make_session)(alice, purpose=LONG)
    async with running() as runner:
        await runner.send(session.pk, uuid.uuid4(), "Hello")
        await runner.drain()
    await sync_to_async(assert_sums_agree)()
    booked = {one.cause async for one in Booking.objects.filter(session=session)}
    assert booked == {"answer", "cache_made", "cache_kept"}
    assert not await Booking.objects.exclude(source=MoneySource.EMULATOR).aexists()


async def test_an_adopted_cache_is_booked_to_the_session_that_planned_it(price: Price, alice: User) -> None:
    session = await sync_to_async(make_session)(alice, purpose=LONG)
    async with running() as runner:
        await runner.send(session.pk, uuid.uuid4(), "Hello")
        await runner.drain()
        past = timezone.now() - timedelta(seconds=1)
        await CacheEntry.objects.aupdate(state=CacheEntry.State.PENDING, name="", leased_until=past)
        before = await Booking.objects.filter(cause="cache_made").acount()
        found = await reconcile(runner.gateway)
    made = [one async for one in Booking.objects.filter(cause="cache_made")]
    assert found.adopted and len(made) == before + 1
    assert {one.session_id for one in made} == {session.pk}
    await sync_to_async(assert_sums_agree)()


async def test_a_deleted_session_gets_its_storage_back(price: Price, alice: User) -> None:
    session = await sync_to_async(make_session)(alice, purpose=LONG)
    async with running() as runner:
        await runner.send(session.pk, uuid.uuid4(), "Hello")
        await runner.drain()
        before = await Session.objects.aget(pk=session.pk)
        await sync_to_async(session.soft_delete)()
        await apply_requested_changes(runner.gateway)
    after = await Session.objects.aget(pk=session.pk)
    assert after.spent_usd < before.spent_usd
    await sync_to_async(assert_sums_agree)()


def test_two_extensions_at_once_book_each_second_once(pair: tuple[Session, Session]) -> None:
    entry = keep()
    assert entry.expires_at is not None
    longer = entry.expires_at + HOUR
    with beside() as begin:
        with transaction.atomic():
            _record_extended(entry.name, longer, pair[0], NOBODY)
            second = begin(lambda: _record_extended(entry.name, longer + HOUR, pair[1], NOBODY))
        second.result(60)
    assert sum(one.stored_seconds for one in Booking.objects.all()) == 2 * HOUR.total_seconds()
    assert_sums_agree()


def test_what_was_booked_since_its_row_was_read_is_given_back_as_well(pair: tuple[Session, Session]) -> None:
    entry = keep()
    assert entry.expires_at is not None
    book_creation(KeptCache.of(entry), pair[0], entry.expires_at - timezone.now())
    _record_extended(entry.name, entry.expires_at + HOUR, pair[0], NOBODY)
    record_end(entry, EntryReason.PROVIDER)
    assert sum(one.stored_seconds for one in Booking.objects.all()) < 60
    assert_sums_agree()


def test_a_cache_whose_booking_fails_is_not_adopted(price: Price, monkeypatch: pytest.MonkeyPatch) -> None:
    pending = CacheListed("cachedContents/a", MODEL, "", timezone.now() + HOUR, 1_000)
    claim()
    CacheEntry.objects.update(leased_until=timezone.now() - HOUR)
    entry = CacheEntry.objects.get()
    monkeypatch.setattr("sessions_app.runs.cache_janitor.book_creation", Mock(side_effect=OperationalError))
    with pytest.raises(OperationalError):
        _adopt_or_discard(pending, entry, MoneySource.PROVIDER, timezone.now(), Reconciliation())
    assert CacheEntry.objects.get().state == CacheEntry.State.PENDING
