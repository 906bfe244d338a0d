"""The end of a run that has its answer: its status, its last event, and what follows it."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from sessions_app.errors import RunEnded
from sessions_app.events import Finished
from sessions_app.models import Exchange, QueuedMessage, Run, RunLog
from sessions_app.models.prepared import Change, insert, parameter, update
from sessions_app.models.run import RUN
from sessions_app.prompt.reply import Outcome
from sessions_app.runs.continuation import Following, plan_following
from sessions_app.runs.history_drops import carry_out_drops


@dataclass(frozen=True, slots=True)
class LastEvent:
    """The number of the last event of a run, and the words of its answer."""

    seq: int
    words: int


class Completion(NamedTuple):
    """The last event, as it is logged, and the run that follows, if any."""

    finished: Finished
    following: Following | None


@transaction.atomic
def complete_run(run: Run, outcome: Outcome, last: LastEvent, exchange: Exchange) -> Completion:
    """Ends a run whose answer is stored already. Raises RunEnded."""
    mark_completed(run, outcome)
    # Whoever queues a message holds the run: it is seen here, or finds a run that is over.
    waiting = QueuedMessage.objects.filter(session_id=run.session_id).count()
    completion = note_completion(run, outcome, last, exchange, waiting)
    update(exchange, "stages")
    carry_out_drops(run)
    return completion


def mark_completed(run: Run, outcome: Outcome) -> None:
    """Holds the run like `RunQuerySet.hold`, and ends it with the transaction. Raises RunEnded."""
    if not _completed.run(run=run.pk, outcome=outcome.value, ended_at=timezone.now()):
        raise RunEnded


def _completing() -> tuple["QuerySet[Run]", dict[str, Any]]:
    given = {name: parameter(Run, name) for name in ("outcome", "ended_at")}
    return Run.objects.active().filter(pk=RUN), {"status": Run.Status.COMPLETED, **given}


_completed = Change(_completing)


def note_completion(
    run: Run, outcome: Outcome, last: LastEvent, exchange: Exchange, waiting: int
) -> Completion:
    """Logs the last event and decides what follows, as a stage of the run's last exchange that is not saved.

    `waiting` is the number of queued messages, counted since the run was marked as completed.
    """
    finished = log_end(run, Run.Status.COMPLETED, last)
    following = plan_following(run, Run.Status.COMPLETED, outcome.value, exchange, waiting)
    return Completion(finished, following)


def log_end(run: Run, status: Run.Status, last: LastEvent) -> Finished:
    finished = Finished(run=run.public, seq=last.seq, status=status.value, words=last.words)
    insert(RunLog.of(run, last.seq, [finished.wire()]))
    return finished
