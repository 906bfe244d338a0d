"""Ends runs whatever their rows hold, and when the database takes writes again."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar
from uuid import UUID

import structlog
from django.db import DatabaseError, transaction
from django.db.models import Max
from django.utils import timezone

from sessions_app.errors import PipewebError, RunError
from sessions_app.events import Finished
from sessions_app.metrics import count_end
from sessions_app.models import Exchange, Run, RunLog
from sessions_app.prompt.caching import VerdictCode
from sessions_app.runs.background import isolated, report
from sessions_app.runs.recorder import close_run
from sessions_app.runs.run_streams import LiveRun
from sessions_app.runs.writer import Writer
from sessions_app.storage_errors import is_temporary, refusal_of

UNKNOWN = RunError(
    "Something went wrong on our side.", hint="What had arrived is kept. The details are in the server log."
)

RETRY_SECONDS = 1.0

End = TypeVar("End")

log = structlog.get_logger("pipeweb.runs")


def end_run(
    run_pk: int, status: Run.Status, *, outcome: str = "", error: PipewebError | None = None
) -> Finished | None:
    """Ends an active run as `close_run` does; if that cannot be, by plain UPDATEs. None when it has ended.

    Whoever ends it, the process counts it. Raises DatabaseError when the database is away, locked or full.
    """
    finished = _end(run_pk, status, outcome, error)
    if finished is not None:
        count_end(finished.status, None if error is UNKNOWN else error)
    return finished


def _end(run_pk: int, status: Run.Status, outcome: str, error: PipewebError | None) -> Finished | None:
    try:
        return close_run(run_pk, status, outcome=outcome, error=error)
    except Exception as failure:
        if is_temporary(failure):
            raise
        log.exception("close_failed", run=run_pk)
    return _end_plainly(run_pk, status, outcome, error)


async def store_end(
    live: LiveRun, writer: Writer, end: Callable[[], Awaitable[End]], *, gives_up: Callable[[], bool]
) -> End:
    """Stores what arrived, then the end; waits while the database is away, locked, full or read-only."""
    shown = ""
    while True:
        try:
            await writer.flush()
            return await end()
        except DatabaseError as error:
            if gives_up() or not is_temporary(error):
                raise
            report("end_waits", error, run=str(live.public))
            refused = refusal_of(error)
            if refused is not None and refused.state != shown:
                shown = refused.state
                live.show_status(f"{shown} What has arrived is kept until it can be saved.")
        await asyncio.sleep(RETRY_SECONDS)


def failure_of(error: Exception) -> PipewebError:
    """What an unexpected error is for the person."""
    return refusal_of(error) or UNKNOWN


def _end_plainly(
    run_pk: int, status: Run.Status, outcome: str, error: PipewebError | None
) -> Finished | None:
    """Reads no column of the run that may be damaged, and stores no text that may be refused."""
    told = {"kind": type(error).__name__} if error else {}
    active = Run.objects.active().filter(pk=run_pk)
    if not active.update(status=status, outcome=outcome, error=told, ended_at=timezone.now()):
        return None
    with isolated("exchanges_not_ended", run=run_pk):
        Exchange.objects.filter(run=run_pk, ended_at=None).update(
            ended_at=timezone.now(), verdict=VerdictCode.UNKNOWN.value
        )
    # A run whose public id cannot be read has no viewers.
    finished = Finished(run=UUID(int=0), seq=0, status=status.value)
    with isolated("end_not_logged", run=run_pk), transaction.atomic():
        last = RunLog.objects.filter(run=run_pk).aggregate(last=Max("seq_to"))["last"]
        public = Run.objects.values_list("public", flat=True).get(pk=run_pk)
        seq = 0 if last is None else last + 1
        finished = finished.model_copy(update={"run": public, "seq": seq})
        RunLog.of(Run(pk=run_pk), seq, [finished.wire()]).save(force_insert=True)
    return finished
