"""The end of a run that has its answer: its status, its last event, and what follows it."""

from dataclasses import dataclass
from typing import NamedTuple

from django.db import transaction
from django.utils import timezone

from sessions_app.errors import RunEnded
from sessions_app.events import Finished
from sessions_app.models import Exchange, QueuedMessage, Run, RunLog, Session
from sessions_app.prompt.reply import Outcome
from sessions_app.runs.continuation import Following, plan_following


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
    # Whoever queues a message holds this lock: it is seen here, or finds a run that is over.
    Session.objects.select_for_update(no_key=True).filter(pk=run.session_id).values_list("pk").first()
    completion = note_completion(run, outcome, last, exchange)
    exchange.save(update_fields=["stages"])
    return completion


def mark_completed(run: Run, outcome: Outcome) -> None:
    """Holds the run like `RunQuerySet.hold`, and ends it with the transaction. Raises RunEnded."""
    ended = Run.objects.active().filter(pk=run.pk)
    if not ended.update(status=Run.Status.COMPLETED, outcome=outcome.value, ended_at=timezone.now()):
        raise RunEnded


def note_completion(run: Run, outcome: Outcome, last: LastEvent, exchange: Exchange) -> Completion:
    """Logs the last event and decides what follows, as a stage of the run's last exchange that is not saved.

    The session has to be locked by the transaction.
    """
    finished = log_end(run, Run.Status.COMPLETED, last)
    waiting = QueuedMessage.objects.filter(session_id=run.session_id).count()
    following = plan_following(run, Run.Status.COMPLETED, outcome.value, exchange, waiting)
    return Completion(finished, following)


def log_end(run: Run, status: Run.Status, last: LastEvent) -> Finished:
    finished = Finished(run=run.public, seq=last.seq, status=status.value, words=last.words)
    RunLog.of(run, last.seq, [finished.wire()]).save(force_insert=True)
    return finished
