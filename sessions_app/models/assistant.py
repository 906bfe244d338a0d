"""Who answers: a named set of roles, procedure and tools that a person picks for a session."""

import uuid
from typing import TYPE_CHECKING, Any

from django.db import models

if TYPE_CHECKING:
    from sessions_app.models.text import PromptText


class Assistant(models.Model):
    public = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(max_length=80, unique=True)
    language = models.CharField(
        max_length=40, blank=True, help_text="Language it answers in; empty: the person's."
    )
    description = models.TextField(blank=True, help_text="Prompts know it as assistant.description.")
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
    tools = models.JSONField(null=True, blank=True, help_text="Names of its tools; null means all.")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
