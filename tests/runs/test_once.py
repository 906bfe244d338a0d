"""The same command twice: a page sends it again after a reconnect, maybe to another process."""

import uuid
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User

from sessions_app.errors import SessionBusy
from sessions_app.models import Run, Session, Turn
from sessions_app.prompt.turns import TurnKind
from sessions_app.runs import once
from sessions_app.runs.start import start_edit, start_resume, start_retry
from tests import factories

Begin = Callable[[Session, uuid.UUID], Run | None]


@pytest.fixture
def session(alice: User) -> Session:
    session = factories.make_session(alice)
    factories.play_flight(session)
    return session


def turn_of(session: Session, kind: TurnKind) -> uuid.UUID:
    return Turn.objects.filter(session=session, kind=kind).latest("pk").public


def retry(session: Session, client_id: uuid.UUID) -> Run | None:
    turn = turn_of(session, TurnKind.USER_TASK)
    return start_retry(session.pk, client_id, uuid.uuid4(), "here", turn)


def edit(session: Session, client_id: uuid.UUID) -> Run | None:
    return start_edit(session.pk, client_id, turn_of(session, TurnKind.USER_TASK), "Other words", "here")


def resume(session: Session, client_id: uuid.UUID) -> Run | None:
    return start_resume(session.pk, client_id, turn_of(session, TurnKind.TOOL_RESPONSE), "here")


@pytest.mark.parametrize("begin", [retry, edit, resume])
def test_what_another_process_begins_meanwhile_is_no_error(
    session: Session, begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    client_id, known = uuid.uuid4(), iter([False, True])
    assert begin(session, client_id) is not None
    with monkeypatch.context() as patch:
        # It looks before the other process has stored the run, and after.
        patch.setattr(once, "is_known", lambda *_: next(known))
        assert begin(session, client_id) is None
    assert Run.objects.filter(client_id=client_id).count() == 1
    with pytest.raises(SessionBusy):
        begin(session, uuid.uuid4())
