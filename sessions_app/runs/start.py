"""How a run comes into being: checked, recorded and idempotent before anything is sent."""

import uuid
from collections.abc import Callable
from uuid import UUID

from django.db import IntegrityError, transaction

from sessions_app.errors import RunError, SessionBusy
from sessions_app.models import QueuedMessage, Run, Session, Turn
from sessions_app.prompt.turns import user_task

QUEUE_LIMIT = 20
"""Messages that may wait in one session."""

BUSY = SessionBusy(
    "This session is already answering.", hint="Wait for the answer or stop it, then try again."
)


def start_send(session_pk: int, client_id: UUID, text: str, process: str) -> Run | None:
    """A new run for a user task below the head; None when the message was queued or is known already.

    Raises RunError when too many messages wait.
    """
    while True:
        try:
            return _begin(session_pk, client_id, process, lambda run: _new_task(run, text))
        except SessionBusy:
            if _is_known(session_pk, client_id):
                return None
            _queue(session_pk, client_id, text)
        # The run may have ended before it could see the message that waits for its end.
        if Run.objects.active_in(session_pk) is not None:
            return None


def start_retry(session_pk: int, client_id: UUID, earlier: UUID, process: str) -> Run | None:
    """A run that answers an earlier run's trigger once more, as a sibling of the earlier answer.

    None when the client id is known already. Raises SessionBusy, RunError.
    """
    if _is_known(session_pk, client_id):
        return None
    return _begin(session_pk, client_id, process, lambda run: _same_task(run, earlier))


def start_next(session_pk: int, process: str) -> Run | None:
    """A run for the oldest waiting message, if there is one and the session is free."""
    message = QueuedMessage.objects.filter(session_id=session_pk).first()
    return start_send(session_pk, message.client_id, message.text, process) if message else None


def _is_known(session_pk: int, client_id: UUID) -> bool:
    return Run.objects.filter(session_id=session_pk, client_id=client_id).exists()


def _begin(session_pk: int, client_id: UUID, process: str, find_trigger: Callable[[Run], Turn]) -> Run:
    """Raises SessionBusy: the constraint of the database decides, whatever raced."""
    try:
        with transaction.atomic():
            sessions = Session.objects.select_for_update(of=("self",)).select_related("head")
            session = sessions.get(pk=session_pk, deleted_at=None)
            run = Run.objects.create(
                session=session, client_id=client_id, status=Run.Status.RUNNING, process=process
            )
            run.trigger = find_trigger(run)
            run.save(update_fields=["trigger"])
            return run
    except IntegrityError as error:
        raise BUSY from error
    except Session.DoesNotExist as error:
        raise RunError("This session has been deleted.", hint="Start a new one.") from error


def _new_task(run: Run, text: str) -> Turn:
    session = run.session
    QueuedMessage.objects.filter(session=session, client_id=run.client_id).delete()
    session.entitle(text)
    return Turn.grow(session, user_task(str(uuid.uuid4()), text), parent=session.head, run=run)


def _same_task(run: Run, earlier: UUID) -> Turn:
    repeated = Run.objects.filter(session=run.session, public=earlier).select_related("trigger").first()
    if repeated is None or repeated.trigger is None:
        raise RunError("There is no such run to repeat.", hint="Reload the page.")
    run.session.advance(repeated.trigger)
    return repeated.trigger


def _queue(session_pk: int, client_id: UUID, text: str) -> None:
    waiting = QueuedMessage.objects.filter(session_id=session_pk)
    if waiting.exclude(client_id=client_id).count() >= QUEUE_LIMIT:
        raise RunError(f"{QUEUE_LIMIT} messages wait already.", hint="Wait for an answer, or withdraw one.")
    waiting.get_or_create(client_id=client_id, session_id=session_pk, defaults={"text": text})
