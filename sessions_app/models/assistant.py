"""Who answers: a named set of roles, procedure and tools that a person picks for a session."""

import uuid

from django.db import models

from sessions_app.models.persona import Persona


class Assistant(Persona):
    public = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(max_length=80, unique=True)
    language = models.CharField(
        max_length=40, blank=True, help_text="Language it answers in; empty: the person's."
    )
    description = models.TextField(blank=True, help_text="Prompts know it as assistant.description.")
    tools = models.JSONField(null=True, blank=True, help_text="Names of its tools; null means all.")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
