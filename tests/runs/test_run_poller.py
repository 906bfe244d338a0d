"""Two processes on one database: here two runners, each with a lock and a poller of its own."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import orjson
import pytest
from asgiref.sync import sync_to_async
from django.db import connections
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from sessions_app.events import Finished, Started
from sessions_app.models import Run, RunLog, Session
from sessions_app.runs.run_poller import Changes, LocalState, RunPoller
from sessions_app.runs.run_streams import RemoteRun
from sessions_app.runs.runner import Runner
from sessions_app.runs.session_streams import SessionStream
from tests.runs.running import Event, running, send, until, watch


@pytest.fixture
async def other(session: Session, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Runner]:
    """A second process that looks ten times a second."""
    monkeypatch.setattr("sessions_app.runs.run_poller.POLL_SECONDS", 0.1)
    async with running() as runner:
        looking = RunPoller(runner)
        looking.start()
        yield runner
        await looking.stop()


@pytest.fixture
async def looking(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[RunPoller]:
    monkeypatch.setattr("sessions_app.runs.run_poller.POLL_SECONDS", 0.1)
    looking = RunPoller(runner)
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


async def test_two_readers_of_another_process_that_join_at_once_see_the_same(
    runner: Runner, other: Runner, session: Session
) -> None:
    run = await send(runner, session, "/slow")
    watches = (watch(one, session, run) for one in (runner, other, other, other))
    here, *there = await asyncio.wait_for(asyncio.gather(*watches), 60)
    assert there == [here, here, here]


async def test_a_run_that_a_reader_joins_during_a_look_has_one_stream(
    runner: Runner, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    await send(runner, session, "/slow")
    run = await Run.objects.aget()
    async with running() as elsewhere:
        looking, stream = RunPoller(elsewhere), elsewhere.streams.open(session.pk)
        stream.viewers, stream.is_loaded = 1, True
        joined, read = RemoteRun(run, stream.broadcast), looking._read

        def joined_meanwhile(state: LocalState, is_heartbeat: bool) -> Changes:
            changes = read(state, is_heartbeat)
            stream.add_run(joined)
            return changes

        monkeypatch.setattr(looking, "_read", joined_meanwhile)
        await looking.poll()
        assert stream.feed is joined


async def test_an_open_page_of_another_process_follows_what_begins(
    runner: Runner, other: Runner, session: Session
) -> None:
    page = asyncio.create_task(first_run(other, session))
    await asyncio.sleep(0.05)
    run = await send(runner, session, "Hello")
    here = await watch(runner, session, run)
    async with asyncio.timeout(60):
        assert await page == here


async def test_a_stop_reaches_the_process_of_the_run(
    runner: Runner, looking: RunPoller, other: Runner, session: Session
) -> None:
    run = await send(runner, session, "/slow")
    await other.stop(session.pk, run)
    async with asyncio.timeout(60):
        events = await watch(other, session, run)
    assert events[-1]["status"] == "stopped"


async def test_a_message_to_another_process_waits_for_the_run_of_this_one(
    runner: Runner, other: Runner, session: Session
) -> None:
    await send(runner, session, "/slow")
    waiting = uuid.uuid4()
    await other.send(session.pk, waiting, "me too")
    assert not other.live_runs and not await Run.objects.filter(client_id=waiting).aexists()


async def test_a_dead_processs_run_ends_for_its_readers_elsewhere(
    runner: Runner, other: Runner, session: Session
) -> None:
    run = await Run.objects.acreate(
        session=session, client_id=uuid.uuid4(), status=Run.Status.RUNNING, process="dead"
    )
    page = asyncio.create_task(watch(other, session, run.public))
    other.process_lock._path("dead").touch()
    async with asyncio.timeout(60):
        assert (await page)[-1]["status"] == "interrupted"


async def test_the_number_of_queries_of_a_poll_is_constant(runner: Runner, session: Session) -> None:
    def count(streams: int) -> int:
        state = LocalState({session.pk + number: SessionStream() for number in range(streams)}, [], [])
        with CaptureQueriesContext(connections["default"]) as queries:
            RunPoller(runner)._read(state, is_heartbeat=False)
        return len(queries)

    assert await sync_to_async(count)(1) == await sync_to_async(count)(200) <= 4


ELSEWHERE = "another-process"

PastExchange = list[tuple[str, str]]


@asynccontextmanager
async def opened(runner: Runner, session: Session) -> AsyncIterator[PastExchange]:
    """What a page sees, from now on, that was told that no run is going on: (type, run)."""
    seen: PastExchange = []

    async def show() -> None:
        async for feed, _, wire in runner.follow(session.pk, None, -1):
            if feed is not None:
                event = orjson.loads(wire)
                seen.append((event["type"], event["run"]))

    async def is_loaded() -> bool:
        return session.pk in runner.streams and runner.streams[session.pk].is_loaded

    showing = asyncio.create_task(show())
    await until(is_loaded)
    yield seen
    showing.cancel()
    await asyncio.gather(showing, return_exceptions=True)


@pytest.fixture
def poller(runner: Runner) -> RunPoller:
    """Looks when a test says so, and only then."""
    return RunPoller(runner)


@sync_to_async
def begin(session: Session) -> Run:
    run = Run.objects.create(
        session=session, client_id=uuid.uuid4(), status=Run.Status.RUNNING, process=ELSEWHERE
    )
    started = Started(run=run.public, client_id=run.client_id, text="Hello")
    RunLog.of(run, 0, [started.wire()]).save()
    return run


@sync_to_async
def end(run: Run) -> None:
    RunLog.of(run, 1, [Finished(run=run.public, seq=1, status="completed").wire()]).save()
    run.status, run.ended_at = Run.Status.COMPLETED, timezone.now()
    run.save()


async def poll(poller: RunPoller) -> None:
    await poller.poll()
    await asyncio.sleep(0.05)


def whole(*runs: Run) -> PastExchange:
    return [(kind, str(run.public)) for run in runs for kind in ("started", "finished")]


async def test_a_run_is_seen_to_its_end_when_the_next_began_in_the_same_look(
    runner: Runner, poller: RunPoller, session: Session
) -> None:
    async with opened(runner, session) as seen:
        first = await begin(session)
        await poll(poller)
        await end(first)
        second = await begin(session)
        await poll(poller)
        assert seen == whole(first, second)[:3]


async def test_runs_that_came_and_went_between_two_looks_are_seen_whole(
    runner: Runner, poller: RunPoller, session: Session
) -> None:
    async with opened(runner, session) as seen:
        runs = [await begin(session)]
        await poll(poller)
        await end(runs[0])
        for _ in range(2):
            runs.append(await begin(session))
            await end(runs[-1])
        await poll(poller)
        assert seen == whole(*runs)


async def test_the_first_runs_that_a_page_ever_sees_are_not_skipped_either(
    runner: Runner, poller: RunPoller, session: Session
) -> None:
    async with opened(runner, session) as seen:
        runs = [await begin(session)]
        await end(runs[0])
        runs.append(await begin(session))
        await end(runs[1])
        await poll(poller)
        assert seen == whole(*runs)


async def test_a_run_that_began_just_before_the_page_looked_is_seen_from_its_start(
    runner: Runner, poller: RunPoller, session: Session
) -> None:
    run = await begin(session)
    async with opened(runner, session) as seen:
        await poll(poller)
        await end(run)
        await poll(poller)
        assert seen == whole(run)


async def test_what_was_over_before_the_page_looked_is_not_shown_again(
    runner: Runner, poller: RunPoller, session: Session
) -> None:
    await end(await begin(session))
    async with opened(runner, session) as seen:
        await poll(poller)
        assert seen == []


async def test_a_look_while_the_page_is_being_opened_shows_no_earlier_run(
    runner: Runner, poller: RunPoller, session: Session
) -> None:
    await end(await begin(session))
    stream = runner.streams.open(session.pk)
    stream.viewers = 1
    await poll(poller)
    assert stream.feed is None
