"""A stored conversation with its settings."""

import uuid
from collections.abc import Callable, Collection
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self

from django.conf import settings
from django.db import models, transaction
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone

from sessions_app.markup import plain
from sessions_app.models.options import SessionSettings
from sessions_app.models.persona import Persona

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

ACTS: dict[str, dict[str, Any]] = {
    "pin": {"pinned_at": Now()},
    "unpin": {"pinned_at": None},
    "archive": {"archived_at": Now(), "pinned_at": None},
    "unarchive": {"archived_at": None},
    "delete": {},  # Session.hide: its caches go as well
    "restore": {"deleted_at": None},
}
"""What a person does with whole sessions, and what it changes."""

ACTIVE = ("queued", "running")
TEMPORARY_FOR = timedelta(days=1)
"""A temporary session that was not erased by hand goes after this."""

TITLE_WORDS = 8
TITLE_LENGTH = 120


class SessionQuerySet(models.QuerySet["Session"]):
    def of(self, user: "User | AnonymousUser") -> Self:
        """The one way to look sessions up for a person: what is not theirs does not exist."""
        return self.filter(owner_id=user.pk, deleted_at=None)

    def listed(self) -> Self:
        """What stands in the list: neither archived nor temporary."""
        return self.filter(archived_at=None, temporary=False)

    def left_behind(self) -> Self:
        """Temporary sessions that nobody has used for a day."""
        since = timezone.now() - TEMPORARY_FOR
        return self.filter(temporary=True, updated_at__lt=since).exclude(runs__status__in=ACTIVE)

    def carry_out(self, act: str) -> int:
        """One of ACTS on all of these; answers on how many."""
        if act != "delete":
            return self.update(**ACTS[act])
        doomed = list(self)
        for session in doomed:
            session.hide()
        return len(doomed)

    def archived(self) -> Self:
        return self.filter(temporary=False).exclude(archived_at=None).order_by("-archived_at")


class Session(Persona):
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
    assistant = models.ForeignKey(
        "Assistant", null=True, blank=True, on_delete=models.SET_NULL, related_name="sessions"
    )
    args = models.JSONField(default=dict, blank=True, help_text="Prompt arguments: args.* and root names.")
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
    spent_usd = models.DecimalField(
        max_digits=16,
        decimal_places=8,
        default=0,
        help_text="What its exchanges cost, as far as prices were known; kept so that a budget needs no sum.",
    )
    unpriced = models.PositiveIntegerField(default=0, help_text="Exchanges whose price is unknown.")
    prompt_tokens = models.PositiveBigIntegerField(default=0, help_text="Sent so far; those cached included.")
    cached_tokens = models.PositiveBigIntegerField(default=0, help_text="Of them, those from a cache.")
    moves = models.PositiveIntegerField(
        default=0, help_text="Counts the times another branch came into view: other pages follow it."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(default=timezone.now)
    pinned_at = models.DateTimeField(null=True, blank=True)
    archived_at = models.DateTimeField(null=True, blank=True)
    temporary = models.BooleanField(default=False, help_text="Not listed, not searched; erased when left.")
    forked_from = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="forks"
    )
    deleted_at = models.DateTimeField(null=True, blank=True)

    served: str | None = None
    """`modelVersion` of its newest answer, where a query asked for it (`capabilities.with_served`)."""

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
    def chosen_tools(self) -> list[str] | None:
        """Names of the tools that both the person and the assistant allow; None means the standard ones."""
        mine, theirs = self.options.tools, self.assistant.tools if self.assistant else None
        if mine is None or theirs is None:
            return theirs if mine is None else mine
        return [name for name in mine if name in theirs]

    @property
    def shown_title(self) -> str:
        return self.title or "New session"

    def switch_panel(self, key: str, on: bool) -> None:
        """Shows or hides a kind of panel from the next request on."""
        self._change_settings(lambda options: options.panels | {key: on}, "panels")

    def switch_tool(self, name: str, on: bool, standard: Collection[str]) -> None:
        """Puts a tool on offer or takes it away; `standard` are those on offer while nothing is chosen."""

        self._choose("tools", name, on, standard)

    def switch_skill(self, name: str, on: bool, library: Collection[str]) -> None:
        """Shows or hides a skill; `library` are all that there are, and are shown while nothing is chosen."""
        self._choose("skills", name, on, library)

    def _choose(self, setting: str, name: str, on: bool, standard: Collection[str]) -> None:
        def change(options: SessionSettings) -> list[str] | None:
            kept = getattr(options, setting)
            chosen = {*(standard if kept is None else kept)} - {name}
            chosen |= {name} if on else set()
            # None, so that what becomes standard later is on.
            return None if chosen == set(standard) else sorted(chosen)

        self._change_settings(change, setting)

    def _change_settings(self, change: Callable[[SessionSettings], Any], name: str) -> None:
        """Two switches turned at once must both hold: the row is locked while one of them is."""
        with transaction.atomic():
            row = type(self).objects.select_for_update(of=("self",)).only("settings").get(pk=self.pk)
            self.settings = row.settings | {name: change(row.options)}
            type(self).objects.filter(pk=self.pk).update(settings=self.settings)

    def rename(self, title: str) -> None:
        self.title, self.titled_by_hand = title.strip()[:TITLE_LENGTH], True
        self.save(update_fields=["title", "titled_by_hand"])

    def entitle(self, first_words: str) -> None:
        """Titles an untitled session from the first message."""
        if not self.title and not self.titled_by_hand:
            words = plain(first_words).split()
            more = "…" if len(words) > TITLE_WORDS else ""
            self.title = (" ".join(words[:TITLE_WORDS])[: TITLE_LENGTH - 1]) + more
            self.save(update_fields=["title"])

    def advance(self, head: Any) -> None:
        """Moves the branch in view to a newer turn."""
        self.head = head
        self.updated_at = timezone.now()
        self.save(update_fields=["head", "updated_at"])

    def turn_to(self, head: Any) -> None:
        """Brings another branch into view; every page that shows the session follows."""
        self.head, self.moves = head, self.moves + 1
        self.save(update_fields=["head", "moves"])

    def hide(self) -> None:
        """What a person calls delete: gone from their pages at once, erased by an admin or retention."""
        from sessions_app.models.cache import CacheEntry

        type(self).objects.filter(pk=self.pk).update(deleted_at=Now())
        CacheEntry.objects.let_go(self, "Its session was deleted.")

    def erase(self) -> None:
        """Deletes every row of the session in a few statements, however large it is.

        Django's own delete would load each turn and each raw chunk to follow cascades; on a
        session of a thousand exchanges that takes minutes and holds the write lock.
        """
        from sessions_app import models as rows

        with transaction.atomic():
            rows.CacheEntry.objects.let_go(self, "Its session was erased.")
            type(self).objects.filter(pk=self.pk).update(head=None)
            rows.Run.objects.filter(session=self).update(trigger=None)
            for doomed in (
                rows.RawChunk.objects.filter(exchange__session=self),
                rows.HistoryChunk.objects.filter(session=self),
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
