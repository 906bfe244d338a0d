"""A stored conversation with its settings."""

import uuid
from typing import TYPE_CHECKING, Any, Literal, Self

from django.conf import settings
from django.db import models, transaction
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone
from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

    from sessions_app.models.text import PromptText

TITLE_WORDS = 8
TITLE_LENGTH = 120


class SessionSettings(BaseModel):
    """What a person may set per session; the JSON column is read only through this."""

    model_config = ConfigDict(extra="ignore")

    temperature: float | None = Field(default=None, ge=0, le=2)
    thinking_level: Literal["", "LOW", "MEDIUM", "HIGH"] = ""
    include_thoughts: bool = True
    language: str = ""
    time_zone: str = "UTC"
    clock_minutes: int = Field(default=60, ge=1, le=1440)
    """The clock in the dynamic layer is rounded down to this, so that it rarely breaks a prefix."""
    tools: list[str] | None = None
    """Names of the enabled tools; None means all."""


class SessionQuerySet(models.QuerySet["Session"]):
    def of(self, user: "User | AnonymousUser") -> Self:
        """The one way to look sessions up for a person: what is not theirs does not exist."""
        return self.filter(owner_id=user.pk, deleted_at=None)

    def titled(self, words: str) -> Self:
        return self.filter(title__icontains=words) if words else self


class Session(models.Model):
    public = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="chat_sessions"
    )
    title = models.CharField(max_length=TITLE_LENGTH, blank=True)
    titled_by_hand = models.BooleanField(
        default=False, help_text="A title the person chose is never overwritten."
    )
    purpose = models.TextField(blank=True)
    background = models.TextField(blank=True)
    roles: "models.ManyToManyField[PromptText, Any]" = models.ManyToManyField(
        "PromptText", blank=True, related_name="+", limit_choices_to={"kind": "role"}
    )
    procedure = models.ForeignKey(
        "PromptText",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        limit_choices_to={"kind": "procedure"},
    )
    model = models.CharField(max_length=80)
    settings = models.JSONField(default=dict, blank=True)
    head = models.ForeignKey(
        "Turn",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="Newest turn of the branch in view; the history is the walk from here to the root.",
    )
    exchange_count = models.PositiveIntegerField(
        default=0, help_text="Numbers the exchanges; never goes down."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(default=timezone.now)
    deleted_at = models.DateTimeField(null=True, blank=True)

    objects = SessionQuerySet.as_manager()

    class Meta:
        ordering = ["-updated_at", "-pk"]
        # The list page reads one owner's sessions newest first.
        indexes = [models.Index(fields=["owner", "-updated_at"], name="session_list")]

    def __str__(self) -> str:
        return str(self.public)

    def get_absolute_url(self) -> str:
        return reverse("session", args=[self.public])

    @property
    def options(self) -> SessionSettings:
        return SessionSettings.model_validate(self.settings)

    @property
    def shown_title(self) -> str:
        return self.title or "New session"

    def rename(self, title: str) -> None:
        self.title, self.titled_by_hand = title.strip()[:TITLE_LENGTH], True
        self.save(update_fields=["title", "titled_by_hand"])

    def entitle(self, first_words: str) -> None:
        """Titles an untitled session from the first message."""
        if not self.title and not self.titled_by_hand:
            words = first_words.split()
            more = "…" if len(words) > TITLE_WORDS else ""
            self.title = (" ".join(words[:TITLE_WORDS])[: TITLE_LENGTH - 1]) + more
            self.save(update_fields=["title"])

    def advance(self, head: Any) -> None:
        """Moves the branch in view to a newer turn."""
        self.head = head
        self.updated_at = timezone.now()
        self.save(update_fields=["head", "updated_at"])

    def hide(self) -> None:
        """What a person calls delete: gone from their pages at once, erased by an admin or retention."""
        type(self).objects.filter(pk=self.pk).update(deleted_at=Now())

    def erase(self) -> None:
        """Deletes every row of the session in a few statements, however large it is.

        Django's own delete would load each turn and each raw chunk to follow cascades; on a
        session of a thousand exchanges that takes minutes and holds the write lock.
        """
        from sessions_app import models as rows

        with transaction.atomic():
            type(self).objects.filter(pk=self.pk).update(head=None)
            rows.Run.objects.filter(session=self).update(trigger=None)
            for doomed in (
                rows.RawChunk.objects.filter(exchange__session=self),
                rows.Turn.objects.filter(session=self),
                rows.Exchange.objects.filter(session=self),
                rows.Source.objects.filter(session=self),
                rows.RunLog.objects.filter(run__session=self),
                rows.Run.objects.filter(session=self),
            ):
                doomed._raw_delete(doomed.db)
            owner_id = self.owner_id
            self.delete()
            rows.Blob.objects.collect(owner_id)
