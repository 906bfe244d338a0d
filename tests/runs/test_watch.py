"""Two processes on one database: here two runners, each with a lock and a watch of its own."""

import asyncio
import uuid
from collections.abc import AsyncIterator

import orjson
import pytest
from asgiref.sync import sync_to_async
from django.db import connections
from django.test.utils import CaptureQueriesContext

from sessions_app.models import Run, Session
from sessions_app.runs.runner import Runner
from sessions_app.runs.stage import Stage
from sessions_app.runs.watch import Scene, Watch
from tests.runs.running import running
from tests.runs.viewing import Event, send, watch


@pytest.fixture
async def other(session: Session, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Runner]:
    """A second process that looks ten times a second."""
    monkeypatch.setattr("sessions_app.runs.watch.LOOK_SECONDS", 0.1)
    async with running() as runner:
        looking = Watch(runner)
        looking.start()
        yield runner
        await looking.stop()


@pytest.fixture
async def looking(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Watch]:
    monkeypatch.setattr("sessions_app.runs.watch.LOOK_SECONDS", 0.1)
    looking = Watch(runner)
    looking.start()
    yield looking
    await looking.stop()


async def first_run(runner: Runner, session: Session) -> list[Event]:
    """What a page sees that was open before anything began."""
    seen: list[Event] = []
    async for feed, _, wire in runner.follow(session.pk, None, -1):
        if feed is not None:
            seen.append(orjson.loads(wire))
            if seen[-1]["type"] == "finished":
                break
    return seen


async def test_a_reader_of_another_process_joins_and_sees_the_same(
    runner: Runner, other: Runner, session: Session
) -> None:
    run = await send(runner, session, "Hello")
    here, there = await asyncio.gather(watch(runner, session, run), watch(other, session, run))
    assert there == here


async def test_an_open_page_of_another_process_follows_what_begins(
    runner: Runner, other: Runner, session: Session
) -> None:
    page = asyncio.create_task(first_run(other, session))
    await asyncio.sleep(0.05)
    run = await send(runner, session, "Hello")
    here = await watch(runner, session, run)
    async with asyncio.timeout(5):
        assert await page == here


async def test_a_stop_reaches_the_process_of_the_run(
    runner: Runner, looking: Watch, other: Runner, session: Session
) -> None:
    run = await send(runner, session, "/slow")
    await other.stop(session.pk, run)
    async with asyncio.timeout(5):
        events = await watch(other, session, run)
    assert events[-1]["status"] == "stopped"


async def test_a_message_to_another_process_waits_for_the_run_of_this_one(
    runner: Runner, other: Runner, session: Session
) -> None:
    await send(runner, session, "/slow")
    waiting = uuid.uuid4()
    await other.send(session.pk, waiting, "me too")
    assert not other.lives and not await Run.objects.filter(client_id=waiting).aexists()


async def test_a_dead_processs_run_ends_for_its_readers_elsewhere(
    runner: Runner, other: Runner, session: Session
) -> None:
    run = await Run.objects.acreate(
        session=session, client_id=uuid.uuid4(), status=Run.Status.RUNNING, process="dead"
    )
    page = asyncio.create_task(watch(other, session, run.public))
    other.presence._path("dead").touch()
    async with asyncio.timeout(8):
        assert (await page)[-1]["status"] == "interrupted"


async def test_looking_costs_a_handful_of_queries_however_many_sessions_are_watched(
    runner: Runner, session: Session
) -> None:
    def count(stages: int) -> int:
        scene = Scene({session.pk + number: Stage() for number in range(stages)}, [], [])
        with CaptureQueriesContext(connections["default"]) as queries:
            Watch(runner)._read(scene, beat=False)
        return len(queries)

    assert await sync_to_async(count)(1) == await sync_to_async(count)(200) <= 4
