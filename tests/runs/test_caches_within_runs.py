"""Within a run neither its history chunks nor its cache change, however fast the provider makes caches."""

import asyncio
import random
import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import httpx2
import orjson
import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.utils import timezone

from sessions_app.emulator import Emulator, EmulatorTransport
from sessions_app.gemini.gateway import Gateway
from sessions_app.models import CacheEntry, Exchange, HistoryChunk, Run, Session
from sessions_app.models.cache_queries import CacheEntryQuerySet
from sessions_app.prompt.caching import CacheAction, EntryReason, PlanReason, plan_cache
from sessions_app.runs.cache_janitor import apply_requested_changes
from sessions_app.runs.runner import Runner
from sessions_app.tools import Toolbox
from tests.factories import call_chunk, make_exchange, make_run, make_session, signatures, text_chunk
from tests.runs.running import running, until

ROUNDS = 4
LONG = "What do you make of it? " * 60
State = CacheEntry.State


class ToolUser(EmulatorTransport):
    """Calls a tool four times before it answers; makes caches as the emulator does, after a pause."""

    def __init__(self, pauses: Sequence[float]) -> None:
        super().__init__(Emulator(delay=0))
        self.pauses = random.Random(1).choices(pauses, k=1_000)
        self.alive: set[str] = set()
        self.creations = 0

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = orjson.loads(await request.aread() or b"{}")
        if request.url.path.endswith(":streamGenerateContent"):
            is_alive = body.get("cachedContent", "") in {"", *self.alive}
            return self.answer(body) if is_alive else await super().handle_async_request(request)
        if request.method == "DELETE":
            self.alive.discard(request.url.path.partition("/v1beta/")[2])
        if request.method != "POST":
            return await super().handle_async_request(request)
        self.creations += 1
        await asyncio.sleep(self.pauses.pop())
        response = await super().handle_async_request(request)
        made = await response.aread()
        self.alive.add(orjson.loads(made)["name"])
        return httpx2.Response(response.status_code, headers=response.headers, content=made)

    def answer(self, body: dict[str, Any]) -> httpx2.Response:
        prompt, rounds = len(orjson.dumps(body)) // 4, 0
        for content in reversed(body["contents"]):
            if any("text" in part for part in content["parts"]):
                break
            rounds += content["role"] == "user"
        usage = {"promptTokenCount": prompt, "candidatesTokenCount": 9, "totalTokenCount": prompt + 9}
        if rounds < ROUNDS:
            named = {"finish": "STOP", "usage": usage, "signature": next(signatures)}
            event = call_chunk("get_time", {"timezone": "Europe/Paris"}, **named)
        else:
            event = text_chunk("An answer. " * 60, finish="STOP", usage=usage)
        return httpx2.Response(200, content=b"data: %b\r\n\r\n" % event)


@pytest.fixture
def rolls_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sessions_app.prompt.strategy.explicit_tail", lambda *_: 600.0)


def runs_of(session: Session) -> list[list[Exchange]]:
    """The exchanges of each run, in order."""
    runs = Run.objects.filter(session=session).order_by("pk")
    return [list(run.exchanges.order_by("number")) for run in runs]


def chunks_in(exchange: Exchange) -> list[str]:
    names = [item.source.name for item in exchange.sent_items()]
    return [name for name in names if name.startswith("chunk:")]


def check_law(session: Session) -> None:
    for exchanges in runs_of(session):
        assert [chunks_in(one) for one in exchanges] == [chunks_in(exchanges[0])] * len(exchanges)
        hits = [bool(one.cache_name) for one in exchanges]
        assert hits == sorted(hits), f"inline after a hit: {[one.cache_action for one in exchanges]}"


async def talk(runner: Runner, session: Session, text: str) -> Run:
    """Sends a message and waits for the end of its run, not for what is made after it."""
    client_id = uuid.uuid4()
    await runner.send(session.pk, client_id, f"{text} {LONG}")
    over = Run.objects.filter(client_id=client_id).exclude(status__in=Run.ACTIVE)
    await until(over.aexists)
    return await over.aget()


async def tidy(gateway: Gateway, over: asyncio.Event) -> None:
    """The janitor, without its pauses. It ends between two rounds: a cancelled deletion keeps its lease."""
    while not over.is_set():
        await apply_requested_changes(gateway)
        await asyncio.sleep(0.02)


@pytest.mark.slow
@pytest.mark.usefixtures("rolls_early")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("pauses", [(0.05,), (0.0, 0.4), (0.0, 0.05, 1.0)], ids=str)
async def test_no_chunk_appears_and_no_hit_is_followed_by_an_inline_request(
    alice: User, pauses: tuple[float, ...]
) -> None:
    options = {"cache_mode": "explicit", "tools": ["get_time"]}
    sessions = [await sync_to_async(make_session)(alice, settings=options) for _ in range(3)]
    provider = ToolUser(pauses)
    async with running(Gateway.to_emulator(provider)) as runner:
        over = asyncio.Event()
        janitor = asyncio.create_task(tidy(runner.gateway, over))

        async def converse(session: Session) -> None:
            for number in range(5):
                run = await talk(runner, session, f"Task {number}.")
                assert run.status == Run.Status.COMPLETED, run.error

        await asyncio.gather(*(converse(session) for session in sessions))
        # One session leaves while the others may use its cache.
        leaving = asyncio.gather(*(converse(session) for session in sessions[1:]))
        await sync_to_async(sessions[0].soft_delete)()
        await leaving
        await runner.drain()
        over.set()
        await janitor
        await apply_requested_changes(runner.gateway)
    for session in sessions:
        await sync_to_async(check_law)(session)
    actions = [action async for action in Exchange.objects.values_list("cache_action", flat=True)]
    assert "hit" in actions and await HistoryChunk.objects.aexists()
    assert not await CacheEntry.objects.filter(state=State.TO_DELETE).aexists()


def kept(name: str, **fields: Any) -> CacheEntry:
    return CacheEntry.objects.create(
        fingerprint=name,
        name=name,
        route="r",
        model="m",
        expires_at=timezone.now() + timedelta(hours=1),
        **fields,
    )


@pytest.fixture
def named(alice: User) -> Run:
    """An active run whose request named the cache `c/1`."""
    run = make_run(make_session(alice))
    make_exchange(run, cache_name="c/1")
    return run


@pytest.mark.parametrize(
    ("reason", "is_over", "is_deleted"),
    [
        (EntryReason.ROLLED_ON, False, False),
        (EntryReason.SESSION_DELETED, False, False),
        (EntryReason.ADMIN, False, True),
        (EntryReason.ROLLED_ON, True, True),
    ],
)
@pytest.mark.django_db
def test_a_cache_in_use_is_deleted_when_its_run_is_over_or_an_admin_asks(
    named: Run, reason: EntryReason, is_over: bool, is_deleted: bool
) -> None:
    kept("c/1", state=State.TO_DELETE, reason=reason)
    if is_over:
        named.end(Run.Status.COMPLETED)
    pending: CacheEntryQuerySet = CacheEntry.objects.pending_actions("r")
    assert pending.exists() is is_deleted


@pytest.mark.django_db
def test_the_run_that_used_it_goes_on_with_a_cache_to_be_deleted_and_others_may_keep_it() -> None:
    kept("c/1", state=State.TO_DELETE, reason=EntryReason.ROLLED_ON)
    facts = [
        CacheEntry.facts("c/1", route="r", model="m", minimum=1, held=held)
        for held in ((), ("c/1",), ("c/2",))
    ]
    assert [(one.name, one.is_dropped) for one in facts] == [("c/1", True), ("c/1", False), ("c/1", True)]


@pytest.mark.parametrize("reason", [EntryReason.ADMIN, EntryReason.ROLLED_ON])
@pytest.mark.django_db
def test_nobody_keeps_what_an_admin_had_deleted_or_what_is_being_deleted(reason: EntryReason) -> None:
    entry = kept("c/1", state=State.TO_DELETE, reason=reason)
    if reason is not EntryReason.ADMIN:
        assert CacheEntry.objects.begin_deletion(entry.pk)
    facts = CacheEntry.facts("c/1", route="r", model="m", minimum=1)
    assert (facts.name, facts.is_deleting) == ("", True)
    plan = plan_cache(5_000, facts, timezone.now())
    assert (plan.action, plan.reason) == (CacheAction.MISS, PlanReason.DELETING)
    assert not CacheEntry.objects.keep(entry.pk)


@pytest.mark.django_db
def test_what_a_request_keeps_is_not_deleted_and_a_deletion_that_failed_may_begin_again() -> None:
    entry = kept("c/1", state=State.TO_DELETE, reason=EntryReason.REPLACED)
    assert CacheEntry.objects.begin_deletion(entry.pk) and not CacheEntry.objects.begin_deletion(entry.pk)
    CacheEntry.objects.give_up_deletion(entry.pk)
    assert CacheEntry.objects.keep(entry.pk) and not CacheEntry.objects.begin_deletion(entry.pk)
    entry.refresh_from_db()
    assert (entry.state, entry.reason) == (State.LIVE, "")
    assert [one.kind for one in entry.events.all()] == ["kept"]


def extensions(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the caches that are extended, whose life is short from now on."""
    extended: list[str] = []

    async def extend(_: Gateway, name: str, lifetime: timedelta, payer: Session, **by: Any) -> bool:
        extended.append(name)
        return True

    monkeypatch.setattr("sessions_app.runs.cache_lifecycle.extend_cache", extend)
    monkeypatch.setattr("sessions_app.prompt.strategy.lifetime", lambda *_: 0.15)
    monkeypatch.setattr("sessions_app.models.cache_states.EXPIRY_MARGIN", timedelta())
    return extended


async def test_a_cache_is_extended_while_a_long_answer_comes(
    runner: Runner, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    await talk(runner, session, "Hello.")
    await runner.drain()
    extended = extensions(monkeypatch)
    await talk(runner, session, "/slow And again.")
    await runner.drain()
    entry = await CacheEntry.objects.aget()
    assert len(extended) > 1 and set(extended) == {entry.name}


async def test_a_cache_is_extended_while_a_tool_runs_and_not_after_the_run(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(Gateway.to_emulator(ToolUser((0.0,)))) as runner:
        await talk(runner, session, "Hello.")
        await runner.drain()
        extended, run = extensions(monkeypatch), Toolbox.run

        async def waits(toolbox: Toolbox, *args: Any, **named: Any) -> Any:
            before = len(extended)
            await until(lambda: asyncio.sleep(0, len(extended) > before + 1))
            return await run(toolbox, *args, **named)

        monkeypatch.setattr(Toolbox, "run", waits)
        assert (await talk(runner, session, "And again.")).status == Run.Status.COMPLETED
        await runner.drain()
        assert [one.cache_action for one in (await sync_to_async(runs_of)(session))[-1]] == ["hit"] * (
            ROUNDS + 1
        )
        assert not [task for task in asyncio.all_tasks() if "_extend_again" in repr(task.get_coro())]
