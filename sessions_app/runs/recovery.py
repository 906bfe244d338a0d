"""Ends what a dead process left behind, and finds what it left waiting."""

from django.db.models import OuterRef, Subquery
from django.utils import timezone

from sessions_app.errors import RunError
from sessions_app.instruments import RUNS_ENDED
from sessions_app.models import QueuedMessage, Run
from sessions_app.models.run import LEASE
from sessions_app.runs.presence import Presence
from sessions_app.runs.settle import close

GONE = RunError(
    "The server stopped while it was answering.", hint="What had arrived is kept. Retry asks the model again."
)


def reap(presence: Presence) -> list[int]:
    """Marks the runs of dead processes interrupted; answers the keys of their sessions.

    A process of this machine is known to be dead by its lock at once; one of another machine by its
    lease, which a living process renews far more often.
    """
    dead = presence.dead()
    silent = set(Run.objects.abandoned().values_list("pk", flat=True))
    left = Run.objects.active().filter(process__in=dead).values_list("pk", flat=True)
    ended = [pk for pk in {*silent, *left} if close(pk, Run.Status.INTERRUPTED, error=GONE) is not None]
    RUNS_ENDED.labels(status=Run.Status.INTERRUPTED.value).inc(len(ended))
    for key in dead:
        presence.forget(key)
    return list(Run.objects.filter(pk__in=ended).values_list("session_id", flat=True))


def stranded() -> list[int]:
    """Sessions whose messages wait although the last run was answered: its process died before it could go
    on. One query. After a stop or a failure messages wait for the person."""
    newest = Run.objects.filter(session=OuterRef("session")).order_by("-pk").values("status")[:1]
    waiting = QueuedMessage.objects.filter(queued_at__lt=timezone.now() - LEASE, session__deleted_at=None)
    left = waiting.alias(last=Subquery(newest)).filter(last=Run.Status.COMPLETED).order_by("session")
    return list(left.values_list("session", flat=True).distinct())
