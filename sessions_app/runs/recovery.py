"""Ends what a dead process left behind."""

from sessions_app.errors import RunError
from sessions_app.models import Run
from sessions_app.runs.settle import close

GONE = RunError(
    "The server stopped while it was answering.", hint="What had arrived is kept. Retry asks the model again."
)


def reap() -> int:
    """Marks runs interrupted whose heartbeat has stopped; answers how many.

    A live process beats far more often than the lease, so a slow one is never taken for dead.
    """
    abandoned = Run.objects.abandoned().values_list("pk", flat=True)
    return sum(close(pk, Run.Status.INTERRUPTED, error=GONE) for pk in list(abandoned))
