"""What happens at the provider after an answer, seen through a conversation with the emulator."""

import uuid
from datetime import date, timedelta
from decimal import Decimal

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.utils import timezone

from pipeweb.composition import build_runner
from sessions_app.emulator import Emulator, EmulatorTransport
from sessions_app.errors import CacheGone
from sessions_app.gemini.gateway import Gateway
from sessions_app.models import CacheEntry, CacheLesson, Exchange, Session
from sessions_app.models.price import Price, Spending
from sessions_app.runs.caretaking import run_errands, take_inventory
from sessions_app.runs.draft import Draft
from sessions_app.runs.keeping import prolong
from sessions_app.runs.settle import give_up
from tests.runs.conftest import Ask
from tests.runs.running import QUICK, running
from tests.runs.test_rolling import prepared
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


async def test_a_cache_that_ends_soon_is_used_and_prolonged(ask: Ask, session: Session) -> None:
    await ask("Hello")
    soon = timezone.now() + timedelta(seconds=60)
    await CacheEntry.objects.aupdate(expires_at=soon)
    await ask("And again")
    entry = await CacheEntry.objects.aget()
    assert await actions(session) == ["create", "extend"]
    assert entry.hits == 1 and entry.expires_at and entry.expires_at > soon


@pytest.fixture
def naming(session: Session) -> Draft:
    """A request that names a cache; the provider has not answered it yet."""
    run, first = prepared(session, "Hello")
    run.end("completed")
    CacheEntry.objects.claim(first.fingerprint, model=session.model, route=first.work.route)
    later = timezone.now() + timedelta(hours=1)
    CacheEntry.objects.remember(first.fingerprint, name="cachedContents/old", tokens=2_000, expires=later)
    return prepared(session, "Hello again")[1]


@pytest.mark.parametrize(("now", "state"), [("old", State.GONE), ("made-again", State.LIVE)])
def test_only_the_cache_that_the_provider_denied_is_given_up(naming: Draft, now: str, state: str) -> None:
    CacheEntry.objects.update(name=f"cachedContents/{now}")
    assert naming.plan.name == "cachedContents/old"
    give_up(naming, CacheGone("The cache is gone."))
    assert CacheEntry.objects.get().state == state


def test_late_news_of_a_death_does_not_reach_the_cache_made_since(naming: Draft) -> None:
    stale = CacheEntry.objects.get()
    CacheEntry.objects.update(name="cachedContents/made-again")
    stale.drop("403")
    assert CacheEntry.objects.get().state == State.LIVE


async def test_the_end_of_a_cache_made_since_is_its_own(session: Session, gateway: Gateway) -> None:
    await converse(gateway, session)
    (old,) = await gateway.list_caches()
    await CacheEntry.objects.aupdate(name="cachedContents/made-again")
    before = (await CacheEntry.objects.aget()).expires_at
    assert await prolong(gateway, old.name, timedelta(hours=9))
    assert (await CacheEntry.objects.aget()).expires_at == before


async def test_a_session_pinned_to_implicit_leaves_its_cache(ask: Ask, session: Session) -> None:
    await ask("Hello")
    await ask("Hello again")
    await configure(session, cache_mode="implicit")
    await ask("And again")
    await ask("And again")
    assert await actions(session) == ["create", "hit", "drop", "none"]
    assert (await CacheEntry.objects.aget()).state == State.DOOMED


async def test_the_mode_and_the_policy_are_told_with_their_reason(ask: Ask, session: Session) -> None:
    await configure(session, cache_policy="seed")
    await ask("Hello")
    exchange = await Exchange.objects.aget()
    assert (exchange.cache_mode, exchange.cache_policy) == ("explicit", "seed")
    assert "seed 4" in exchange.strategy_reason


async def test_a_free_key_is_asked_for_a_cache_only_once(session: Session) -> None:
    free = Gateway(api_key="a-free-key", transport=EmulatorTransport(Emulator(delay=0)))
    async with running(free) as runner:
        for text in ("Hello", "Hello again", "And again"):
            await runner.send(session.pk, uuid.uuid4(), text)
            await runner.drain()
    lesson = await CacheLesson.objects.aget()
    assert lesson.failures == 1 and "FreeTier" in lesson.reason
    assert await actions(session) == ["create", "none", "none"]
    last = await Exchange.objects.filter(session=session).alast()
    assert last and last.cache_mode == "implicit" and "FreeTier" in last.strategy_reason


async def test_another_route_has_a_cache_of_its_own(ask: Ask, session: Session) -> None:
    await ask("Hello")
    await ask_elsewhere(session, "Hello there")
    assert await CacheEntry.objects.values("route").distinct().acount() == 2


async def test_a_deleted_sessions_cache_is_deleted_there(session: Session, gateway: Gateway) -> None:
    await converse(gateway, session)
    await sync_to_async(session.hide)()
    assert len(await gateway.list_caches()) == 1
    assert await run_errands(gateway) == 1
    assert await gateway.list_caches() == ()
    assert (await CacheEntry.objects.aget()).state == State.GONE
    assert await run_errands(gateway) == 0


@pytest.mark.usefixtures("price")
async def test_an_early_end_gives_its_storage_back(session: Session, gateway: Gateway, alice: User) -> None:
    await converse(gateway, session)
    before = (await Spending.objects.aget(owner=alice)).storage_usd
    await sync_to_async(session.hide)()
    await run_errands(gateway)
    assert (await Spending.objects.aget(owner=alice)).storage_usd < before / 10


async def test_what_an_admin_wants_kept_is_prolonged(session: Session, gateway: Gateway) -> None:
    await converse(gateway, session)
    until = timezone.now() + timedelta(hours=5)
    await CacheEntry.objects.aupdate(wanted_until=until)
    await run_errands(gateway)
    entry = await CacheEntry.objects.aget()
    assert entry.wanted_until is None and entry.expires_at and entry.expires_at > until - timedelta(minutes=1)


async def test_a_crash_before_the_row_leaves_a_cache_that_is_adopted(
    session: Session, gateway: Gateway
) -> None:
    await converse(gateway, session)
    past = timezone.now() - timedelta(seconds=1)
    await CacheEntry.objects.aupdate(state=State.PENDING, name="", leased_until=past)
    found = await take_inventory(gateway)
    entry = await CacheEntry.objects.aget()
    assert found.adopted == [entry.name] and entry.state == State.LIVE


async def test_a_cache_that_is_being_made_is_left_alone(session: Session, gateway: Gateway) -> None:
    await converse(gateway, session)
    later = timezone.now() + timedelta(minutes=1)
    await CacheEntry.objects.aupdate(state=State.PENDING, name="", leased_until=later)
    found = await take_inventory(gateway)
    assert (found.adopted, found.strays) == ([], []) and len(await gateway.list_caches()) == 1


async def test_what_no_row_knows_is_deleted_if_it_is_ours_and_never_if_it_is_not(
    session: Session, gateway: Gateway
) -> None:
    await converse(gateway, session)
    body = b'{"contents":[{"role":"user","parts":[{"text":"%b"}]}]}' % (b"somebody else's words. " * 400)
    for name in ("pipeweb/ffffffffffff/0123456789abcdef", "theirs", ""):
        await gateway.create_cache(
            model=session.model, contents_and_tools=body, ttl_seconds=600, display_name=name
        )
    await CacheEntry.objects.all().adelete()
    found = await take_inventory(gateway)
    left = {cache.display_name for cache in await gateway.list_caches()}
    assert len(found.strays) == 1
    assert left == {"pipeweb/ffffffffffff/0123456789abcdef", "theirs", ""}


async def test_a_row_whose_cache_is_gone_says_so(session: Session, gateway: Gateway) -> None:
    await converse(gateway, session)
    (cache,) = await gateway.list_caches()
    await gateway.delete_cache(cache.name)
    assert (await take_inventory(gateway)).lost == 1
    assert (await CacheEntry.objects.aget()).state == State.GONE


async def converse(gateway: Gateway, session: Session) -> None:
    """One answer, and what follows it; the gateway stays open."""
    runner = build_runner(gateway, QUICK)
    await runner.send(session.pk, uuid.uuid4(), "Hello")
    await runner.drain()
    await runner.shutdown()
