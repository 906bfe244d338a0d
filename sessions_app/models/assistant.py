"""Assistants: what a chat begins with. The installation has some, each person makes their own."""

import uuid
from typing import TYPE_CHECKING, Any, Self

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import F, Q

from sessions_app.models.known_settings import KnownSettings, Unknown
from sessions_app.models.library import Persona

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

    from sessions_app.models.session import Session

NAME_LENGTH = 80

STARTERS_LIMIT, STARTER_LENGTH = 6, 300

SYMBOLS = ("thought", "edit", "search", "file", "tool", "braces", "money", "inspect")
"""Names in the icon set that an assistant may have."""


def validate_icon(icon: str) -> None:
    """Raises ValidationError for what is neither a symbol nor an emoji."""
    if icon not in SYMBOLS and any(char.isalnum() or char.isspace() or char.isascii() for char in icon):
        raise ValidationError("An emoji, such as 🥐.", code="icon")


class AssistantQuerySet(models.QuerySet["Assistant"]):
    def of(self, user: "User | AnonymousUser") -> Self:
        """What the person may choose: their own first, then the installation's."""
        return self.usable_by(user.pk)

    def usable_by(self, user_id: int | None) -> Self:
        mine_first = F("owner").asc(nulls_last=True)
        return self.filter(Q(owner=None) | Q(owner_id=user_id)).order_by(mine_first, "name")

    def own(self, user: "User | AnonymousUser") -> Self:
        """What the person may change; every look-up for that starts here."""
        return self.filter(owner_id=user.pk)

    def installed(self) -> Self:
        return self.filter(owner=None)


class Assistant(Persona):
    """A chat that is made with one begins with a copy of it.

    What the installation's says of roles, procedure, language and tools goes on to hold in its chats;
    changing or deleting a person's own one changes no chat (`Session.installed_assistant`).
    """

    public = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="assistants",
        help_text="Empty: everybody may choose it.",
    )
    name = models.CharField(max_length=NAME_LENGTH)
    icon = models.CharField(
        max_length=16,
        blank=True,
        validators=[validate_icon],
        help_text=f"An emoji, or one of: {', '.join(SYMBOLS)}.",
    )
    instructions = models.TextField(blank=True, help_text="What a chat with it knows from the start.")
    examples = models.JSONField(
        default=list, blank=True, help_text="Messages with their roles, read before the history."
    )
    variables = models.JSONField(
        default=list, blank=True, help_text="Defaults of names that instructions and examples use."
    )
    model = models.CharField(max_length=80, blank=True, help_text="Empty: as the chat chooses.")
    thinking_level = models.CharField(max_length=8, blank=True, help_text="Empty: the model decides.")
    starters = models.JSONField(default=list, blank=True, help_text="First messages, offered on home.")
    language = models.CharField(
        max_length=40, blank=True, help_text="Language it answers in; empty: the person's."
    )
    description = models.TextField(blank=True, help_text="Prompts know it as assistant.description.")
    tools = models.JSONField(null=True, blank=True, help_text="Names of its tools; null means all.")
    provider_tools = models.JSONField(
        default=list, blank=True, help_text="Names of the provider's own tools."
    )
    answer_schema = models.TextField(
        blank=True, help_text="JSON schema of its answers; empty: they are text."
    )
    updated_at = models.DateTimeField(auto_now=True)

    objects = AssistantQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "name"], name="assistant_name_once_per_owner"),
            models.UniqueConstraint(
                fields=["name"], condition=Q(owner=None), name="assistant_name_once_installed"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_installed(self) -> bool:
        return self.owner_id is None

    @property
    def symbol(self) -> str:
        """Its name in the icon set; empty for an emoji."""
        return self.icon if self.icon in SYMBOLS else "" if self.icon else SYMBOLS[0]

    @property
    def known(self) -> KnownSettings:
        """What it brings of settings, as far as this version knows it."""
        return KnownSettings.of({name: getattr(self, name) for name in BROUGHT})

    @property
    def known_tools(self) -> list[str] | None:
        """Names of its tools; None means all."""
        return KnownSettings.of({"tools": self.tools}).options.tools

    @property
    def known_starters(self) -> list[str]:
        return [one for one in _items(self.starters) if isinstance(one, str)]

    @property
    def unknown(self) -> tuple[Unknown, ...]:
        """What it holds and this version does not take: a chat begins without it, and it stays stored."""
        starters = (one for one in _items(self.starters) if not isinstance(one, str))
        return (*self.known.unknown, *(Unknown("starters", one) for one in starters))

    def apply_to(self, session: "Session") -> None:
        """Sets what the session begins with, without saving; its roles are copied by `copy_roles`."""
        session.assistant = self
        session.background, session.procedure = self.instructions, self.procedure
        session.model = self.model or session.model
        brought = self.known.options.model_dump(mode="json", include=set(BROUGHT))
        session.settings = {**session.settings, **brought}

    def copy_roles(self, session: "Session") -> None:
        session.roles.set(self.roles.all())

    def duplicate(self, owner: "User") -> "Assistant":
        """A copy of the person's own, under a name that they do not use yet."""
        fields: dict[str, Any] = {name: getattr(self, name) for name in COPIED}
        made = type(self).objects.create(owner=owner, name=self._free_name(owner), **fields)
        made.roles.set(self.roles.all())
        return made

    def _free_name(self, owner: "User") -> str:
        used = set(type(self).objects.own(owner).values_list("name", flat=True))
        tails = ["", " (copy)", *(f" (copy {number})" for number in range(2, len(used) + 3))]
        names = (self.name[: NAME_LENGTH - len(tail)] + tail for tail in tails)
        return next(name for name in names if name not in used)


BROUGHT = (
    "thinking_level",
    "language",
    "tools",
    "provider_tools",
    "answer_schema",
    "examples",
    "variables",
)
"""Its fields that are settings of a session, by the same names."""

COPIED = (
    *("icon", "instructions", "model", "thinking_level", "starters", "language", "description", "tools"),
    *("procedure", "provider_tools", "answer_schema", "examples", "variables"),
)
"""What a duplicate has of the original, beside its roles."""


def _items(stored: Any) -> list[Any]:
    """Those of a list; what is none is one item, unless it is empty."""
    if isinstance(stored, list):
        return stored
    return [] if stored in (None, "", {}) else [stored]
