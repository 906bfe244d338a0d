"""The row that shows whether the database takes writes."""

from typing import ClassVar

from django.db import models
from django.utils import timezone


class DatabaseProbe(models.Model):
    """One row, which the health probe of every process writes (`health.probe`)."""

    written_at = models.DateTimeField()

    objects: ClassVar[models.Manager["DatabaseProbe"]] = models.Manager()

    def __str__(self) -> str:
        return f"written at {self.written_at}"

    @classmethod
    def write(cls) -> None:
        """Writes the row in one statement. Raises DatabaseError."""
        row = cls(pk=1, written_at=timezone.now())
        cls.objects.bulk_create(
            [row], update_conflicts=True, unique_fields=["pk"], update_fields=["written_at"]
        )
