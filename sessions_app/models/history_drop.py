"""Old messages that the model let go, with what a person needs to put them back."""

from typing import Self

from django.db import models
from django.utils import timezone


class HistoryDropQuerySet(models.QuerySet["HistoryDrop"]):
    def waiting(self) -> Self:
        """Those to be carried out when an answer is over."""
        return self.filter(done_at=None, undone_at=None)


class HistoryDrop(models.Model):
    """One history chunk that left the branch in view. `key` is what the response of its call names."""

    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="history_drops")
    key = models.CharField(max_length=8)
    chunk = models.ForeignKey("HistoryChunk", on_delete=models.CASCADE, related_name="drops")
    name = models.CharField(max_length=80, help_text="That of the chunk.")
    messages = models.PositiveIntegerField(help_text="Turns that it held.")
    left = models.ForeignKey(
        "Turn",
        null=True,
        on_delete=models.CASCADE,
        related_name="+",
        help_text="The head of the branch that was left, which still has them.",
    )
    head = models.ForeignKey(
        "Turn",
        null=True,
        on_delete=models.CASCADE,
        related_name="+",
        help_text="The head of the branch without them, as it was made.",
    )
    at = models.DateTimeField(default=timezone.now)
    done_at = models.DateTimeField(null=True, blank=True)
    undone_at = models.DateTimeField(null=True, blank=True)

    objects = HistoryDropQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["session", "key"], name="history_drop_once")]

    def __str__(self) -> str:
        return f"without {self.name}"
