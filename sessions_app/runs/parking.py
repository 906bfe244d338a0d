"""A run that waits for a person: its row alone, without a process, a lease or a place.

It is parked by the process that asked, and taken by whichever process sees the last answer: after a restart,
a kill or an hour it goes on as if it had never stopped. While it waits it is the active run of its session,
so that messages queue behind it; it does not count as one of the runs at once, and its limit of seconds
stands still. What a run keeps from its first request (strategy, caches, tools) is kept in the row.
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from time import monotonic
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import DateTimeField, Exists, OuterRef, QuerySet
from django.utils import timezone
from pydantic import BaseModel, TypeAdapter

from sessions_app.context.personal_limits import active_runs, activity_of, check_runs
from sessions_app.errors import OverLimit, RunEnded
from sessions_app.models import Run, ToolCall
from sessions_app.models.prepared import Parameter, Reading
from sessions_app.runs.request.context import FirstRequest

_FIRST: TypeAdapter[FirstRequest] = TypeAdapter(FirstRequest)


class Parked(BaseModel):
    """What a run goes on with: the number of its step, its tools of servers, and what its requests keep."""

    step: int
    tools: list[int] = []
    first: dict[str, Any] | None = None

    @property
    def first_request(self) -> FirstRequest | None:
        return None if self.first is None else _FIRST.validate_python(self.first)


def parked_at(step: int, tools: Collection[int], first: FirstRequest | None) -> Parked:
    kept = None if first is None else _FIRST.dump_python(first, mode="json")
    return Parked(step=step, tools=list(tools), first=kept)


def ask_deadline() -> datetime:
    return timezone.now() + timedelta(minutes=settings.PIPEWEB_MCP_ASK_MINUTES)


@transaction.atomic
def park(run: Run, parked: Parked, turn_pk: int, indices: Collection[int], expires_at: datetime) -> None:
    """Stores the asks, and that the run waits for them. Raises RunEnded."""
    Run.objects.hold(run.pk)
    ToolCall.objects.ask(run.pk, turn_pk, indices, expires_at)
    # Whoever takes it knows its time from rows alone.
    clock_was_set_by = run.seconds_in_rows() - (monotonic() - run.began)
    Run.objects.filter(pk=run.pk).update(
        status=Run.Status.WAITING,
        process="",
        parked=parked.model_dump(mode="json"),
        waiting_since=timezone.now(),
        waited_seconds=run.waited_seconds + clock_was_set_by,
    )


@transaction.atomic
def take(run_pk: int, process: str) -> Run | None:
    """The run, as one of this process, when all of its asks are answered.

    None where it does not wait (another process was first), is to be ended, or still waits: for an answer, or
    for a place among the runs at once of its person, who is asked about no other run meanwhile.
    """
    owner = Run.objects.filter(pk=run_pk, status=Run.Status.WAITING).values("session__owner")[:1]
    person = User.objects.select_for_update(no_key=True).filter(pk__in=owner).first()
    rows = Run.objects.wanted().filter(pk=run_pk, status=Run.Status.WAITING).select_for_update(of=("self",))
    run = rows.select_related("session__owner", "session__assistant", "trigger").first()
    if person is None or run is None or ToolCall.objects.open_asks().filter(run=run).exists():
        return None
    now = timezone.now()
    try:
        check_runs(person.pk, active_runs(activity_of(person.pk, now)))
    except OverLimit:
        return None
    run.waited_seconds += (now - (run.waiting_since or now)).total_seconds()
    run.status, run.process, run.heartbeat_at, run.waiting_since = Run.Status.RUNNING, process, now, None
    run.save(update_fields=["status", "process", "heartbeat_at", "waiting_since", "waited_seconds"])
    return run


class Waiting(BaseModel):
    """Runs that wait: to be ended (nobody wants them any more), late, or answered."""

    to_end: list[int] = []
    late: list[int] = []
    answered: list[int] = []


def read_waiting() -> Waiting:
    """One query, for a poll."""
    found = Waiting()
    for pk, is_open, is_late, is_wanted in _waiting.all(now=timezone.now()):
        if not is_wanted:
            found.to_end.append(pk)
        elif is_late:
            found.late.append(pk)
        elif not is_open:
            found.answered.append(pk)
    return found


def _of_waiting() -> "QuerySet[Run, Any]":
    asks = ToolCall.objects.open_asks().filter(run=OuterRef("pk"))
    late = asks.filter(expires_at__lte=Parameter("now", DateTimeField()))
    waiting = Run.objects.filter(status=Run.Status.WAITING)
    wanted = Run.objects.wanted().filter(pk=OuterRef("pk"))
    asked = waiting.annotate(is_open=Exists(asks), is_late=Exists(late), is_wanted=Exists(wanted))
    return asked.values_list("pk", "is_open", "is_late", "is_wanted")


_waiting: Reading[tuple[int, bool, bool, bool]] = Reading(_of_waiting)


def is_waiting(run_pk: int) -> bool:
    return Run.objects.filter(pk=run_pk, status=Run.Status.WAITING).exists()


def hold_waiting(run_pk: int) -> None:
    """In a transaction: nobody takes it until its end. Raises RunEnded where it does not wait."""
    waiting = Run.objects.select_for_update(of=("self",)).filter(pk=run_pk, status=Run.Status.WAITING)
    if not waiting.values("pk").first():
        raise RunEnded
