"""The law of leases: a run that another process ended does nothing more, wherever its own process was held.

No tool runs twice, and the branch in view stays where the person who went on has brought it.
"""

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from sessions_app.database import database_sync_to_async
from sessions_app.gemini.gateway import Gateway
from sessions_app.models import Exchange, Run, Session, Spending, Todo, ToolCall, Turn
from sessions_app.prompt.turns import TurnKind
from sessions_app.runs.run_poller import RunPoller
from sessions_app.tools import Toolbox
from tests.runs.rounds import Call, Played, Tally
from tests.runs.running import end_abandoned_runs, running, send, until, watch

ROUNDS: tuple[tuple[Call, ...], ...] = ((("add_todo", "a"), ("add_todo", "b")), (("mark", "m"),))

TIMES = {"prepare": 2, "record_reply": 3, "begin": 3, "run": 3, "finish": 3, "store": 2}
"""How often the run of these rounds calls each function in which it is held.

Its first request is prepared in the call that stores it.
"""

PLACES = [(name, turn) for name, times in TIMES.items() for turn in range(times)]

INSIDE_A_TOOL = ("run", 0)


class Gate:
    """Holds a run where it calls the function `name`, after it has called it `turn` times."""

    def __init__(self, name: str, turn: int) -> None:
        self.name = name
        self.turn = turn
        self.reached, self.opened = asyncio.Event(), asyncio.Event()

    async def pass_by(self, name: str) -> None:
        if name != self.name or self.reached.is_set():
            return
        self.turn -= 1
        if self.turn < 0:
            self.reached.set()
            await self.opened.wait()

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for module in ("engine", "tool_rounds"):
            monkeypatch.setattr(
                f"sessions_app.runs.{module}.database_sync_to_async", self._in_database_thread
            )
        run = Toolbox.run

        async def held(toolbox: Toolbox, *args: Any, **named: Any) -> Any:
            await self.pass_by("run")
            return await run(toolbox, *args, **named)

        monkeypatch.setattr(Toolbox, "run", held)

    def _in_database_thread(self, work: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
        name = (work.func if isinstance(work, partial) else work).__name__

        async def call(*args: Any, **named: Any) -> Any:
            await self.pass_by(name)
            return await database_sync_to_async(work)(*args, **named)

        return call


@pytest.fixture
def gate(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Gate:
    gate = Gate(*request.param)
    gate.install(monkeypatch)
    return gate


@pytest.fixture
async def other(played: Played) -> AsyncIterator[Played]:
    """The same session in another process."""
    async with running(Gateway(api_key="test", transport=played.provider)) as runner:
        yield Played(runner, played.session, played.provider, played.saboteur)


async def hold(played: Played, gate: Gate) -> None:
    """Until the run is held and its process writes nothing, as if it were suspended."""
    await asyncio.wait_for(gate.reached.wait(), 60)
    await until(lambda: asyncio.sleep(0, not played.runner.lag))


@sync_to_async
def lose_lease(other: Played) -> None:
    """What a suspended process finds when it wakes."""
    Run.objects.active().update(heartbeat_at=timezone.now() - timedelta(minutes=1))
    assert end_abandoned_runs(other.runner.process_lock) == [other.session.pk]


async def go_on(other: Played, run: uuid.UUID) -> None:
    """What the page offers: continue, a message below a cut answer, or a retry."""
    head = (await other.branch())[-1]
    if head.kind == TurnKind.TOOL_RESPONSE:
        await other.resume()
    elif head.kind == TurnKind.MODEL_RESPONSE:
        other.provider.rounds = ()
        await other.send("And now?")
    else:
        await other.runner.retry(other.session.pk, uuid.uuid4(), run)
        await other.runner.drain()


@sync_to_async
def stored(played: Played) -> list[Any]:
    """Everything that a run writes."""
    rows = (Session, Run, Turn, Exchange, ToolCall, Todo, Spending)
    return [list(model.objects.order_by("pk").values()) for model in rows] + [len(played.provider.requests)]


@pytest.mark.parametrize("gate", PLACES, indirect=True, ids=str)
async def test_a_run_that_was_ended_elsewhere_writes_and_asks_nothing_more(
    played: Played, other: Played, tally: Tally, gate: Gate
) -> None:
    played.provider.rounds = ROUNDS
    run = await send(played.runner, played.session, "go")
    page = asyncio.create_task(watch(played.runner, played.session, run))
    await hold(played, gate)
    await lose_lease(other)
    await go_on(other, run)
    before = await stored(played)
    gate.opened.set()
    await played.runner.drain()
    assert await stored(played) == before
    assert [turn.text for turn in await played.branch()][-1] == "All done."
    titles = [title async for title in Todo.objects.values_list("title", flat=True)]
    assert len(titles) == len(set(titles)) and tally.marks["m"] <= 1
    assert (await asyncio.wait_for(page, 60))[-1]["status"] == "interrupted"


@pytest.mark.parametrize("gate", [INSIDE_A_TOOL], indirect=True, ids=str)
async def test_the_next_poll_stops_a_run_that_was_ended_elsewhere(
    played: Played, other: Played, gate: Gate
) -> None:
    played.provider.rounds = ROUNDS
    await send(played.runner, played.session, "go")
    await hold(played, gate)
    await lose_lease(other)
    await RunPoller(played.runner).poll()
    await asyncio.wait_for(played.runner.drain(), 60)
    assert not played.runner.live_runs and not await Todo.objects.aexists()
