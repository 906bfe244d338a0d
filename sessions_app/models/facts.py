"""What admins and `manage.py conform` know about models, over what the code knows."""

from typing import Any

from django.db import models

UNTOLD_MINIMUM = 4_096
"""Tokens of the smallest explicit cache where an admin says only that there are caches: the largest seen."""

TOLD = ("implicit_minimum", "thinking", "signatures_required", "sampling", "input_limit", "output_limit")


class ModelFacts(models.Model):
    """One row of the capability table; an empty field keeps what the code says."""

    model = models.CharField(
        max_length=80, unique=True, help_text="A model's name, or how a family's names begin."
    )
    is_family = models.BooleanField(default=False, help_text="Holds for every model whose name begins so.")
    served_by = models.CharField(max_length=80, blank=True)
    has_explicit_caches = models.BooleanField(null=True, blank=True)
    explicit_minimum = models.PositiveIntegerField(null=True, blank=True, help_text="Tokens.")
    implicit_minimum = models.PositiveIntegerField(null=True, blank=True, help_text="Tokens.")
    thinking = models.CharField(
        max_length=8, blank=True, choices=[("level", "level"), ("budget", "budget"), ("none", "none")]
    )
    levels = models.JSONField(null=True, blank=True, help_text='["LOW", "HIGH"]')
    signatures_required = models.BooleanField(null=True, blank=True)
    sampling = models.BooleanField(null=True, blank=True)
    input_limit = models.PositiveIntegerField(null=True, blank=True, help_text="Tokens.")
    output_limit = models.PositiveIntegerField(null=True, blank=True, help_text="Tokens.")
    note = models.CharField(max_length=300, blank=True)
    checked_at = models.DateTimeField(null=True, blank=True, help_text="When somebody last looked.")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["model"]
        verbose_name_plural = "model facts"

    def __str__(self) -> str:
        return self.model

    def told(self) -> dict[str, Any]:
        """What this row says, by the names of the capability table; the explicit cache apart."""
        told = {name: getattr(self, name) for name in TOLD if getattr(self, name) not in (None, "")}
        return told if self.levels is None else told | {"levels": tuple(self.levels)}

    def explicit_minimum_over(self, known: int | None) -> int | None:
        """Tokens of the smallest explicit cache, None for none; `known` is what was said so far."""
        if self.has_explicit_caches is False:
            return None
        minimum = known if self.explicit_minimum is None else self.explicit_minimum
        return UNTOLD_MINIMUM if minimum is None and self.has_explicit_caches else minimum
