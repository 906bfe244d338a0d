"""Locks that die with their process."""

import asyncio
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import aclosing
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import orjson
import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from sessions_app.models import QueuedMessage, Run, RunLog, Session, Turn
from sessions_app.models.run import LEASE
from sessions_app.prompt.turns import Turn as TurnValue
from sessions_app.prompt.turns import TurnKind, user_task
from sessions_app.runs.processes import (
    LeaseWatch,
    Notifier,
    ProcessLock,
    abandoned_runs,
    sessions_left_waiting,
)
from sessions_app.runs.run_poller import RunPoller
from sessions_app.runs.runner import Runner
from tests.runs.conftest import Ask
from tests.runs.running import end_abandoned_runs

HOLD = """
import sys, time
from pathlib import Path
import django
django.setup()
from sessions_app.runs.processes import ProcessLock
print(ProcessLock(Path(sys.argv[1])).key, flush=True)
time.sleep(60)
"""


def test_a_process_does_not_take_itself_or_a_living_one_for_dead(tmp_path: Path) -> None:
    one, other = ProcessLock(tmp_path), ProcessLock(tmp_path)
    assert one.dead_keys() == set() == other.dead_keys()
    one.release()
    other.release()


def test_a_killed_process_is_known_to_be_dead_at_once(tmp_path: Path) -> None:
    mine = ProcessLock(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        key = process.stdout.readline().strip()
        assert mine.dead_keys() == set()
        process.kill()
    assert mine.dead_keys() == {key}
    mine.release()


def test_a_lock_that_cannot_be_opened_is_of_no_dead_process(tmp_path: Path) -> None:
    (tmp_path / "gone.lock").touch()
    (tmp_path / "odd.lock").symlink_to("odd.lock")
    mine = ProcessLock(tmp_path)
    assert mine.dead_keys() == {"gone"}
    mine.release()


def test_a_process_that_leaves_leaves_nothing(tmp_path: Path) -> None:
    ProcessLock(tmp_path).release()
    assert list(tmp_path.iterdir()) == []


def test_a_forgotten_process_is_not_named_again(tmp_path: Path) -> None:
    (tmp_path / "gone.lock").touch()
    mine = ProcessLock(tmp_path)
    assert mine.dead_keys() == {"gone"}
    mine.remove("gone")
    assert mine.dead_keys() == set()
    mine.release()


CALLS = (
    b'{"role":"model","parts":'
    b'[{"functionCall":{"name":"a","args":{}}},{"functionCall":{"name":"b","args":{}}}]}'
)


@pytest.fixture
def process_lock(tmp_path: Path) -> Iterator[ProcessLock]:
    process_lock = ProcessLock(tmp_path)
    yield process_lock
    process_lock.release()


@pytest.fixture
def dead_process(tmp_path: Path) -> str:
    """The key of a process that is no more: its file lies there and nobody holds its lock."""
    (tmp_path / "dead.lock").touch()
    return "dead"


@pytest.fixture
def left(session: Session) -> Run:
    run = Run.objects.create(session=session, client_id=uuid.uuid4(), status=Run.Status.RUNNING)
    run.trigger = Turn.append(session, user_task(str(uuid.uuid4()), "hello"), parent=None, run=run)
    run.save()
    return run


def silence(run: Run) -> None:
    Run.objects.update(heartbeat_at=timezone.now() - timedelta(minutes=1))


def test_a_run_with_an_expired_lease_becomes_interrupted(left: Run, process_lock: ProcessLock) -> None:
    silence(left)
    assert end_abandoned_runs(process_lock) == [left.session_id]
    left.refresh_from_db()
    assert left.status == Run.Status.INTERRUPTED and left.error["hint"]


def test_a_run_of_a_dead_process_of_this_machine_is_ended_at_once(
    left: Run, process_lock: ProcessLock, dead_process: str
) -> None:
    Run.objects.update(process=dead_process)
    assert end_abandoned_runs(process_lock) == [left.session_id]


def test_a_run_of_a_living_process_is_left_alone(
    left: Run, process_lock: ProcessLock, tmp_path: Path
) -> None:
    other = ProcessLock(tmp_path)
    Run.objects.update(process=other.key)
    assert end_abandoned_runs(process_lock) == []
    other.release()


def test_a_run_of_another_machine_is_left_to_its_lease(left: Run, process_lock: ProcessLock) -> None:
    Run.objects.update(process="elsewhere")
    assert end_abandoned_runs(process_lock) == []
    silence(left)
    assert end_abandoned_runs(process_lock) == [left.session_id]


def test_half_a_tool_round_is_closed_so_that_the_history_stays_valid(
    left: Run, session: Session, process_lock: ProcessLock
) -> None:
    value = TurnValue(key=str(uuid.uuid4()), kind=TurnKind.FUNCTION_CALLING, wire=CALLS)
    Turn.append(session, value, parent=left.trigger, run=left)
    silence(left)
    end_abandoned_runs(process_lock)
    session.refresh_from_db()
    assert session.head is not None and session.head.kind == TurnKind.TOOL_RESPONSE
    assert [part.response["name"] for part in session.head.parts if part.response] == ["a", "b"]


def test_the_end_is_logged_behind_what_the_process_had_written(left: Run, process_lock: ProcessLock) -> None:
    RunLog.of(left, 0, ["{}", "{}"]).save()
    silence(left)
    end_abandoned_runs(process_lock)
    last = RunLog.objects.order_by("-seq_from")[0]
    event = orjson.loads(last.wires[0])
    assert (event["type"], event["seq"], event["status"]) == ("finished", 2, "interrupted")


def test_ending_abandoned_runs_is_idempotent(left: Run, process_lock: ProcessLock) -> None:
    silence(left)
    end_abandoned_runs(process_lock)
    ended = Run.objects.get().ended_at
    assert end_abandoned_runs(process_lock) == [] and Run.objects.get().ended_at == ended


async def leave_waiting(session: Session, *, seconds: int = 60) -> uuid.UUID:
    message = await QueuedMessage.objects.acreate(session=session, client_id=uuid.uuid4(), text="And now?")
    then = timezone.now() - timedelta(seconds=seconds)
    await QueuedMessage.objects.filter(pk=message.pk).aupdate(queued_at=then)
    return message.client_id


async def test_a_message_left_by_a_process_that_died_after_its_answer_is_answered(
    ask: Ask, runner: Runner, session: Session
) -> None:
    await ask("Hello")
    client_id = await leave_waiting(session)
    await RunPoller(runner).poll(is_heartbeat=True)
    await runner.drain()
    assert (await Run.objects.aget(client_id=client_id)).status == Run.Status.COMPLETED


@pytest.mark.parametrize("status", ["stopped", "failed", "interrupted", "running"])
async def test_after_anything_but_an_answer_it_waits_for_the_person(
    ask: Ask, session: Session, status: str
) -> None:
    run = await ask("Hello")
    await Run.objects.filter(pk=run.pk).aupdate(status=status)
    await leave_waiting(session)
    assert await sync_to_async(sessions_left_waiting)() == []


async def test_a_deleted_session_is_left_alone(ask: Ask, runner: Runner, session: Session) -> None:
    await ask("Hello")
    await leave_waiting(session)
    await Session.objects.filter(pk=session.pk).aupdate(deleted_at=timezone.now())
    assert await sync_to_async(sessions_left_waiting)() == []
    await runner.continue_with(session.pk)
    assert await QueuedMessage.objects.filter(session=session).aexists()


async def test_a_message_that_was_just_sent_is_left_to_its_run(ask: Ask, session: Session) -> None:
    await ask("Hello")
    await leave_waiting(session, seconds=1)
    assert await sync_to_async(sessions_left_waiting)() == []


class Layer:
    """A channel layer with one group; to send takes a turn of the loop."""

    def __init__(self) -> None:
        self._channels: list[asyncio.Queue[dict[str, Any]]] = []

    async def new_channel(self) -> "asyncio.Queue[dict[str, Any]]":
        return asyncio.Queue()

    async def group_add(self, group: str, channel: "asyncio.Queue[dict[str, Any]]") -> None:
        self._channels.append(channel)

    async def receive(self, channel: "asyncio.Queue[dict[str, Any]]") -> dict[str, Any]:
        return await channel.get()

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        await asyncio.sleep(0)
        for channel in self._channels:
            channel.put_nowait(message)


@pytest.fixture
def layer(monkeypatch: pytest.MonkeyPatch) -> Layer:
    layer = Layer()
    monkeypatch.setattr("sessions_app.runs.processes.get_channel_layer", lambda: layer)
    return layer


async def test_a_process_hears_of_what_others_changed_and_not_of_its_own(layer: Layer) -> None:
    here, there = Notifier("here"), Notifier("there")
    async with aclosing(here.listen()) as heard:
        first = asyncio.ensure_future(anext(heard))
        await asyncio.sleep(0)
        here.notify([1])
        there.notify([2, 3])
        async with asyncio.timeout(60):
            assert await first == {2, 3}


async def test_what_changes_while_a_message_is_sent_or_soon_after_goes_with_the_next_one(
    layer: Layer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions_app.runs.processes.PAUSE_SECONDS", 2.0)
    here, there = Notifier("here"), Notifier("there")
    async with aclosing(there.listen()) as heard, asyncio.timeout(60):
        first = asyncio.ensure_future(anext(heard))
        await asyncio.sleep(0)
        here.notify([1])
        await asyncio.sleep(0)
        for session_pk in (3, 2, 3):
            here.notify([session_pk])
        assert await first == {1}
        here.notify([4])
        assert await anext(heard) == {2, 3, 4}


async def test_a_message_that_could_not_be_sent_keeps_none_from_it(
    layer: Layer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(group: str, message: dict[str, Any]) -> None:
        raise OSError

    here, there = Notifier("here"), Notifier("there")
    async with aclosing(there.listen()) as heard, asyncio.timeout(60):
        first = asyncio.ensure_future(anext(heard))
        await asyncio.sleep(0)
        with monkeypatch.context() as patch:
            patch.setattr(layer, "group_send", broken)
            here.notify([1])
            await asyncio.sleep(0.01)
        here.notify([2])
        assert await first == {2}


@pytest.fixture
def elsewhere(left: Run) -> Run:
    """A run of a living process on another machine, after the clock of this one was set an hour forward."""
    Run.objects.update(process="elsewhere", heartbeat_at=timezone.now() - timedelta(hours=1))
    return left


def test_a_lease_that_looks_expired_is_watched_for_as_long_as_a_lease(
    elsewhere: Run, process_lock: ProcessLock, monkeypatch: pytest.MonkeyPatch
) -> None:
    leases = LeaseWatch()
    assert abandoned_runs(process_lock, leases) == []
    monkeypatch.setattr("sessions_app.runs.processes.SURE_SECONDS", 0.0)
    assert abandoned_runs(process_lock, leases) == [elsewhere.pk]


def test_one_that_is_renewed_meanwhile_is_watched_anew(
    elsewhere: Run, process_lock: ProcessLock, monkeypatch: pytest.MonkeyPatch
) -> None:
    leases, moments = LeaseWatch(), iter([0.0, 10.0, 20.0, 30.0])
    monkeypatch.setattr("sessions_app.runs.processes.monotonic", lambda: next(moments))
    assert abandoned_runs(process_lock, leases) == []
    Run.objects.update(heartbeat_at=timezone.now())
    assert abandoned_runs(process_lock, leases) == []
    silence(elsewhere)
    assert abandoned_runs(process_lock, leases) == []
    assert abandoned_runs(process_lock, leases) == []


async def test_a_process_does_not_end_its_own_runs_whose_leases_it_could_not_renew(
    runner: Runner, left: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    await sync_to_async(silence)(left)
    monkeypatch.setattr(runner, "live_runs", {left.pk: None})
    monkeypatch.setattr("sessions_app.runs.processes.SURE_SECONDS", 0.0)
    with mock.patch("sessions_app.runs.run_poller.timezone", now=lambda: timezone.now() - 2 * LEASE):
        await RunPoller(runner).poll(is_heartbeat=True)
    await asyncio.sleep(0.2)
    await left.arefresh_from_db()
    assert left.status == Run.Status.RUNNING
