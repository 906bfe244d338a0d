"""The prompt library: texts that people choose for their sessions and admins edit."""

from django.db import models


class PromptText(models.Model):
    class Kind(models.TextChoices):
        ROLE = "role", "Role"
        PROCEDURE = "procedure", "Procedure"
        CONSTRAINT = "constraint", "Constraint"

    kind = models.CharField(max_length=12, choices=Kind)
    name = models.CharField(max_length=80)
    summary = models.CharField(max_length=200, blank=True, help_text="One line for the person who chooses.")
    body = models.TextField(help_text="What the model reads, in the static layer.")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["kind", "name"]
        constraints = [models.UniqueConstraint(fields=["kind", "name"], name="text_name_once_per_kind")]

    def __str__(self) -> str:
        return self.name
