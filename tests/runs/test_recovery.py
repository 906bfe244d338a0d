"""What a dead process left behind."""

import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from sessions_app.models import Run, Session, Turn
from sessions_app.prompt.turns import Turn as TurnValue
from sessions_app.prompt.turns import TurnKind, user_task
from sessions_app.runs.recovery import reap

CALLS = b'{"role":"model","parts":[{"functionCall":{"name":"a","args":{}}},{"functionCall":{"name":"b","args":{}}}]}'


@pytest.fixture
def abandoned(session: Session) -> Run:
    run = Run.objects.create(session=session, client_id=uuid.uuid4(), status=Run.Status.RUNNING)
    run.trigger = Turn.grow(session, user_task(str(uuid.uuid4()), "hello"), parent=None, run=run)
    run.heartbeat_at = timezone.now() - timedelta(minutes=1)
    run.save()
    return run


def test_a_silent_run_becomes_interrupted(abandoned: Run) -> None:
    assert reap() == 1
    abandoned.refresh_from_db()
    assert abandoned.status == Run.Status.INTERRUPTED and abandoned.error["hint"]


def test_a_run_that_still_beats_is_left_alone(abandoned: Run) -> None:
    abandoned.beat()
    assert reap() == 0


def test_half_a_tool_round_is_closed_so_that_the_history_stays_valid(abandoned: Run, session: Session) -> None:
    value = TurnValue(key=str(uuid.uuid4()), kind=TurnKind.FUNCTION_CALLING, wire=CALLS)
    Turn.grow(session, value, parent=abandoned.trigger, run=abandoned)
    reap()
    session.refresh_from_db()
    assert session.head is not None and session.head.kind == TurnKind.TOOL_RESPONSE
    assert [part.response["name"] for part in session.head.parts if part.response] == ["a", "b"]


def test_reaping_twice_changes_nothing(abandoned: Run) -> None:
    reap()
    ended = Run.objects.get().ended_at
    assert reap() == 0 and Run.objects.get().ended_at == ended
