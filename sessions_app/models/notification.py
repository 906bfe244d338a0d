"""Notifications of a session for the model and the person (seed 4)."""

from typing import Self

from django.db import models, transaction
from django.utils import timezone

from sessions_app.models.run import QueuedMessage
from sessions_app.models.session import next_number
from sessions_app.prompt.remarks import Remark, RemarkCode
from sessions_app.wording.remarks import notification_hint, sentence

KEPT = 100
"""Notifications kept per session; beyond, the oldest seen ones are deleted."""

PREVIEW = 80
"""Characters of a queued message that its notification quotes."""


class NotificationQuerySet(models.QuerySet["Notification"]):
    def for_panel(self) -> Self:
        """Without those that the panel omits: the messages themselves are in the history."""
        return self.exclude(kind__in=("user_message", "reload_resume"))

    def open(self) -> Self:
        """Not seen yet, blocked ones included: they are sent with the next request."""
        return self.exclude(status=Notification.Status.SEEN)

    @transaction.atomic
    def add(
        self, session_pk: int, kind: str, text: str, *, source: str = "", status: str = "unseen"
    ) -> "Notification":
        """Creates a notification, or returns the open one of the same kind and source."""
        number = next_number(self.all(), session_pk, "number")  # its lock also keeps out a duplicate
        found = self.filter(session_id=session_pk, kind=kind, source=source).open().first()
        if found is not None:
            return found
        created = self.create(
            session_id=session_pk, number=number, kind=kind, source=source, text=text, status=status
        )
        self._delete_surplus(session_pk)
        return created

    def mark_seen(self, session_pk: int) -> "list[Notification]":
        """Marks the open notifications as seen and returns them; one query when there are none.

        Those of queued messages stay open: the request does not contain the message yet.
        """
        found = list(self.filter(session_id=session_pk).open())
        if any(one.kind == Notification.Kind.USER_MESSAGE for one in found):
            queue = QueuedMessage.objects.filter(session_id=session_pk)
            waiting = {str(client_id) for client_id in queue.values_list("client_id", flat=True)}
            found = [one for one in found if one.source not in waiting]
        if found:
            seen = self.filter(pk__in=[one.pk for one in found])
            seen.update(status=Notification.Status.SEEN, seen_at=timezone.now())
        return found

    def dismiss(self) -> int:
        """Marks these as read by the person; no request is made for them."""
        return self.open().update(status=Notification.Status.SEEN, seen_at=timezone.now())

    def _delete_surplus(self, session_pk: int) -> None:
        rows = self.filter(session_id=session_pk)
        surplus = rows.count() - KEPT
        if surplus > 0:
            seen = rows.filter(status=Notification.Status.SEEN).order_by("number")
            rows.filter(pk__in=list(seen.values_list("pk", flat=True)[:surplus])).delete()


class Notification(models.Model):
    class Kind(models.TextChoices):
        USER_MESSAGE = "user_message"
        RELOAD_RESUME = "reload_resume"
        TODO_INCOMPLETE = "todo_incomplete"
        MAX_TOKENS_TRUNCATED = "max_tokens_truncated"
        CONTEXT_THRESHOLD = "context_threshold"
        GUARD_RAIL = "guard_rail"
        CUSTOM = "custom"

    class Status(models.TextChoices):
        UNSEEN = "unseen"
        SEEN = "seen"
        BLOCKED = "blocked"

    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="notifications")
    number = models.PositiveIntegerField(help_text="Counts from 1 in the session: N1, N2, …")
    kind = models.CharField(max_length=24, choices=Kind)
    source = models.CharField(max_length=80, blank=True)
    text = models.TextField(blank=True)
    status = models.CharField(max_length=8, choices=Status, default=Status.UNSEEN)
    created_at = models.DateTimeField(default=timezone.now)
    seen_at = models.DateTimeField(null=True, blank=True)

    objects = NotificationQuerySet.as_manager()

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["session", "number"], name="notification_number_once")]

    def __str__(self) -> str:
        return f"N{self.number} {self.kind}"

    @property
    def line(self) -> str:
        """What the model reads: `[N3] answer cut — …`."""
        return sentence(self.remark)

    @property
    def hint(self) -> str:
        """What the person can do about it; the text of earlier versions says it itself."""
        hint = notification_hint(str(self.kind), self.source)
        return "" if hint in self.text else hint

    @property
    def remark(self) -> Remark:
        """For the stage record."""
        return Remark(code=RemarkCode.NOTIFICATION, number=self.number, kind=str(self.kind), text=self.text)
