"""A stored conversation with its settings."""

import uuid
from collections.abc import Callable, Collection
from functools import cache
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models, transaction
from django.db.models import Max
from django.db.models.functions import Now
from django.urls import get_script_prefix, reverse
from django.utils import timezone

from sessions_app.log_codes import LoggedAction
from sessions_app.models.audit_entry import record
from sessions_app.models.cache import CacheEntry
from sessions_app.models.known_settings import KnownSettings
from sessions_app.models.library import Persona
from sessions_app.models.origin import Origin
from sessions_app.models.prepared import update
from sessions_app.models.session_queries import SessionQuerySet
from sessions_app.models.session_settings import SessionSettings
from sessions_app.models.titles import TITLE_LENGTH, starting_words
from sessions_app.prompt.caching import EntryReason

if TYPE_CHECKING:
    from sessions_app.models.assistant import Assistant
    from sessions_app.models.content_grant import ContentGrant
    from sessions_app.models.turn import Turn

NOBODY = uuid.UUID(int=0)
UNTITLED = "Untitled chat"


@cache
def _address_under(prefix: str) -> str:
    """The address of the session NOBODY; `prefix` is where the application is mounted."""
    return reverse("session", args=[NOBODY])


def session_address(public: uuid.UUID) -> str:
    """A page names a hundred of them: the route is asked once."""
    return _address_under(get_script_prefix()).replace(str(NOBODY), str(public))


class Session(Persona):
    """Settings, and a tree of turns of which the branch that ends at `head` is in view.

    The sums of its bookings are columns, which change with them (`models.booking.SESSION_SUMS`).
    """

    public = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="chat_sessions"
    )
    origin = models.CharField(max_length=8, choices=Origin, default=Origin.CHAT)
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
        help_text="The sum of its bookings, as far as prices were known; kept so that a budget needs no sum.",
    )
    emulated_usd = models.DecimalField(
        max_digits=16, decimal_places=8, default=0, help_text="The part of it that the emulator counted."
    )
    payload_purges = models.PositiveIntegerField(default=0, help_text="Remembered source keys hold for one.")
    unpriced = models.PositiveIntegerField(default=0, help_text="Bookings whose price is unknown.")
    cut_off = models.PositiveIntegerField(default=0, db_default=0, help_text="Bookings of answers cut off.")
    estimates = models.PositiveIntegerField(default=0, db_default=0, help_text="Bookings that are estimates.")
    prompt_tokens = models.PositiveBigIntegerField(default=0, help_text="Sent so far; those cached included.")
    cached_tokens = models.PositiveBigIntegerField(default=0, help_text="Of them, those from a cache.")
    head_version = models.PositiveIntegerField(
        default=0, help_text="Counts the times another branch came into view: other pages follow it."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(default=timezone.now)
    pinned_at = models.DateTimeField(null=True, blank=True)
    folder = models.ForeignKey(
        "Folder", null=True, blank=True, on_delete=models.SET_NULL, related_name="sessions"
    )
    archived_at = models.DateTimeField(null=True, blank=True)
    temporary = models.BooleanField(default=False, help_text="Not listed, not searched; erased when left.")
    forked_from = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="forks"
    )
    deleted_at = models.DateTimeField(null=True, blank=True)
    is_importing = models.BooleanField(
        default=False, help_text="An import is still writing it (ImportJob): nobody sees it."
    )

    objects = SessionQuerySet.as_manager()

    grant: "ContentGrant | None" = None
    """The grant by which somebody else reads this instance (`accounts.reading`)."""

    preview = ""
    """The beginning of its last turn, where a list shows it (`chat.session_list`)."""

    class Meta:
        ordering = ["-updated_at", "-pk"]
        # The list page reads one owner's sessions newest first.
        indexes = [models.Index(fields=["owner", "-updated_at"], name="session_list")]

    def __str__(self) -> str:
        return str(self.public)

    def get_absolute_url(self) -> str:
        return session_address(self.public)

    @property
    def options(self) -> SessionSettings:
        return self.known_settings.options

    @property
    def known_settings(self) -> KnownSettings:
        """Parsed once for each value of `settings`, which is replaced and never changed."""
        known: tuple[Any, KnownSettings] | None = self.__dict__.get("_options")
        if known is None or known[0] is not self.settings:
            known = self.__dict__["_options"] = self.settings, KnownSettings.of(self.settings)
        return known[1]

    @property
    def installed_assistant(self) -> "Assistant | None":
        """The installation's assistant, whose words hold as they are now; of one's own there is a copy."""
        return self.assistant if self.assistant is not None and self.assistant.is_installed else None

    @property
    def chosen_tools(self) -> list[str] | None:
        """Names of the tools that session and assistant both enable; None means the default ones."""
        assistant = self.installed_assistant
        own, assistants = self.options.tools, assistant.known_tools if assistant else None
        if own is None or assistants is None:
            return assistants if own is None else own
        return [name for name in own if name in assistants]

    @property
    def shown_title(self) -> str:
        return self.title or UNTITLED

    @property
    def is_captured(self) -> bool:
        """Whether other programs asked: then nobody writes in it."""
        return self.origin == Origin.CAPTURED

    @property
    def is_read_only(self) -> bool:
        return self.is_captured or self.grant is not None

    def choose_model(self, model: str, thinking_level: str) -> None:
        """For the runs that begin from now on; a run that goes on keeps its own."""
        with transaction.atomic():
            row = type(self).objects.select_for_update(of=("self",)).only("settings").get(pk=self.pk)
            self.model, self.settings = model, row.settings | {"thinking_level": thinking_level}
            type(self).objects.filter(pk=self.pk).update(model=self.model, settings=self.settings)

    def switch_panel(self, key: str, on: bool, setting: str = "panels") -> None:
        """Switches a panel, for the person or in the `setting` of the model (`panels_of_model`)."""
        self._change_settings(lambda options: getattr(options, setting) | {key: on}, setting)

    def switch(self, setting: str, name: str, on: bool, standard: Collection[str] | None = None) -> None:
        """Adds a name to a setting, or takes it out.

        Where there are `standard` ones, null stands for them, so that later ones apply.
        """

        def change(options: SessionSettings) -> list[str] | None:
            kept = getattr(options, setting)
            chosen = {*((standard or ()) if kept is None else kept)} - {name}
            chosen |= {name} if on else set()
            return None if standard is not None and chosen == set(standard) else sorted(chosen)

        self._change_settings(change, setting)

    def _change_settings(self, change: Callable[[SessionSettings], Any], name: str) -> None:
        """Changes one setting with the row locked, so that concurrent changes of others are kept.

        Items of a list that this version does not know stay in it.
        """
        with transaction.atomic():
            row = type(self).objects.select_for_update(of=("self",)).only("settings").get(pk=self.pk)
            value = change(row.options)
            if isinstance(value, list):
                value += [one.value for one in row.known_settings.unknown if one.name == name]
            self.settings = row.settings | {name: value}
            type(self).objects.filter(pk=self.pk).update(settings=self.settings)

    def rename(self, title: str) -> None:
        self.title, self.titled_by_hand = title.strip()[:TITLE_LENGTH], True
        self.save(update_fields=["title", "titled_by_hand"])

    def set_title_from(self, message: str) -> None:
        """Titles an untitled session from the first message."""
        if not self.title and not self.titled_by_hand:
            self.title = starting_words(message)
            update(self, "title")

    def advance(self, head: "Turn | None") -> None:
        """Moves the head to a newer turn of the branch in view."""
        update(self, *self.set_head(head))

    def set_head(self, head: "Turn | None") -> dict[str, Any]:
        """The same without storing it; returns the columns to store."""
        self.head, self.updated_at = head, timezone.now()
        return {"head": head, "updated_at": self.updated_at}

    def switch_branch(self, head: "Turn | None") -> None:
        """Moves the head to another branch; open pages of the session reload it."""
        self.head, self.head_version = head, self.head_version + 1
        self.save(update_fields=["head", "head_version"])

    def soft_delete(self) -> None:
        """Hides the session from its owner; `runs.retention` erases it after the days of the trash."""
        type(self).objects.filter(pk=self.pk).update(deleted_at=Now())
        CacheEntry.objects.release_for_session(self.pk, EntryReason.SESSION_DELETED)

    def erase(self) -> None:
        """Deletes every row of the session in a constant number of statements."""
        from sessions_app.models.session_erasure import erase_session

        record(LoggedAction.ERASED, on=self)
        erase_session(self)


def next_number(rows: "models.QuerySet[Any]", session_pk: int, field: str) -> int:
    """The largest `field` among the session's rows, plus one. Must run in a transaction.

    Locks the session's row, so that two processes never take the same number. A number below the largest
    is not reused.
    """
    Session.objects.select_for_update(of=("self",)).filter(pk=session_pk).values_list("pk").first()
    largest = rows.filter(session_id=session_pk).aggregate(largest=Max(field))["largest"]
    return (largest or 0) + 1
