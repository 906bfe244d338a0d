"""What a session wants the model, or the person, to know: seed 4's spine."""

from typing import Self

from django.db import models, transaction
from django.db.models import Max
from django.utils import timezone

from sessions_app.models.queued import QueuedMessage

KEPT = 100
"""Notifications of a session; beyond, the oldest that have been seen go."""

PREVIEW = 80
"""Characters of a message that its notification repeats."""


class NotificationQuerySet(models.QuerySet["Notification"]):
    def told(self) -> Self:
        """Without what is no panel: the message itself stands in the history."""
        return self.exclude(kind__in=("user_message", "reload_resume"))

    def open(self) -> Self:
        """What has not been seen; one that was held back comes up again with the next request."""
        return self.exclude(status=Notification.Status.SEEN)

    @transaction.atomic
    def note(
        self, session_pk: int, kind: str, text: str, *, source: str = "", status: str = "unseen"
    ) -> "Notification":
        """The session's next notification; the open one when the same was said already and not seen."""
        from sessions_app.models.session import Session

        # Two processes may note at once: the lock of the session's row puts their numbers in order.
        Session.objects.select_for_update(of=("self",)).filter(pk=session_pk).values_list("pk").first()
        mine = self.filter(session_id=session_pk)
        said = mine.open().filter(kind=kind, source=source).first()
        if said is not None:
            return said
        newest = mine.aggregate(newest=Max("number"))["newest"] or 0
        made = self.create(
            session_id=session_pk, number=newest + 1, kind=kind, source=source, text=text, status=status
        )
        self._forget_seen(session_pk)
        return made

    def mark_seen(self, session_pk: int) -> "list[Notification]":
        """Marks what the model will now see, and answers it. One query when there is nothing.

        A message that still waits stays open: the request does not hold it yet.
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
        """A person has read these: the model is not woken for them."""
        return self.open().update(status=Notification.Status.SEEN, seen_at=timezone.now())

    def _forget_seen(self, session_pk: int) -> None:
        mine = self.filter(session_id=session_pk)
        surplus = mine.count() - KEPT
        if surplus > 0:
            seen = mine.filter(status=Notification.Status.SEEN).order_by("number")
            mine.filter(pk__in=list(seen.values_list("pk", flat=True)[:surplus])).delete()


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
        """`[N3] answer cut — …`: how the model and the stage record read it."""
        return f"[N{self.number}] {LABELS[self.kind]} — {self.text}"


LABELS = {
    "user_message": "message",
    "reload_resume": "interrupted",
    "todo_incomplete": "todos open",
    "max_tokens_truncated": "answer cut",
    "context_threshold": "context filling up",
    "guard_rail": "guard rail",
    "custom": "notice",
}
