"""How long payloads and sessions are kept, and what was taken away by that."""

from datetime import timedelta

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

TRASH_DAYS = 30
"""Days after which a deleted session is erased where no rule says otherwise."""

LONGEST_DAYS = 36_500
"""A rule for longer takes nothing: no such moment may be computed."""


class RetentionRules(models.Model):
    """The one row of rules of the installation; an empty field sets no bound.

    Payloads are the bytes that were sent and received: requests, chunks, HTTP bodies. Totals, money, verdicts
    and the chat itself stay without them.
    """

    payload_days = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(LONGEST_DAYS)],
        help_text="Payloads go so many days after the last use of their session.",
    )
    payload_mb = models.PositiveIntegerField(
        "payload MB",
        null=True,
        blank=True,
        help_text="Above it, payloads of the sessions that were used longest ago go.",
    )
    session_days = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(LONGEST_DAYS)],
        help_text="Whole sessions are erased so many days after their last use.",
    )
    session_mb = models.PositiveIntegerField(
        "session MB",
        null=True,
        blank=True,
        help_text="Above it, the sessions that were used longest ago are erased.",
    )
    trash_days = models.PositiveIntegerField(
        default=TRASH_DAYS,
        validators=[MaxValueValidator(LONGEST_DAYS)],
        help_text="Deleted sessions are erased after so many days.",
    )

    class Meta:
        verbose_name_plural = "retention rules"

    def __str__(self) -> str:
        return "retention"

    @classmethod
    def current(cls) -> "RetentionRules":
        """The row, or one with the defaults."""
        return cls._default_manager.first() or cls()

    def clean(self) -> None:
        if type(self)._default_manager.exclude(pk=self.pk).exists():
            raise ValidationError("There are rules already: change that row.")

    def age_of(self, field: str) -> timedelta | None:
        """None where nothing goes for its age. Rows of earlier versions may have any number of days."""
        days: int | None = getattr(self, field)
        return None if days is None or days > LONGEST_DAYS else timedelta(days=days)


class RetentionReport(models.Model):
    """What one round took away; a round that took nothing has none. Bytes are those before packing."""

    at = models.DateTimeField(auto_now_add=True)
    purged_sessions = models.PositiveIntegerField(default=0)
    purged_exchanges = models.PositiveIntegerField(default=0)
    erased_sessions = models.PositiveIntegerField(default=0)
    erased_from_trash = models.PositiveIntegerField(default=0)
    bytes = models.PositiveBigIntegerField(default=0)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M}"
