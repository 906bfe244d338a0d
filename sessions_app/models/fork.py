"""A session copied from another one: the same contents, stored once, in rows of its own."""

import uuid
from collections.abc import Iterable, Mapping, Sequence

from django.db.models import Model, OuterRef, Subquery, prefetch_related_objects

from sessions_app.models.resources import Reference, Todo
from sessions_app.models.run import Run
from sessions_app.models.session import TITLE_LENGTH, Session
from sessions_app.models.turn import BRANCH, Turn

KEPT = ("purpose", "background", "procedure_id", "assistant_id", "args", "model", "settings", "owner_id")
BESIDE = (Reference, Todo)
"""What lies beside a conversation and goes along as it is now."""


def copy_branch(session: Session, last: Turn) -> Session:
    """A session that begins with the branch up to `last`, in a constant number of statements.

    Contents are shared blobs. Every turn keeps the route that made its signatures, so they go back to
    that route only. Exchanges stay where they were made: they are evidence of that session.
    """
    fork = Session.objects.create(
        title=f"Fork of {session.shown_title}"[:TITLE_LENGTH],
        forked_from=session,
        temporary=session.temporary,
        **{name: getattr(session, name) for name in KEPT},
    )
    fork.roles.set(session.roles.all())
    branch = list(Turn.objects.raw(BRANCH, [last.pk, 0]))
    prefetch_related_objects(branch, "run")
    runs = _copy_runs(fork, [turn.run for turn in branch if turn.run is not None])
    copies = _copy_turns(fork, branch, runs)
    _copy_beside(session, fork)
    fork.advance(copies[-1])
    return fork


def _copy_runs(fork: Session, runs: Iterable[Run]) -> dict[int, Run]:
    """Original key → copy. A run that is going on leaves what it has written so far: stopped."""
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
            **turn.marks,
        )
        for turn in branch
    )
    # One branch: the turn above is the one of the depth above.
    above = Turn.objects.filter(session=fork, depth=OuterRef("depth") - 1)
    Turn.objects.filter(session=fork).update(parent=Subquery(above.values("pk")[:1]))
    tasks = [copy for copy in copies if copy.run and copy.kind == Turn.Kind.USER_TASK]
    for task in tasks:
        assert task.run is not None
        task.run.trigger = task
    Run.objects.bulk_update([task.run for task in tasks if task.run], ["trigger"])
    return copies


def _copy_beside(session: Session, fork: Session) -> None:
    for kind in BESIDE:
        rows: list[Model] = list(kind.objects.filter(session=session).order_by("pk"))
        for row in rows:
            row.pk, row._state.adding = None, True
            row.session = fork  # type: ignore[attr-defined]
        kind.objects.bulk_create(rows)  # type: ignore[arg-type]
