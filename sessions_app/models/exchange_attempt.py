"""The HTTP requests of an exchange: what was sent and received beside the bodies that other rows have."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import models

from sessions_app.models.blob import Blob, digest
from sessions_app.models.prepared import insert_all


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """An unsaved attempt with the body that belongs to it, and whose bytes these are."""

    attempt: "ExchangeAttempt"
    owner_id: int
    body: bytes


class ExchangeAttemptQuerySet(models.QuerySet["ExchangeAttempt"]):
    def append(self, rows: Sequence[AttemptRow]) -> None:
        """One statement for all rows, and one for the bodies of each owner; existing rows are kept."""
        for owner_id in {row.owner_id for row in rows if row.body}:
            owned = [row for row in rows if row.body and row.owner_id == owner_id]
            keys = Blob.objects.store(owner_id, (row.body for row in owned))
            for row in owned:
                row.attempt.body_id = keys[digest(row.body)]
        attempts = [row.attempt for row in rows]
        insert_all(attempts, unique=("exchange", "number"), updated=("number",))

    def duration(self) -> float | None:
        """Milliseconds of these attempts together; None where none is stored."""
        total: float | None = self.aggregate(total=models.Sum("total_ms"))["total"]
        return total


class ExchangeAttempt(models.Model):
    """One HTTP request. An exchange of an earlier version has none, and one that is not over yet.

    Headers are those of two lists of names (gemini.http_evidence), pairs of name and value; never the key.
    """

    exchange = models.ForeignKey(
        "Exchange", on_delete=models.CASCADE, related_name="attempts", db_index=False
    )
    number = models.PositiveIntegerField(help_text="Counts from 1 in the exchange.")
    waited_ms = models.FloatField(default=0, help_text="The pause before it.")
    started_at = models.DateTimeField()
    request_headers = models.JSONField(default=list, blank=True)
    status = models.PositiveSmallIntegerField(null=True, help_text="Empty: no response came.")
    reason = models.CharField(max_length=80, blank=True, help_text="The words after the status.")
    http_version = models.CharField(max_length=12, blank=True)
    response_headers = models.JSONField(default=list, blank=True)
    head_ms = models.FloatField(null=True, help_text="Until the head of the response.")
    total_ms = models.FloatField(null=True, help_text="Until the end of the response.")
    body = models.ForeignKey(
        Blob,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="What came in place of an answer, or of its next event.",
    )
    is_cut = models.BooleanField(
        default=False, help_text="`body` is the beginning only, or was not read: it was compressed."
    )

    objects = ExchangeAttemptQuerySet.as_manager()

    class Meta:
        ordering = ["exchange", "number"]
        constraints = [
            models.UniqueConstraint(fields=["exchange", "number"], name="attempt_number_in_exchange")
        ]

    def __str__(self) -> str:
        return f"attempt {self.number}"
