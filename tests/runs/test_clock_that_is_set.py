"""The system's clock is set by an hour while a run works: nothing of the run ends or is refused for it."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone
from pytest_django import Settings

from sessions_app.mcp_codes import Choice
from sessions_app.models import Run, Session
from sessions_app.runs.parking import ask_deadline
from sessions_app.runs.runner import Runner
from sessions_app.tools import Toolbox
from tests.mcp.entering import listed, switch_on
from tests.prompt.examples import SIGNATURE, call, chunk, text
from tests.runs.hops import answer, done
from tests.runs.test_asks import ECHO, decide, send

FORWARD, BACK = timedelta(hours=1), timedelta(hours=-1)

CALL = [done(call("current_time", SIGNATURE))]
CUT = [chunk(text("It is"), finishReason="MAX_TOKENS")]
ANSWER = [done(text("Done."))]


@dataclass
class Clock:
    """`set_by` is what an administrator has set the system's clock by."""

    set_by: timedelta = timedelta()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock, now = Clock(), timezone.now
    monkeypatch.setattr("django.utils.timezone.now", lambda: now() + clock.set_by)
    return clock


@pytest.fixture(params=[FORWARD, BACK], ids=["forward", "back"])
def set_in_a_tool(request: pytest.FixtureRequest, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock is set while the first tool runs."""
    run = Toolbox.run

    async def setting(toolbox: Toolbox, *args: Any, **named: Any) -> Any:
        clock.set_by = request.param
        return await run(toolbox, *args, **named)

    monkeypatch.setattr(Toolbox, "run", setting)


async def test_a_run_goes_on(session: Session, set_in_a_tool: None) -> None:
    run, _, _ = await answer(session, CALL, ANSWER, max_seconds=60)
    assert run.status == Run.Status.COMPLETED


async def test_a_cut_answer_is_continued(session: Session, set_in_a_tool: None) -> None:
    await answer(session, CALL, CUT, ANSWER, max_seconds=60, continue_cut=True)
    runs = [(run.continuations, run.status) async for run in Run.objects.order_by("pk")]
    assert runs == [(0, Run.Status.COMPLETED), (1, Run.Status.COMPLETED)]


@pytest.mark.parametrize("later", [FORWARD, BACK, timedelta()], ids=["forward", "back", "not again"])
async def test_a_run_that_waits_in_between_keeps_what_it_had_taken(
    runner: Runner,
    session: Session,
    *,
    settings: Settings,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    later: timedelta,
) -> None:
    """It is taken by what its rows say, as in another process."""

    def deadline() -> datetime:
        clock.set_by = FORWARD
        return ask_deadline()

    monkeypatch.setattr("sessions_app.runs.asks.ask_deadline", deadline)
    await sync_to_async(listed)(settings)
    await sync_to_async(switch_on)(session)
    await Session.objects.filter(pk=session.pk).aupdate(settings={**session.settings, "max_seconds": 60})
    run = await send(runner, session, ECHO)
    assert run.status == Run.Status.WAITING
    # Within the ten minutes of the ask, or before them.
    clock.set_by += later / 10
    run = await decide(runner, run, Choice.ONCE)
    assert run.status == Run.Status.COMPLETED
