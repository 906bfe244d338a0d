"""Branches of the tree of turns: siblings and leaves; copies below another turn or in a new session."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connections
from django.db.models import BigIntegerField, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from sessions_app.models.blob import Blob, digest
from sessions_app.models.prepared import Parameter, Reading
from sessions_app.models.related import attach
from sessions_app.models.run import Run
from sessions_app.models.session import Session
from sessions_app.models.titles import TITLE_LENGTH
from sessions_app.models.turn import MARKS, Turn, searched_text
from sessions_app.models.turn_statements import BRANCH
from sessions_app.prompt import turns as prompt_turns

NEWEST_BELOW = """
WITH RECURSIVE below(id) AS (
    SELECT id FROM sessions_app_turn WHERE id = %s
    UNION ALL
    SELECT turn.id FROM sessions_app_turn turn JOIN below ON turn.parent_id = below.id
)
SELECT max(id) FROM below
"""
"""Keys grow with time, so the largest below a turn is a leaf."""


@dataclass(frozen=True, slots=True)
class BranchChoice:
    """A turn's place among its siblings: branch `position` of `count`."""

    position: int
    count: int
    previous: UUID | None
    next: UUID | None


def head_of(session_pk: int) -> Turn | None:
    """The session's head, read again: one query."""
    return _heads.first(session=session_pk)


def _head_query() -> "QuerySet[Turn]":
    session = Session.objects.filter(pk=Parameter("session", BigIntegerField()))
    return Turn.objects.filter(pk__in=session.values("head")).defer("text")


_heads: Reading[Turn] = Reading(_head_query)


def newest_leaf(turn: Turn) -> Turn:
    """The newest leaf below this turn, or the turn itself."""
    with connections[Turn.objects.db].cursor() as cursor:
        cursor.execute(NEWEST_BELOW, [turn.pk])
        (found,) = cursor.fetchone()
    return turn if found == turn.pk else Turn.objects.get(pk=found)


def is_on_branch(turn: Turn, head_id: int | None) -> bool:
    """Whether the turn is on the branch that ends at this head."""
    walk = Turn.objects.raw(BRANCH, [head_id, turn.depth]) if head_id else ()
    return any(passed.pk == turn.pk for passed in walk)


def choices_of(turns: Iterable[Turn]) -> Mapping[int, BranchChoice]:
    """The place of each turn that has siblings, by primary key: one query."""
    shown = list(turns)
    if not shown:
        return {}
    parents = Q(parent__in={turn.parent_id for turn in shown if turn.parent_id})
    roots = _roots_beside(shown[0]) if shown[0].parent_id is None else Q()
    families: dict[int | None, list[tuple[int, UUID]]] = {}
    rows = Turn.objects.filter(parents | roots).order_by("pk").values_list("parent_id", "pk", "public")
    for parent, pk, public in rows:
        families.setdefault(parent, []).append((pk, public))
    found = ((turn.pk, _choice(turn, families[turn.parent_id])) for turn in shown)
    return {pk: choice for pk, choice in found if choice.count > 1}


def _roots_beside(turn: Turn) -> Q:
    """The first turns of the session; in a captured one those of the same agent."""
    roots = Q(session=turn.session_id, parent=None)
    return roots & Q(run__lane=turn.run.lane) if turn.run is not None and turn.run.lane else roots


def _choice(turn: Turn, family: list[tuple[int, UUID]]) -> BranchChoice:
    index = next(index for index, (pk, _) in enumerate(family) if pk == turn.pk)
    names = [public for _, public in family]
    return BranchChoice(
        position=index + 1,
        count=len(family),
        previous=names[index - 1] if index else None,
        next=names[index + 1] if index + 1 < len(names) else None,
    )


COPIED_TURN_FIELDS = ("session_id", "content_id", "text", "run_id", "exchange_id", *MARKS)


def copy_of(turn: Turn) -> Turn:
    """An unsaved copy; its origin is the turn it was first copied from."""
    values: dict[str, Any] = {name: getattr(turn, name) for name in COPIED_TURN_FIELDS}
    return Turn(**values, origin_id=turn.origin_id or turn.pk)


def substitute(session: Session, value: prompt_turns.Turn, **facts: Any) -> Turn:
    """An unsaved turn with new content that replaces old turns."""
    return filled_content(session, Turn(session=session, **facts), value)


def filled_content(session: Session, turn: Turn, value: prompt_turns.Turn) -> Turn:
    """Sets the content of an unsaved turn and returns it."""
    blobs = Blob.objects.store(session.owner_id, [value.wire])
    turn.kind, turn.content_id = value.kind.value, blobs[digest(value.wire)]
    turn.text = searched_text(turn.kind, value.wire)
    turn.citations = turn.fit = {}
    return turn


def copy_branch_below(session: Session, parent: Turn | None, turns: Sequence[Turn]) -> None:
    """Saves turns as a chain below `parent` and makes it the branch in view, in three statements.

    The session must be locked.
    """
    depth = parent.depth + 1 if parent else 0
    for place, turn in enumerate(turns):
        turn.depth, turn.parent = depth + place, None if place else parent
    if turns:
        _set_parents(session, Turn.objects.bulk_create(turns)[0])
    session.switch_branch(turns[-1] if turns else parent)


def _set_parents(session: Session, first: Turn) -> None:
    """Sets each new turn's parent to the one of the depth above, and its time to that of its origin.

    History chunks are named after these times.
    """
    ours = Turn.objects.filter(session=session, pk__gte=first.pk)
    above = ours.filter(depth=OuterRef("depth") - 1).values("pk")[:1]
    origin = Turn.objects.filter(pk=OuterRef("origin_id")).values("created_at")
    ours.update(
        parent=Coalesce(Subquery(above), F("parent")),
        created_at=Coalesce(Subquery(origin), F("created_at")),
    )


COPIED_SESSION_FIELDS = (
    "purpose",
    "background",
    "procedure_id",
    "assistant_id",
    "args",
    "model",
    "settings",
    "owner_id",
    "folder_id",
)


def copy_session(session: Session, last: Turn) -> Session:
    """A new session with the branch up to `last`, in a constant number of statements.

    Blobs are shared, exchanges are not copied. Every turn keeps its route, so signatures go back to that
    route only. `panels.row_transfer` copies the rows of panels.
    """
    fork = Session.objects.create(
        title=f"Fork of {session.shown_title}"[:TITLE_LENGTH],
        forked_from=session,
        temporary=session.temporary,
        **{name: getattr(session, name) for name in COPIED_SESSION_FIELDS},
    )
    fork.roles.set(session.roles.all())
    branch = list(Turn.objects.raw(BRANCH, [last.pk, 0]))
    attach(branch, "run")
    runs = _copy_runs(fork, [turn.run for turn in branch if turn.run is not None])
    copies = _copy_turns(fork, branch, runs)
    fork.advance(copies[-1])
    return fork


def _copy_runs(fork: Session, runs: Iterable[Run]) -> dict[int, Run]:
    """Copies by original key; the copy of an active run is stopped."""
    distinct = {run.pk: run for run in runs}
    copies = Run.objects.bulk_create(
        Run(
            session=fork,
            client_id=uuid.uuid4(),
            status=Run.Status.STOPPED if run.is_active else run.status,
            outcome=run.outcome,
            error=run.error,
            now=run.now,
            ended_at=run.ended_at,
            continuations=run.continuations,
        )
        for run in distinct.values()
    )
    return dict(zip(distinct, copies, strict=True))


def _copy_turns(fork: Session, branch: Sequence[Turn], runs: Mapping[int, Run]) -> list[Turn]:
    copies = Turn.objects.bulk_create(
        Turn(
            session=fork,
            depth=turn.depth,
            content_id=turn.content_id,
            text=turn.text,
            run=runs.get(turn.run_id or 0),
            **turn.marks_elsewhere,
        )
        for turn in branch
    )
    above = Turn.objects.filter(session=fork, depth=OuterRef("depth") - 1)
    Turn.objects.filter(session=fork).update(parent=Subquery(above.values("pk")[:1]))
    tasks = [copy for copy in copies if copy.run and copy.kind == Turn.Kind.USER_TASK]
    for task in tasks:
        assert task.run is not None
        task.run.trigger = task
    Run.objects.bulk_update([task.run for task in tasks if task.run], ["trigger"])
    return copies
