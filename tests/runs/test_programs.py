"""Programs beside the requests: a person's answer does not wait for them."""

import sys
from time import perf_counter

import pytest
from asgiref.sync import sync_to_async

from sessions_app.models import AllowedCommand, Exchange, Reading, Session
from sessions_app.panels import refresh
from tests.runs.conftest import Ask

SLOW = "import time; time.sleep(3); print('slow')"


@pytest.fixture(autouse=True)
def generous(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine even a quick program takes longer than people would wait for."""
    monkeypatch.setattr(refresh, "LONGEST_WAIT", 20.0)


async def show_console(session: Session, name: str, code: str) -> None:
    await AllowedCommand.objects.acreate(name=name, argv=[sys.executable, "-c", code])
    await sync_to_async(session.switch_panel)("console", on=True)


async def sent() -> list[str]:
    exchanges = Exchange.objects.order_by("pk")
    return [await sync_to_async(lambda one=one: one.request_body().decode())() async for one in exchanges]


async def test_a_quick_program_is_in_the_first_request(ask: Ask, session: Session) -> None:
    await show_console(session, "greet", "print('hello from outside')")
    await ask("Hello")
    assert "hello from outside" in (await sent())[0]


async def test_a_slow_program_is_in_the_next_request(
    ask: Ask, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refresh, "LONGEST_WAIT", 0.01)
    await show_console(session, "slow", SLOW)
    await ask("Hello")
    assert (await Reading.objects.aget()).text == "slow"
    await ask("Hello again")
    assert ["slow" in body for body in await sent()] == [False, True]


async def test_an_answer_does_not_wait_for_a_slow_program(
    ask: Ask, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refresh, "LONGEST_WAIT", 0.01)
    await show_console(session, "slow", SLOW)
    began = perf_counter()
    run = await ask("Hello")
    assert run.ended_at is not None and run.started_at is not None
    assert (run.ended_at - run.started_at).total_seconds() < perf_counter() - began - 1


async def test_an_ordinary_session_runs_nothing(
    ask: Ask, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    await AllowedCommand.objects.acreate(name="greet", argv=["ls"])
    monkeypatch.setattr(refresh, "due_readings", None)
    await ask("Hello")
    assert not await Reading.objects.aexists()
