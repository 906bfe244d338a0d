"""An import of an exported file: what the file's owner sees of it, and which process works on it."""

import uuid
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

LEASE = timedelta(seconds=20)
"""Without a sign of life for this time, the process of a job counts as dead."""

ACTIVE_LIMIT = 2
"""Imports of one person at a time."""

KEPT = timedelta(days=7)
"""How long the end of a job is shown to a person who does not dismiss it."""

ATTEMPT_LIMIT = 3
"""Times that a job is begun and not left in an orderly way; a process may have died of its file."""


class ImportJobQuerySet(models.QuerySet["ImportJob"]):
    def active(self) -> Self:
        return self.filter(state__in=(ImportJob.State.WAITING, ImportJob.State.RUNNING))

    def abandoned(self) -> Self:
        """Active jobs on which no process works."""
        return self.active().filter(heartbeat_at__lt=timezone.now() - LEASE)

    def outdated(self) -> Self:
        """Jobs that ended long ago."""
        return self.exclude(pk__in=self.active()).filter(created_at__lt=timezone.now() - KEPT)

    def claim(self, process: str) -> bool:
        """Gives the one job of the query to the process, unless another one works on it."""
        now = timezone.now()
        free = Q(state=ImportJob.State.WAITING) | Q(heartbeat_at__lt=now - LEASE)
        claimed = (
            self.active()
            .filter(free)
            .update(
                state=ImportJob.State.RUNNING, process=process, heartbeat_at=now, attempts=F("attempts") + 1
            )
        )
        return bool(claimed)


class ImportJob(models.Model):
    class State(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        COMPLETED = "completed"
        FAILED = "failed"

    public = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="imports")
    name = models.CharField(max_length=120, help_text="Name of the uploaded file.")
    state = models.CharField(max_length=12, choices=State, default=State.WAITING)
    cancel_requested = models.BooleanField(default=False)
    done = models.PositiveIntegerField(default=0, help_text="Entries of the file that are written.")
    total = models.PositiveIntegerField(default=0, help_text="Entries of the file; 0 until it was checked.")
    error = models.JSONField(default=dict, blank=True, help_text="reason (ImportProblem), figures.")
    format = models.CharField(max_length=12, blank=True, help_text="What the file is (ImportFormat).")
    notes = models.JSONField(default=list, blank=True, help_text="ImportNotes: code, figures.")
    left_out = models.JSONField(
        default=list, blank=True, help_text="Names in the file that are unknown here."
    )
    session = models.ForeignKey(
        "Session", null=True, on_delete=models.SET_NULL, related_name="+", help_text="What it writes."
    )
    process = models.CharField(max_length=32, blank=True)
    heartbeat_at = models.DateTimeField(default=timezone.now)
    attempts = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ImportJobQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["owner", "state"], name="import_by_owner")]

    def __str__(self) -> str:
        return f"{self.state} {self.public}"

    @property
    def is_active(self) -> bool:
        return self.state in (self.State.WAITING, self.State.RUNNING)

    @property
    def percent(self) -> int:
        return 100 * self.done // self.total if self.total else 0

    def renew(self, **changes: Any) -> bool:
        """Renews the lease, with these changes; False if the job was cancelled or is another process's."""
        own = self._own().filter(cancel_requested=False)
        return bool(own.update(**{"heartbeat_at": timezone.now(), **changes}))

    def hold(self) -> bool:
        """Renews the lease also of a cancelled job; False if it is another process's."""
        return bool(self._own().update(heartbeat_at=timezone.now()))

    def note(self, error: Mapping[str, Any]) -> None:
        """Keeps why it failed, before what it left is removed."""
        self._own().update(error=error, heartbeat_at=timezone.now())

    def fail(self, error: Mapping[str, Any]) -> None:
        self._own().update(state=self.State.FAILED, session=None, error=error)

    def release(self, *, counts: bool) -> None:
        """Leaves the job to any process, at once. `counts`: as an attempt."""
        changes = {"state": self.State.WAITING, "process": "", "heartbeat_at": timezone.now() - LEASE}
        self._own().update(**changes, attempts=F("attempts") - (0 if counts else 1))

    def remove(self) -> None:
        self._own().delete()

    def _own(self) -> "models.QuerySet[ImportJob]":
        return type(self).objects.filter(pk=self.pk, process=self.process, state=self.State.RUNNING)
