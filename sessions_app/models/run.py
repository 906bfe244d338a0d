"""From a trigger to the final answer, with all tool rounds."""

import uuid
from datetime import timedelta
from typing import Any, Self

from django.db import models
from django.db.models import Q
from django.utils import timezone

from sessions_app.errors import GatewayError, PipewebError

LEASE = timedelta(seconds=15)
"""A run whose heartbeat is older has lost its process."""


class RunQuerySet(models.QuerySet["Run"]):
    def active(self) -> Self:
        return self.filter(status__in=Run.ACTIVE)

    def active_in(self, session_pk: int) -> uuid.UUID | None:
        return self.active().filter(session_id=session_pk).values_list("public", flat=True).first()

    def abandoned(self) -> Self:
        return self.active().filter(heartbeat_at__lt=timezone.now() - LEASE)


class Run(models.Model):
    class Status(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        COMPLETED = "completed"
        STOPPED = "stopped"
        FAILED = "failed"
        INTERRUPTED = "interrupted"

    ACTIVE = (Status.QUEUED, Status.RUNNING)

    public = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="runs")
    trigger = models.ForeignKey("Turn", null=True, on_delete=models.CASCADE, related_name="triggered")
    client_id = models.UUIDField(help_text="Chosen by the browser: sending twice starts one run.")
    status = models.CharField(max_length=12, choices=Status, default=Status.QUEUED)
    outcome = models.CharField(
        max_length=24, blank=True, help_text="How the last reply ended (prompt.reply.Outcome)."
    )
    error = models.JSONField(default=dict, blank=True, help_text="kind, message, hint, code, retry_after.")
    now = models.DateTimeField(
        default=timezone.now, help_text="The run's one clock; every step shows the model this."
    )
    process = models.CharField(
        max_length=32, blank=True, help_text="Who works on it; its lock file tells whether it lives."
    )
    attempt = models.PositiveSmallIntegerField(
        default=1, help_text="Rises when another process ends what one left behind."
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
    files_html = ""
    """The files of its message as pages show them, for whoever began it just now."""

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
                condition=Q(status__in=["queued", "running"]),
                name="run_one_active_per_session",
            ),
        ]
        indexes = [models.Index(fields=["status", "heartbeat_at"], name="run_reaper")]

    def __str__(self) -> str:
        return f"{self.status} {self.public}"

    @property
    def is_active(self) -> bool:
        return self.status in self.ACTIVE

    def end(self, status: str, *, outcome: str = "", error: PipewebError | None = None) -> None:
        self.status, self.ended_at = status, timezone.now()
        self.outcome = outcome or self.outcome
        self.error = describe(error) if error else {}
        self.save(update_fields=["status", "ended_at", "outcome", "error"])


def describe(error: PipewebError) -> dict[str, Any]:
    """An error as the pages show it; never holds a key or a body that was sent."""
    known: dict[str, Any] = {
        "kind": type(error).__name__,
        "message": storable(error.message),
        "hint": storable(error.hint),
    }
    if isinstance(error, GatewayError):
        known |= {"code": error.code, "status": storable(error.status), "retry_after": error.retry_after}
    return known


def storable(text: str, length: int | None = None) -> str:
    """What a provider says, fit for a column: PostgreSQL refuses NUL in text and in JSON alike."""
    return text.replace("\0", "")[:length]
