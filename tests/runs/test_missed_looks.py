"""One look at the rows may find much at once; a page still gets every run whole and in order."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import orjson
import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from sessions_app.events import Finished, Started
from sessions_app.models import Run, RunLog, Session
from sessions_app.runs.runner import Runner
from sessions_app.runs.watch import Watch

ELSEWHERE = "another-process"

Seen = list[tuple[str, str]]


@asynccontextmanager
async def opened(runner: Runner, session: Session) -> AsyncIterator[Seen]:
    """What a page sees, from now on, that was told that no run is going on: (type, run)."""
    seen: Seen = []

    async def show() -> None:
        async for feed, _, wire in runner.follow(session.pk, None, -1):
            if feed is not None:
                event = orjson.loads(wire)
                seen.append((event["type"], event["run"]))

    showing = asyncio.create_task(show())
    await asyncio.sleep(0.05)
    yield seen
    showing.cancel()
    await asyncio.gather(showing, return_exceptions=True)


@pytest.fixture
def watch(runner: Runner) -> Watch:
    """Looks when a test says so, and only then."""
    return Watch(runner)


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


async def look(watch: Watch) -> None:
    await watch.look()
    await asyncio.sleep(0.05)


def whole(*runs: Run) -> Seen:
    return [(kind, str(run.public)) for run in runs for kind in ("started", "finished")]


async def test_a_run_is_seen_to_its_end_when_the_next_began_in_the_same_look(
    runner: Runner, watch: Watch, session: Session
) -> None:
    async with opened(runner, session) as seen:
        first = await begin(session)
        await look(watch)
        await end(first)
        second = await begin(session)
        await look(watch)
        assert seen == whole(first, second)[:3]


async def test_runs_that_came_and_went_between_two_looks_are_seen_whole(
    runner: Runner, watch: Watch, session: Session
) -> None:
    async with opened(runner, session) as seen:
        runs = [await begin(session)]
        await look(watch)
        await end(runs[0])
        for _ in range(2):
            runs.append(await begin(session))
            await end(runs[-1])
        await look(watch)
        assert seen == whole(*runs)


async def test_the_first_runs_that_a_page_ever_sees_are_not_skipped_either(
    runner: Runner, watch: Watch, session: Session
) -> None:
    async with opened(runner, session) as seen:
        runs = [await begin(session)]
        await end(runs[0])
        runs.append(await begin(session))
        await end(runs[1])
        await look(watch)
        assert seen == whole(*runs)


async def test_a_run_that_began_just_before_the_page_looked_is_seen_from_its_start(
    runner: Runner, watch: Watch, session: Session
) -> None:
    run = await begin(session)
    async with opened(runner, session) as seen:
        await look(watch)
        await end(run)
        await look(watch)
        assert seen == whole(run)


async def test_what_was_over_before_the_page_looked_is_not_shown_again(
    runner: Runner, watch: Watch, session: Session
) -> None:
    await end(await begin(session))
    async with opened(runner, session) as seen:
        await look(watch)
        assert seen == []
