"""What a person does to the tree of turns without asking the model: look at another branch, correct an
answer, go on elsewhere. Nothing is ever taken out of the tree."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from django.db import transaction

from sessions_app.errors import RunError, SessionBusy
from sessions_app.models import Run, Session, Turn
from sessions_app.models.branches import newest_leaf
from sessions_app.models.fork import copy_branch
from sessions_app.prompt.turns import TurnKind, model_text

BUSY = SessionBusy("This session is answering.", hint="Wait for the answer or stop it, then try again.")
GONE = RunError("This message is not there any more.", hint="Reload the page.")


@contextmanager
def idle(session_pk: int) -> Iterator[Session]:
    """The session, locked and without an active run, so that no answer grows where nobody looks.

    Raises SessionBusy while it answers.
    """
    with transaction.atomic():
        session = Session.objects.select_for_update(of=("self",)).get(pk=session_pk, deleted_at=None)
        if Run.objects.active_in(session.pk) is not None:
            raise BUSY
        yield session


def switch(session_pk: int, public: UUID) -> Session:
    """Brings the branch through this turn into view, at its newest end. Raises SessionBusy, RunError."""
    with idle(session_pk) as session:
        session.turn_to(newest_leaf(turn_of(session, public)))
    return session


def correct(session_pk: int, public: UUID, text: str) -> Session:
    """Puts a person's wording beside a model's answer. Raises SessionBusy, RunError.

    The new answer has no signature: what the model thought belongs to the words it said.
    """
    with idle(session_pk) as session:
        answer = turn_of(session, public)
        if answer.kind != TurnKind.MODEL_RESPONSE:
            raise RunError("Only an answer can be corrected.", hint="Edit the message instead.")
        value = model_text(str(uuid.uuid4()), text)
        edited = Turn.grow(session, value, parent=answer.parent, run=answer.run)
        Turn.objects.filter(pk=edited.pk).update(edited=True, origin=answer)
        session.turn_to(edited)
    return session


def fork(session_pk: int, public: UUID) -> Session:
    """A new session with the branch up to this turn. Raises RunError when there is no such turn."""
    with transaction.atomic():
        session = Session.objects.get(pk=session_pk, deleted_at=None)
        last = turn_of(session, public)
        if last.kind == TurnKind.FUNCTION_CALLING:
            raise RunError("A call is still without its result here.", hint="Fork after the answer.")
        return copy_branch(session, last)


def turn_of(session: Session, public: UUID) -> Turn:
    """Raises RunError."""
    turn = Turn.objects.filter(session=session, public=public).select_related("parent", "run").first()
    if turn is None:
        raise GONE
    return turn
