"""How a run comes into being: checked, recorded and idempotent before anything is sent."""

import uuid
from collections.abc import Callable
from uuid import UUID

from django.db import IntegrityError, transaction

from sessions_app.errors import RunError, SessionBusy
from sessions_app.models import Run, Session, Turn
from sessions_app.prompt.turns import user_task

BUSY = SessionBusy("This session is already answering.", hint="Wait for the answer or stop it, then send again.")


def start_send(session_pk: int, client_id: UUID, text: str) -> tuple[Run, bool]:
    """A run for a new user task below the head; (run, is_new).

    The same client id answers the run it made before. Raises SessionBusy.
    """
    return _once(session_pk, client_id, lambda session: _new_task(session, text))


def start_retry(session_pk: int, client_id: UUID, earlier: UUID) -> tuple[Run, bool]:
    """A run that answers an earlier run's trigger once more, as a sibling of the earlier answer."""
    return _once(session_pk, client_id, lambda session: _same_task(session, earlier))


def _once(session_pk: int, client_id: UUID, find_trigger: Callable[[Session], Turn]) -> tuple[Run, bool]:
    known = Run.objects.filter(session_id=session_pk, client_id=client_id)
    if (run := known.first()) is not None:
        return run, False
    try:
        with transaction.atomic():
            session = Session.objects.select_for_update().get(pk=session_pk)
            run = Run.objects.create(session=session, client_id=client_id, status=Run.Status.RUNNING)
            run.trigger = trigger = find_trigger(session)
            Turn.objects.filter(pk=trigger.pk, run=None).update(run=run)
            run.save(update_fields=["trigger"])
            return run, True
    except IntegrityError as error:
        if (run := known.first()) is not None:
            return run, False
        raise BUSY from error


def _new_task(session: Session, text: str) -> Turn:
    session.entitle(text)
    return Turn.grow(session, user_task(str(uuid.uuid4()), text), parent=session.head)


def _same_task(session: Session, earlier: UUID) -> Turn:
    run = Run.objects.filter(session=session, public=earlier).select_related("trigger").first()
    if run is None or run.trigger is None:
        raise RunError("There is no such run to repeat.", hint="Reload the page.")
    session.advance(run.trigger)
    return run.trigger
