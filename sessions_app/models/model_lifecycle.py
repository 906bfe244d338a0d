"""What becomes of a model's name from a day on: routed to another, retired. Dated rows with their source."""

from dataclasses import asdict
from typing import Any

from django.apps.registry import Apps
from django.apps.registry import apps as installed_apps
from django.db import models

from sessions_app.catalogue import CATALOGUE
from sessions_app.models.seeding import add_new_rows


class ModelLifecycle(models.Model):
    """What holds for a name from one day until that of its next row."""

    model = models.CharField(max_length=80)
    valid_from = models.DateField(help_text="The first day on which this holds (UTC).")
    served_by = models.CharField(
        max_length=80, blank=True, help_text="The model that answers; empty: the model itself."
    )
    is_retired = models.BooleanField("retired", default=False, help_text="The provider shut it down.")
    successor = models.CharField(
        max_length=80, blank=True, help_text="What the provider recommends instead; empty: unknown."
    )
    source = models.CharField(max_length=300, help_text="Where and when this was read.")

    class Meta:
        ordering = ["model", "-valid_from"]
        verbose_name_plural = "model lifecycles"
        constraints = [
            models.UniqueConstraint(fields=["model", "valid_from"], name="model_lifecycle_once_per_day")
        ]

    def __str__(self) -> str:
        return f"{self.model} from {self.valid_from}"


class SeededLifecycle(models.Model):
    """A row of the catalogue that was added here once, so that an admin's deletion lasts."""

    model = models.CharField(max_length=80)
    valid_from = models.DateField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["model", "valid_from"], name="seeded_lifecycle_once")]

    def __str__(self) -> str:
        return f"{self.model} from {self.valid_from}"


def seed_lifecycles(using: str, apps: Apps = installed_apps, **_: Any) -> None:
    """Receiver of `post_migrate`."""
    rows = [
        {"model": entry.name, **asdict(change)} for entry in CATALOGUE.values() for change in entry.lifecycle
    ]
    add_new_rows(using, apps, table="ModelLifecycle", remembered="SeededLifecycle", rows=rows)
