"""Who answers and in which way."""

from typing import Any

from django.db import models

from sessions_app.models.text import PromptText


class Persona(models.Model):
    """What an assistant has, and what a session may choose for itself."""

    roles: "models.ManyToManyField[PromptText, Any]" = models.ManyToManyField(
        PromptText, blank=True, related_name="+", limit_choices_to={"kind": "role"}
    )
    procedure = models.ForeignKey(
        PromptText,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        limit_choices_to={"kind": "procedure"},
    )

    class Meta:
        abstract = True
