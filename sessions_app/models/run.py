"""Runs, their logs of events, and messages that wait for a run to end."""

import uuid
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

from django.db import connections, models
from django.db.models import Min, Q, Sum
from django.utils import timezone

from sessions_app.errors import GatewayError, NoAnswer, PipewebError, RequestRefused, RunEnded
from sessions_app.models.columns import ErrorKind, storable_json
from sessions_app.models.execution import append
from sessions_app.models.instances import new
from sessions_app.models.prepared import Parameter, Reading
from sessions_app.prompt.turns import TurnKind

if TYPE_CHECKING:
    from sessions_app.models.turn import Turn

LEASE = timedelta(seconds=15)
"""A run without a heartbeat for this long has lost its process."""

LARGEST_SKEW = timedelta(hours=1)
"""The most by which the clocks of two machines may differ."""


class RunQuerySet(models.QuerySet["Run"]):
    def active(self) -> Self:
        return self.filter(status__in=Run.ACTIVE)

    def wanted(self) -> Self:
        """Active runs that nobody has stopped, of chats outside the trash whose people may use the system."""
        wanted = self.filter(session__deleted_at=None, session__owner__is_active=True)
        return wanted.active().filter(stop_requested=False)

    def active_in(self, session_pk: int) -> uuid.UUID | None:
        """The public id of the session's active run."""
        return self.active().filter(session_id=session_pk).values_list("public", flat=True).first()

    def abandoned(self) -> Self:
        """Active runs without a heartbeat; a damaged time may lie in the future."""
        now = timezone.now()
        return self.silent(now - LEASE, now + LARGEST_SKEW)

    def silent(self, since: "datetime | Parameter", until: "datetime | Parameter") -> Self:
        """Active runs whose last heartbeat lies outside of these times."""
        outside = Q(heartbeat_at__lt=since) | Q(heartbeat_at__gt=until)
        return self.filter(outside, status__in=Run.WORKING)

    def hold(self, pk: int) -> None:
        """Keeps an active run from being ended until the end of the transaction: one query.

        Whatever a run stores, it stores in a transaction that begins with this: a process that was silent for
        a lease goes on with runs that another one has ended. SQLite has no locks of rows, and needs none:
        its transactions begin with the lock on the database (IMMEDIATE). Raises RunEnded.
        """
        if not _held.all(run=pk):
            raise RunEnded


def _holding() -> "models.QuerySet[Any, Any]":
    # Without the key: rows that refer to the run are inserted meanwhile.
    return Run.objects.active().filter(pk=RUN).select_for_update(no_key=True).values_list("pk")


RUN = Parameter("run", models.BigIntegerField())

_held: Reading[Any] = Reading(_holding)


class Run(models.Model):
    """From a trigger to the final answer. While it works, `process` renews `heartbeat_at`; whoever ends it
    sets `ended_at`.
    """

    class Status(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        WAITING = "waiting"
        COMPLETED = "completed"
        STOPPED = "stopped"
        FAILED = "failed"
        INTERRUPTED = "interrupted"

    WORKING = (Status.QUEUED, Status.RUNNING)
    """It has a process, and counts as one of the runs at once of its person."""

    ACTIVE = (*WORKING, Status.WAITING)
    """One that waits for a person has no process, no lease and no place: its session has it all the same."""

    public = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="runs", db_index=False)
    trigger = models.ForeignKey("Turn", null=True, on_delete=models.CASCADE, related_name="triggered")
    client_id = models.UUIDField(help_text="Chosen by the browser: sending twice starts one run.")
    status = models.CharField(max_length=12, choices=Status, default=Status.QUEUED)
    outcome = models.CharField(
        max_length=24, blank=True, help_text="How the last reply ended (prompt.outcomes.Outcome)."
    )
    error = models.JSONField(default=dict, blank=True, help_text="kind, message, hint, code, retry_after.")
    now = models.DateTimeField(
        default=timezone.now, help_text="The run's one clock; every step shows the model this."
    )
    process = models.CharField(
        max_length=32, blank=True, help_text="Who works on it; its lock file tells whether it lives."
    )
    model = models.CharField(
        max_length=80, blank=True, help_text="Asked in all of its requests; empty: that of the session."
    )
    thinking_level = models.CharField(
        max_length=8, blank=True, help_text="That of the session when it began."
    )
    client_language = models.CharField(
        max_length=40, blank=True, help_text="What the browser said; prompts fall back to it."
    )
    continuations = models.PositiveSmallIntegerField(
        default=0, help_text="How often in a row the session went on without a person."
    )
    stages = models.JSONField(
        default=list, blank=True, help_text="Stage records of a request that was refused before it was sent."
    )
    stop_requested = models.BooleanField(
        default=False, help_text="A stop that reached another process than the run's."
    )
    lane = models.CharField(
        max_length=90, blank=True, help_text="The agent of a captured session that asked; empty in a chat."
    )
    lane_role = models.CharField(
        max_length=12,
        blank=True,
        help_text="What it is in its session (capture.placements.LaneRole).",
    )
    sent_at = models.DateTimeField(
        null=True,
        blank=True,
        db_index=True,
        help_text="When a person sent its message; empty: none did.",
    )
    parked = models.JSONField(
        default=dict, blank=True, help_text="What it goes on with after an answer (runs.parking.Parked)."
    )
    waiting_since = models.DateTimeField(null=True, blank=True)
    waited_seconds = models.FloatField(default=0, help_text="For a person: no limit counts them.")
    heartbeat_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["session", "client_id"], name="run_once_per_client_id"),
            # The database, not a check before the insert, keeps two tabs from running one session twice.
            models.UniqueConstraint(
                fields=["session"],
                condition=Q(status__in=["queued", "running", "waiting"]),
                name="run_one_active_per_session",
            ),
        ]
        indexes = [
            models.Index(fields=["status", "heartbeat_at"], name="run_reaper"),
            models.Index(fields=["started_at"], name="run_by_time"),
            models.Index(ErrorKind("error"), "id", name="run_by_error"),
        ]

    def __str__(self) -> str:
        return f"{self.status} run of {self.started_at:%d %b %Y %H:%M:%S}"

    @property
    def is_active(self) -> bool:
        return self.status in self.ACTIVE

    @property
    def is_resumed(self) -> bool:
        """Whether it goes on from the tool responses of an earlier run."""
        return self.trigger is not None and self.trigger.kind == TurnKind.TOOL_RESPONSE

    @cached_property
    def task(self) -> "Turn | None":
        """The person's message that it answers: its trigger, or the one above it in a resumed run."""
        if self.trigger is None or not self.is_resumed:
            return self.trigger
        return type(self.trigger).objects.message_above(self.trigger.pk)

    @cached_property
    def began(self) -> float:
        """The `monotonic()` since which its time counts in this process: a limit of seconds does not follow
        the system's clock, which may be set meanwhile.

        What it took elsewhere is known from rows. A continuation in the same process has that of the run
        before it.
        """
        return monotonic() - self.seconds_in_rows()

    def seconds_in_rows(self) -> float:
        """Since the person's last message, by the system's clock, without what it waited for a person: one
        query if it continues another run.
        """
        began, waited = self.started_at, self.waited_seconds
        if self.continuations:
            before = Run.objects.filter(session_id=self.session_id, pk__lt=self.pk).order_by("-pk")
            chain = Run.objects.filter(pk__in=before.values("pk")[: self.continuations])
            sums = chain.aggregate(began=Min("started_at"), waited=Sum("waited_seconds"))
            began, waited = sums["began"] or began, waited + (sums["waited"] or 0)
        return (timezone.now() - began).total_seconds() - waited

    def end(self, status: str, *, outcome: str = "", error: PipewebError | None = None) -> None:
        """Stores how it ended; whoever calls this has its row locked."""
        self.status, self.ended_at = status, timezone.now()
        self.outcome = outcome or self.outcome
        self.error = describe(error) if error else {}
        self.save(update_fields=["status", "ended_at", "outcome", "error"])


def describe(error: PipewebError) -> dict[str, Any]:
    """An error as JSON: a code with figures for our own rules, else its message; never a key or a body."""
    if isinstance(error, RequestRefused):
        return _known(error, reason=error.reason.value, figures=error.figures)
    if isinstance(error, NoAnswer):
        return _known(error, reason=error.reason, figures=error.figures)
    said: dict[str, Any] = {"message": error.message, "hint": error.hint}
    if isinstance(error, GatewayError):
        said |= {"code": error.code, "status": error.status, "retry_after": error.retry_after}
    return _known(error, **said)


def _known(error: PipewebError, **facts: Any) -> dict[str, Any]:
    known: dict[str, Any] = storable_json({"kind": type(error).__name__, **facts})
    return known


class RunLogQuerySet(models.QuerySet["RunLog"]):
    def after(self, run_pk: int, seq: int) -> Self:
        """Rows with events later than `seq`, in order."""
        return self.filter(run_id=run_pk, seq_to__gt=seq).order_by("seq_from")

    def append(self, logs: "Iterable[RunLog]") -> None:
        """Inserts the rows; existing ones are kept. Plain SQL, as for raw chunks."""
        rows = [(log.run_id, log.seq_from, log.seq_to, bytes(log.body)) for log in logs]
        append(connections[self.db], "sessions_app_runlog", LOG_COLUMNS, rows)


LOG_COLUMNS = ("run_id", "seq_from", "seq_to", "body")


class RunLog(models.Model):
    """One flush of a run: the events `seq_from`…`seq_to`, one JSON text per line."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="log", db_index=False)
    seq_from = models.PositiveIntegerField()
    seq_to = models.PositiveIntegerField()
    body = models.BinaryField(help_text="The events as they were sent to the browser.")

    objects = RunLogQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "seq_from"], name="log_once")]

    def __str__(self) -> str:
        return f"events {self.seq_from}–{self.seq_to}"

    @classmethod
    def of(cls, run: Run, first: int, wires: Sequence[str]) -> Self:
        """A row for events that are numbered from `first`."""
        body = "\n".join(wires).encode()
        return new(cls, run=run, seq_from=first, seq_to=first + len(wires) - 1, body=body)

    @property
    def wires(self) -> list[str]:
        return bytes(self.body).decode().split("\n")


class QueuedMessage(models.Model):
    """A message that waits for the active run to end; answered oldest first, or withdrawn."""

    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="queue")
    client_id = models.UUIDField(help_text="Becomes the client id of the run: sending twice queues once.")
    text = models.TextField()
    files = models.PositiveSmallIntegerField(default=0, help_text="Attachments that go with it.")
    queued_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["session", "client_id"], name="queued_once_per_client_id")
        ]

    def __str__(self) -> str:
        return str(self.client_id)
