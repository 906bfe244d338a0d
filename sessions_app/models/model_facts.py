"""Facts about models: overrides of the catalogue, and refusals of explicit caches."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.utils import timezone

from sessions_app.models.columns import storable
from sessions_app.models.prepared import Reading, parameter
from sessions_app.models.session_settings import SessionSettings
from sessions_app.prompt.caching import pause_after

DEFAULT_EXPLICIT_MINIMUM = 4_096
"""Tokens of the smallest explicit cache where an admin set only `has_explicit_caches`."""

OVERRIDES = (
    *("implicit_minimum", "thinking", "signatures_required", "sampling", "input_limit", "output_limit"),
    "mixes_tools",
)

_CHOICES = SessionSettings.form_fields()

LISTS: Mapping[str, tuple[str, ...]] = {
    "levels": tuple(filter(None, _CHOICES["thinking_level"].choices)),
    "own_tools": tuple(_CHOICES["provider_tools"].choices),
}
"""Fields that hold a list, and the names that pages and requests know. Others would fail every page."""


class ModelFacts(models.Model):
    """One row of the capability table; an empty field keeps what the code says."""

    model = models.CharField(
        max_length=80, unique=True, help_text="A model's name, or how a family's names begin."
    )
    is_family = models.BooleanField(default=False, help_text="Holds for every model whose name begins so.")
    served_by = models.CharField(max_length=80, blank=True)
    summary = models.CharField(
        max_length=120, blank=True, help_text="One line for who chooses a model; empty: said from its facts."
    )
    has_explicit_caches = models.BooleanField(null=True, blank=True)
    explicit_minimum = models.PositiveIntegerField(null=True, blank=True, help_text="Tokens.")
    implicit_minimum = models.PositiveIntegerField(null=True, blank=True, help_text="Tokens.")
    thinking = models.CharField(
        max_length=8, blank=True, choices=[("level", "level"), ("budget", "budget"), ("none", "none")]
    )
    levels = models.JSONField(null=True, blank=True, help_text='["LOW", "HIGH"]')
    signatures_required = models.BooleanField(null=True, blank=True)
    sampling = models.BooleanField(null=True, blank=True)
    own_tools = models.JSONField(
        null=True, blank=True, help_text='["google_search", "url_context", "code_execution"]'
    )
    mixes_tools = models.BooleanField(
        null=True, blank=True, help_text="Takes them beside functions, and either beside a JSON schema."
    )
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

    def clean(self) -> None:
        """Raises ValidationError for a list with anything but known names."""
        wrong = {
            name: ValidationError(f"A list of these names: {', '.join(known)}.", code="unknown_name")
            for name, known in LISTS.items()
            if getattr(self, name) is not None and _known(name, getattr(self, name)) != getattr(self, name)
        }
        if wrong:
            raise ValidationError(wrong)

    def overrides(self) -> dict[str, Any]:
        """The fields that are set, by their names in `Capabilities`, without those of explicit caches."""
        overrides = {name: getattr(self, name) for name in OVERRIDES if getattr(self, name) not in (None, "")}
        lists = {name: getattr(self, name) for name in LISTS}
        return overrides | {
            name: tuple(_known(name, value)) for name, value in lists.items() if isinstance(value, list)
        }

    def explicit_minimum_over(self, known: int | None) -> int | None:
        """Tokens of the smallest explicit cache, None for none; `known` is the value without this row."""
        if self.has_explicit_caches is False:
            return None
        minimum = known if self.explicit_minimum is None else self.explicit_minimum
        return DEFAULT_EXPLICIT_MINIMUM if minimum is None and self.has_explicit_caches else minimum


def _known(name: str, value: Any) -> list[str]:
    """The names in the value of a list field that are known."""
    return [one for one in value if one in LISTS[name]] if isinstance(value, list) else []


class CacheRefusalQuerySet(models.QuerySet["CacheRefusal"]):
    def of(self, route: str, model: str) -> "CacheRefusal | None":
        return _of_route.first(route=route, model=model)

    def set_minimum(
        self, route: str, model: str, minimum: int, said: str, *, estimated: int = 0, counted: int = 0
    ) -> None:
        """Stores the smallest cache that the provider accepts, in tokens.

        `estimated` and `counted` are our estimate and the provider's count of the text that it refused.
        """
        facts = {"minimum": minimum, "said": storable(said, 300), "estimated": estimated, "counted": counted}
        self.update_or_create(route=route, model=model, defaults=facts)

    @transaction.atomic
    def refuse(self, route: str, model: str, said: str, seconds: float | None = None) -> None:
        """Counts a refusal of this model or key; each doubles the pause before the next try.

        The pause is at least `seconds`, the provider's own.
        """
        self.get_or_create(route=route, model=model)
        refusal = self.select_for_update().get(route=route, model=model)
        refusal.failures += 1
        pause = max(pause_after(refusal.failures), timedelta(seconds=seconds or 0))
        refusal.refused_until = timezone.now() + pause
        refusal.said = storable(said, 300)
        refusal.save()

    def reset_failures(self, route: str, model: str) -> None:
        """After a cache was created; the minimum is kept."""
        self.filter(route=route, model=model, failures__gt=0).update(failures=0, refused_until=None)


class CacheRefusal(models.Model):
    """A provider's refusal of explicit caches, so that it is not asked again at every turn."""

    route = models.CharField(max_length=64)
    model = models.CharField(max_length=80)
    minimum = models.PositiveIntegerField(null=True, blank=True, help_text="Tokens that it demanded.")
    estimated = models.PositiveIntegerField(
        default=0, help_text="Our estimate of the text that it refused as too small, in tokens."
    )
    counted = models.PositiveIntegerField(default=0, help_text="Its own count of that text.")
    refused_until = models.DateTimeField(null=True, blank=True)
    failures = models.PositiveSmallIntegerField(default=0)
    said = models.CharField(max_length=300, blank=True, help_text="What the provider said last.")
    learned_at = models.DateTimeField(auto_now=True)

    objects = CacheRefusalQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["route", "model"], name="cache_refusal_once")]

    def __str__(self) -> str:
        return f"{self.model}: {self.said}"

    @property
    def calibration(self) -> float:
        """The provider's count of a text divided by our estimate of it; 1 when unknown."""
        return self.counted / self.estimated if self.counted and self.estimated else 1.0

    def refusal(self, now: datetime) -> str:
        """The provider's message, until caches may be tried again; else empty."""
        return self.said if self.refused_until is not None and self.refused_until > now else ""


_of_route: Reading[CacheRefusal] = Reading(
    lambda: CacheRefusal.objects.filter(
        route=parameter(CacheRefusal, "route"), model=parameter(CacheRefusal, "model")
    )
)
