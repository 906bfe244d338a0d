"""A branch beside the one in view: copies of its later turns below another place in the tree."""

from collections.abc import Sequence
from typing import Any

from django.db.models import F, OuterRef, Subquery
from django.db.models.functions import Coalesce

from sessions_app.models.blob import Blob, digest
from sessions_app.models.session import Session
from sessions_app.models.turn import MARKS, Turn
from sessions_app.prompt import turns as prompt_turns

KEPT = ("session_id", "content_id", "text", "run_id", "exchange_id", *MARKS)


def copy_of(turn: Turn) -> Turn:
    """The same content for another place, not saved yet; it stands for the turn it was first copied from."""
    values: dict[str, Any] = {name: getattr(turn, name) for name in KEPT}
    return Turn(**values, origin_id=turn.origin_id or turn.pk)


def stand_in(session: Session, value: prompt_turns.Turn, **facts: Any) -> Turn:
    """A new content for the place of old turns, not saved yet."""
    return fill(session, Turn(session=session, **facts), value)


def fill(session: Session, turn: Turn, value: prompt_turns.Turn) -> Turn:
    """Gives an unsaved turn this content."""
    blobs = Blob.objects.keep(session.owner_id, [value.wire])
    turn.kind, turn.content_id = value.kind.value, blobs[digest(value.wire)]
    turn.text = prompt_turns.text_of(value.wire).replace("\0", "")
    return turn


def regrow(session: Session, parent: Turn | None, turns: Sequence[Turn]) -> None:
    """Saves unsaved turns one below the other, the first below `parent`, and brings that branch into view.

    Three statements, however many turns. The session must be locked: nothing else may grow meanwhile.
    """
    depth = parent.depth + 1 if parent else 0
    for place, turn in enumerate(turns):
        turn.depth, turn.parent = depth + place, None if place else parent
    if turns:
        _link(session, Turn.objects.bulk_create(turns)[0])
    session.turn_to(turns[-1] if turns else parent)


def _link(session: Session, first: Turn) -> None:
    """Puts each new turn below the one before it, at the time when its origin was said.

    In a locked session the new turns are one branch, and chunks are named after times.
    """
    ours = Turn.objects.filter(session=session, pk__gte=first.pk)
    above = ours.filter(depth=OuterRef("depth") - 1).values("pk")[:1]
    origin = Turn.objects.filter(pk=OuterRef("origin_id")).values("created_at")
    ours.update(
        parent=Coalesce(Subquery(above), F("parent")),
        created_at=Coalesce(Subquery(origin), F("created_at")),
    )
