"""What a dead process left behind."""

import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import orjson
import pytest
from django.utils import timezone

from sessions_app.models import Run, RunLog, Session, Turn
from sessions_app.prompt.turns import Turn as TurnValue
from sessions_app.prompt.turns import TurnKind, user_task
from sessions_app.runs.presence import Presence
from sessions_app.runs.recovery import reap

CALLS = (
    b'{"role":"model","parts":'
    b'[{"functionCall":{"name":"a","args":{}}},{"functionCall":{"name":"b","args":{}}}]}'
)


@pytest.fixture
def presence(tmp_path: Path) -> Iterator[Presence]:
    presence = Presence(tmp_path)
    yield presence
    presence.leave()


@pytest.fixture
def dead(tmp_path: Path) -> str:
    """The key of a process that is no more: its file lies there and nobody holds its lock."""
    (tmp_path / "dead.lock").touch()
    return "dead"


@pytest.fixture
def left(session: Session) -> Run:
    run = Run.objects.create(session=session, client_id=uuid.uuid4(), status=Run.Status.RUNNING)
    run.trigger = Turn.grow(session, user_task(str(uuid.uuid4()), "hello"), parent=None, run=run)
    run.save()
    return run


def silence(run: Run) -> None:
    Run.objects.update(heartbeat_at=timezone.now() - timedelta(minutes=1))


def test_a_silent_run_becomes_interrupted(left: Run, presence: Presence) -> None:
    silence(left)
    assert reap(presence) == [left.session_id]
    left.refresh_from_db()
    assert left.status == Run.Status.INTERRUPTED and left.error["hint"]


def test_a_run_of_a_dead_process_of_this_machine_is_ended_at_once(
    left: Run, presence: Presence, dead: str
) -> None:
    Run.objects.update(process=dead)
    assert reap(presence) == [left.session_id]


def test_a_run_of_a_living_process_is_left_alone(left: Run, presence: Presence, tmp_path: Path) -> None:
    other = Presence(tmp_path)
    Run.objects.update(process=other.key)
    assert reap(presence) == []
    other.leave()


def test_a_run_of_another_machine_is_left_to_its_lease(left: Run, presence: Presence) -> None:
    Run.objects.update(process="elsewhere")
    assert reap(presence) == []
    silence(left)
    assert reap(presence) == [left.session_id]


def test_half_a_tool_round_is_closed_so_that_the_history_stays_valid(
    left: Run, session: Session, presence: Presence
) -> None:
    value = TurnValue(key=str(uuid.uuid4()), kind=TurnKind.FUNCTION_CALLING, wire=CALLS)
    Turn.grow(session, value, parent=left.trigger, run=left)
    silence(left)
    reap(presence)
    session.refresh_from_db()
    assert session.head is not None and session.head.kind == TurnKind.TOOL_RESPONSE
    assert [part.response["name"] for part in session.head.parts if part.response] == ["a", "b"]


def test_the_end_is_logged_behind_what_the_process_had_written(left: Run, presence: Presence) -> None:
    RunLog.of(left, 0, ["{}", "{}"]).save()
    silence(left)
    reap(presence)
    last = RunLog.objects.order_by("-seq_from")[0]
    event = orjson.loads(last.wires[0])
    assert (event["type"], event["seq"], event["status"]) == ("finished", 2, "interrupted")


def test_reaping_twice_changes_nothing(left: Run, presence: Presence) -> None:
    silence(left)
    reap(presence)
    ended = Run.objects.get().ended_at
    assert reap(presence) == [] and Run.objects.get().ended_at == ended
