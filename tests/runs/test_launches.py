"""A process that is being stopped leaves no run behind that the next one does not know to be abandoned."""

import asyncio
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sessions_app.errors import RunError
from sessions_app.models import QueuedMessage, Run, Session
from sessions_app.runs.first_request import create_run
from sessions_app.runs.processes import ProcessLock, leave
from sessions_app.runs.run_poller import RunPoller
from sessions_app.runs.runner import Runner
from tests.runs.running import send, until


class SlowThread:
    """Stores a run, and does not come back before it may."""

    def __init__(self) -> None:
        self.has_stored, self.may_return = threading.Event(), threading.Event()

    def create(self, *args: Any) -> Any:
        created = create_run(*args)
        self.has_stored.set()
        self.may_return.wait(60)
        return created


@pytest.fixture
def thread(monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowThread]:
    thread = SlowThread()
    monkeypatch.setattr("sessions_app.runs.runner.create_run", thread.create)
    yield thread
    thread.may_return.set()


async def test_a_run_that_begins_meanwhile_is_interrupted(
    runner: Runner, session: Session, thread: SlowThread
) -> None:
    sent = asyncio.create_task(runner.send(session.pk, uuid.uuid4(), "/slow"))
    await asyncio.to_thread(thread.has_stored.wait, 60)
    ended = asyncio.create_task(runner.shutdown())
    await asyncio.sleep(0.1)
    thread.may_return.set()
    await asyncio.wait_for(asyncio.gather(sent, ended), 60)
    assert (await Run.objects.aget()).status == Run.Status.INTERRUPTED


async def test_no_run_begins_after_it(runner: Runner, session: Session) -> None:
    await runner.shutdown()
    with pytest.raises(RunError, match="being stopped"):
        await send(runner, session, "Hello")
    assert not await Run.objects.aexists()


def test_a_run_that_could_not_be_ended_is_known_by_the_file_of_its_process(
    session: Session, tmp_path: Path
) -> None:
    ended, other = ProcessLock(tmp_path), ProcessLock(tmp_path)
    Run.objects.create(session=session, client_id=uuid.uuid4(), status=Run.Status.RUNNING, process=ended.key)
    leave(ended)
    assert other.dead_keys() == {ended.key}
    leave(other)
    assert [path.stem for path in tmp_path.iterdir()] == [ended.key]


async def test_after_it_a_queued_message_waits_for_the_person(runner: Runner, session: Session) -> None:
    """As it does where the process itself could end the run."""
    run = await Run.objects.acreate(
        session=session, client_id=uuid.uuid4(), status=Run.Status.RUNNING, process="dead"
    )
    await QueuedMessage.objects.acreate(session=session, client_id=uuid.uuid4(), text="And now?")
    runner.process_lock._path("dead").touch()
    await RunPoller(runner).poll(is_heartbeat=True)

    async def is_over() -> bool:
        await run.arefresh_from_db()
        return run.status == Run.Status.INTERRUPTED

    await until(is_over)
    await asyncio.sleep(0.3)
    await runner.drain()
    assert await QueuedMessage.objects.acount() == await Run.objects.acount() == 1
