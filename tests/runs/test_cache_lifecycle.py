"""What happens at the provider after an answer, seen through a conversation with the emulator."""

import asyncio
import uuid
from datetime import date, timedelta
from decimal import Decimal
from unittest.mock import AsyncMock

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.utils import timezone

from pipeweb.composition import build_runner
from sessions_app.emulator import Emulator, EmulatorTransport
from sessions_app.errors import CacheGone, ProviderDown
from sessions_app.gemini.gateway import Gateway
from sessions_app.models import CacheEntry, CacheRefusal, Exchange, Price, Reservation, Session, Spending
from sessions_app.prompt.caching import EntryReason
from sessions_app.prompt.strategy import StrategyReason
from sessions_app.runs.cache_janitor import apply_requested_changes, reconcile
from sessions_app.runs.cache_lifecycle import CacheRequest, extend_cache, link_session
from sessions_app.runs.recorder import record_failure
from sessions_app.runs.request import PreparedRequest
from sessions_app.runs.runner import Runner
from tests.factories import make_session
from tests.runs.conftest import Ask
from tests.runs.running import QUICK, running
from tests.runs.test_cache_rollover import prepared
from tests.runs.test_routes import ask_elsewhere

State = CacheEntry.State


async def actions(session: Session) -> list[str]:
    found = Exchange.objects.filter(session=session).order_by("number")
    return [action async for action in found.values_list("cache_action", flat=True)]


async def configure(session: Session, **settings: object) -> None:
    await Session.objects.filter(pk=session.pk).aupdate(settings=settings)


@pytest.fixture
def price(transactional_db: None) -> Price:
    """Of its own: a test with transactions empties the tables after it."""
    rates = {"input": Decimal("0.5"), "cached": Decimal("0.05"), "output": 3, "storage": 1}
    day = date(2026, 11, 1)
    return Price.objects.update_or_create(model="gemini-3-flash-preview", valid_from=day, defaults=rates)[0]


@pytest.fixture
async def gateway() -> Gateway:
    return Gateway(api_key="ours", transport=EmulatorTransport(Emulator(delay=0)))


@pytest.mark.usefixtures("price")
async def test_a_new_cache_belongs_to_its_session_and_its_cost_is_booked(
    ask: Ask, session: Session, alice: User
) -> None:
    await ask("Hello")
    entry = await CacheEntry.objects.aget()
    assert [user.pk async for user in entry.sessions.all()] == [session.pk]
    booked = await Spending.objects.aget(owner=alice)
    assert entry.owner_id == alice.pk and entry.tokens > 1_024
    assert booked.caches == 1 and booked.cache_usd > 0 and booked.storage_usd > 0


async def test_sessions_with_one_static_layer_share_one_cache(ask: Ask, session: Session) -> None:
    await ask("Hello")
    same = {"model": session.model, "purpose": session.purpose}
    twin = await Session.objects.acreate(owner_id=session.owner_id, **same)
    async with running() as runner:
        await runner.send(twin.pk, uuid.uuid4(), "Hello from beside")
        await runner.drain()
    assert await CacheEntry.objects.acount() == 1


async def test_a_new_session_keeps_the_cache_that_another_let_go(
    ask: Ask, runner: Runner, session: Session
) -> None:
    await ask("Hello")
    await ask("Hello again")
    await configure(session, cache_mode="implicit")
    await ask("And again")
    assert (await CacheEntry.objects.aget()).state == State.TO_DELETE
    twin = await Session.objects.acreate(
        owner_id=session.owner_id, model=session.model, purpose=session.purpose
    )
    await runner.send(twin.pk, uuid.uuid4(), "Hello from beside")
    await runner.drain()
    entry, exchange = await CacheEntry.objects.aget(), await Exchange.objects.aget(session=twin)
    assert (entry.state, [one.pk async for one in entry.sessions.all()]) == (State.LIVE, [twin.pk])
    assert exchange.cache_plan is not None and exchange.cache_plan.is_kept
    assert exchange.cache_name == entry.name
    kinds = [one.kind async for one in entry.events.all()]
    assert kinds == ["planned", "made", "named", "dropped", "kept", "named"]


async def test_a_cache_that_ends_soon_is_used_and_prolonged(ask: Ask, session: Session) -> None:
    await ask("Hello")
    soon = timezone.now() + timedelta(seconds=60)
    await CacheEntry.objects.aupdate(expires_at=soon)
    await ask("And again")
    entry = await CacheEntry.objects.aget()
    extension = await entry.events.select_related("exchange").aget(kind="extended")
    assert extension.session_id == session.pk and extension.exchange and extension.exchange.number == 2
    assert await actions(session) == ["create", "extend"]
    assert entry.hits == 1 and entry.expires_at and entry.expires_at > soon


@pytest.fixture
def naming(session: Session) -> PreparedRequest:
    """A request that names a cache; the provider has not answered it yet."""
    run, first = prepared(session, "Hello")
    run.end("completed")
    CacheEntry.objects.claim(first.fingerprint, model=session.model, route=first.context.route)
    later = timezone.now() + timedelta(hours=1)
    CacheEntry.objects.remember(first.fingerprint, name="cachedContents/old", tokens=2_000, expires=later)
    return prepared(session, "Hello again")[1]


@pytest.mark.parametrize(("now", "state"), [("old", State.GONE), ("made-again", State.LIVE)])
def test_only_the_cache_that_the_provider_lost_is_dropped(
    naming: PreparedRequest, now: str, state: str
) -> None:
    CacheEntry.objects.update(name=f"cachedContents/{now}")
    assert naming.plan.name == "cachedContents/old"
    record_failure(naming, CacheGone("The cache is gone."))
    assert CacheEntry.objects.get().state == state


@pytest.mark.parametrize(
    ("state", "is_deleted"), [(State.LIVE, True), (State.GONE, False), (State.LIVE, False)]
)
def test_a_session_is_linked_to_a_cache_while_both_are_there(
    naming: PreparedRequest, alice: User, state: str, is_deleted: bool
) -> None:
    make_session(alice)
    request = CacheRequest.of(naming)
    CacheEntry.objects.update(state=state)
    if is_deleted:
        Session.objects.filter(pk=request.session.pk).update(deleted_at=timezone.now())
    is_linked = state == State.LIVE and not is_deleted
    assert link_session(request) == is_linked
    entry = CacheEntry.objects.get()
    assert [one.pk for one in entry.sessions.all()] == [request.session.pk] * is_linked
    assert entry.state == (State.TO_DELETE if is_deleted else state)


def test_a_late_cache_gone_does_not_drop_a_newer_cache(naming: PreparedRequest) -> None:
    stale = CacheEntry.objects.get()
    CacheEntry.objects.update(name="cachedContents/made-again")
    stale.drop(EntryReason.PROVIDER, "403")
    assert CacheEntry.objects.get().state == State.LIVE


async def test_a_late_extension_does_not_change_a_newer_cache(session: Session, gateway: Gateway) -> None:
    await converse(gateway, session)
    (old,) = await gateway.list_caches()
    await CacheEntry.objects.aupdate(name="cachedContents/made-again")
    before = (await CacheEntry.objects.aget()).expires_at
    assert await extend_cache(gateway, old.name, timedelta(hours=9))
    assert (await CacheEntry.objects.aget()).expires_at == before


async def test_a_session_pinned_to_implicit_leaves_its_cache(ask: Ask, session: Session) -> None:
    await ask("Hello")
    await ask("Hello again")
    await configure(session, cache_mode="implicit")
    await ask("And again")
    await ask("And again")
    assert await actions(session) == ["create", "hit", "drop", "none"]
    assert (await CacheEntry.objects.aget()).state == State.TO_DELETE


async def test_mode_and_policy_are_stored_with_their_reason(ask: Ask, session: Session) -> None:
    await configure(session, cache_policy="seed")
    await ask("Hello")
    exchange = await Exchange.objects.aget()
    assert (exchange.cache_mode, exchange.cache_policy) == ("explicit", "seed")
    assert exchange.strategy and exchange.strategy.reason is StrategyReason.SHARE_UNKNOWN


async def test_a_free_key_is_asked_for_a_cache_only_once(session: Session) -> None:
    free = Gateway(api_key="a-free-key", transport=EmulatorTransport(Emulator(delay=0)))
    async with running(free) as runner:
        for text in ("Hello", "Hello again", "And again"):
            await runner.send(session.pk, uuid.uuid4(), text)
            await runner.drain()
    refusal = await CacheRefusal.objects.aget()
    assert refusal.failures == 1 and "FreeTier" in refusal.said
    assert await actions(session) == ["create", "none", "none"]
    last = await Exchange.objects.filter(session=session).alast()
    assert last and last.cache_mode == "implicit" and last.strategy and "FreeTier" in last.strategy.refusal


async def test_another_route_has_a_cache_of_its_own(ask: Ask, session: Session) -> None:
    await ask("Hello")
    await ask_elsewhere(session, "Hello there")
    assert await CacheEntry.objects.values("route").distinct().acount() == 2


async def test_a_deleted_sessions_cache_is_deleted_there(session: Session, gateway: Gateway) -> None:
    await converse(gateway, session)
    await sync_to_async(session.soft_delete)()
    assert len(await gateway.list_caches()) == 1
    assert await apply_requested_changes(gateway) == 1
    assert await gateway.list_caches() == ()
    assert (await CacheEntry.objects.aget()).state == State.GONE
    assert await apply_requested_changes(gateway) == 0


@pytest.mark.usefixtures("price")
async def test_an_early_deletion_refunds_storage(session: Session, gateway: Gateway, alice: User) -> None:
    await converse(gateway, session)
    before = (await Spending.objects.aget(owner=alice)).storage_usd
    await sync_to_async(session.soft_delete)()
    await apply_requested_changes(gateway)
    assert (await Spending.objects.aget(owner=alice)).storage_usd < before / 10


async def test_the_extension_by_an_admin_reaches_the_provider(session: Session, gateway: Gateway) -> None:
    await converse(gateway, session)
    until = timezone.now() + timedelta(hours=5)
    await CacheEntry.objects.aupdate(wanted_until=until)
    await apply_requested_changes(gateway)
    entry = await CacheEntry.objects.aget()
    assert entry.wanted_until is None and entry.expires_at and entry.expires_at > until - timedelta(minutes=1)


async def test_a_crash_before_the_row_leaves_a_cache_that_is_adopted(
    session: Session, gateway: Gateway
) -> None:
    await converse(gateway, session)
    past = timezone.now() - timedelta(seconds=1)
    await CacheEntry.objects.aupdate(state=State.PENDING, name="", leased_until=past)
    found = await reconcile(gateway)
    entry = await CacheEntry.objects.aget()
    assert found.adopted == [entry.name] and entry.state == State.LIVE


async def test_a_cache_that_is_being_made_is_left_alone(session: Session, gateway: Gateway) -> None:
    await converse(gateway, session)
    later = timezone.now() + timedelta(minutes=1)
    await CacheEntry.objects.aupdate(state=State.PENDING, name="", leased_until=later)
    found = await reconcile(gateway)
    assert (found.adopted, found.unknown) == ([], []) and len(await gateway.list_caches()) == 1


async def test_unknown_caches_are_deleted_only_if_they_are_ours(session: Session, gateway: Gateway) -> None:
    await converse(gateway, session)
    body = b'{"contents":[{"role":"user","parts":[{"text":"%b"}]}]}' % (b"somebody else's words. " * 400)
    for name in ("pipeweb/ffffffffffff/0123456789abcdef", "theirs", ""):
        await gateway.create_cache(
            model=session.model, contents_and_tools=body, ttl_seconds=600, display_name=name
        )
    await CacheEntry.objects.all().adelete()
    found = await reconcile(gateway)
    left = {cache.display_name for cache in await gateway.list_caches()}
    assert len(found.unknown) == 1
    assert left == {"pipeweb/ffffffffffff/0123456789abcdef", "theirs", ""}


EVENTS = {False: "unknown_cache_deleted", True: "unknown_cache_not_deleted"}


@pytest.mark.parametrize("fails", EVENTS)
async def test_the_log_names_an_unknown_cache_and_what_became_of_it(
    session: Session,
    gateway: Gateway,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    fails: bool,
) -> None:
    await converse(gateway, session)
    (cache,) = await gateway.list_caches()
    await CacheEntry.objects.all().adelete()
    if fails:
        monkeypatch.setattr(gateway, "delete_cache", AsyncMock(side_effect=ProviderDown("down")))
    found = await reconcile(gateway)
    (line,) = (one.msg for one in caplog.records if isinstance(one.msg, dict) and one.levelname == "WARNING")
    assert (line["event"], line["cache"], line["tokens"]) == (EVENTS[fails], cache.name, cache.tokens)
    assert (line["usd"], found.deleted) == ("unknown", int(not fails))


async def test_a_row_whose_cache_is_gone_says_so(session: Session, gateway: Gateway) -> None:
    await converse(gateway, session)
    (cache,) = await gateway.list_caches()
    await gateway.delete_cache(cache.name)
    assert (await reconcile(gateway)).lost == 1
    assert (await CacheEntry.objects.aget()).state == State.GONE


async def test_a_shutdown_gives_up_a_cache_that_is_never_made(
    session: Session, gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its row stays pending, for the janitor of the next process; nothing stays reserved."""
    is_asked = asyncio.Event()

    async def say_nothing(**_: object) -> None:
        is_asked.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(gateway, "create_cache", say_nothing)
    monkeypatch.setattr("sessions_app.runs.runner.BACKGROUND_SECONDS", 0.1)
    runner = build_runner(gateway, QUICK)
    await runner.send(session.pk, uuid.uuid4(), "Hello")
    await asyncio.wait_for(is_asked.wait(), 60)
    await asyncio.wait_for(runner.shutdown(), 60)
    assert (await CacheEntry.objects.aget()).state == State.PENDING
    assert not await Reservation.objects.aexists()


async def converse(gateway: Gateway, session: Session) -> None:
    """One answer, and what follows it; the gateway stays open."""
    runner = build_runner(gateway, QUICK)
    await runner.send(session.pk, uuid.uuid4(), "Hello")
    await runner.drain()
    await runner.shutdown()
