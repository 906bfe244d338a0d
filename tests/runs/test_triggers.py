"""What a command names is looked for in its own session."""

import uuid
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User

from sessions_app.errors import RunError
from sessions_app.models import Notification, QueuedMessage, Run, Session, Turn
from sessions_app.prompt.turns import TurnKind
from sessions_app.runs.start import start_edit, start_resume, start_retry, start_send
from sessions_app.runs.triggers import withdraw
from tests import factories

Names = Callable[[Session, Turn], Run | None]


@pytest.fixture
def session(alice: User) -> Session:
    session = factories.make_session(alice)
    factories.make_history(session, 1)
    return session


@pytest.fixture
def other(alice: User) -> Session:
    """With a message, a tool round and an answer."""
    session = factories.make_session(alice)
    factories.play_flight(session)
    return session


def retry_of_message(session: Session, turn: Turn) -> Run | None:
    return start_retry(session.pk, uuid.uuid4(), uuid.uuid4(), "here", turn.public)


def retry_of_run(session: Session, turn: Turn) -> Run | None:
    assert turn.run
    return start_retry(session.pk, uuid.uuid4(), turn.run.public, "here")


def edit(session: Session, turn: Turn) -> Run | None:
    return start_edit(session.pk, uuid.uuid4(), turn.public, "Other words", "here")


def resume(session: Session, turn: Turn) -> Run | None:
    return start_resume(session.pk, uuid.uuid4(), turn.public, "here")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        (retry_of_message, TurnKind.USER_TASK),
        (retry_of_run, TurnKind.USER_TASK),
        (edit, TurnKind.USER_TASK),
        (resume, TurnKind.TOOL_RESPONSE),
    ],
)
def test_a_turn_of_another_session_is_not_found(
    session: Session, other: Session, name: Names, kind: TurnKind
) -> None:
    turn = Turn.objects.filter(session=other, kind=kind).latest("pk")
    with pytest.raises(RunError):
        name(session, turn)
    assert Run.objects.active_in(session.pk) is None
    run = name(other, turn)
    assert run is not None and run.session_id == other.pk


def queued(session: Session, client_id: uuid.UUID) -> None:
    QueuedMessage.objects.create(session=session, client_id=client_id, text="Later")
    Notification.objects.add(session.pk, Notification.Kind.USER_MESSAGE, "Later", source=str(client_id))


def in_queue(session: Session) -> tuple[int, int]:
    """Messages and their notifications."""
    told = Notification.objects.filter(session=session, kind=Notification.Kind.USER_MESSAGE)
    return QueuedMessage.objects.filter(session=session).count(), told.count()


def test_a_message_leaves_the_queue_of_its_own_session(session: Session, other: Session) -> None:
    """A page chooses the id: nothing keeps two sessions from having the same."""
    first, second = uuid.uuid4(), uuid.uuid4()
    for chat in (session, other):
        queued(chat, first)
        queued(chat, second)
    assert start_send(session.pk, first, "Now", "here") is not None
    withdraw(session.pk, second)
    assert in_queue(session)[0] == 0
    assert in_queue(other) == (2, 2)


def test_only_what_is_withdrawn_leaves_the_queue(session: Session) -> None:
    first, second = uuid.uuid4(), uuid.uuid4()
    queued(session, first)
    queued(session, second)
    withdraw(session.pk, first)
    assert in_queue(session) == (1, 1)
