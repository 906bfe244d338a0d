"""Sums of money by person, day and model."""

from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple, Self

from django.conf import settings
from django.db import IntegrityError, models, transaction
from django.db.models import F

from sessions_app.models.instances import new
from sessions_app.models.prepared import Change, Parameter, insert, parameter
from sessions_app.prompt.pricing import MoneySource

MODEL_LENGTH = 80

SOURCES = [(source.value, source.name.capitalize()) for source in MoneySource]


class DayKey(NamedTuple):
    """What a row of spending is the sum of; `owner` is 0 for people who were erased."""

    owner: int
    day: date
    model: str
    source: str


class SpendingQuerySet(models.QuerySet["Spending"]):
    def of(self, owner_id: int | None) -> Self:
        return self.filter(owner_id=owner_id)

    def add(self, key: DayKey, amounts: dict[str, int | Decimal]) -> None:
        """Adds to the columns of a day: one statement, except for the first of a day."""
        named = {f"of_{name}": value for name, value in key._asdict().items()}
        # A day of nobody may have several rows, one for each person who was erased.
        if key.owner and _added.run(**named, **amounts):
            return
        found = {"owner_id": key.owner or None, "day": key.day, "model": key.model, "source": key.source}
        try:
            with transaction.atomic():
                insert(new(Spending, **found, **amounts))
        except IntegrityError:
            # Another process created the row between the two statements.
            _added.run(**named, **amounts)


class Spending(models.Model):
    """The sums of the bookings of one person, day, model and source; kept, so that a budget reads few rows.

    It stays when a session is erased, and without the person when the person is.
    """

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.SET_NULL,
        related_name="spending",
        db_index=False,
    )
    day = models.DateField()
    model = models.CharField(max_length=MODEL_LENGTH)
    source = models.CharField(max_length=8, choices=SOURCES, default=MoneySource.UNKNOWN.value)
    exchanges = models.PositiveIntegerField(default=0)
    unpriced = models.PositiveIntegerField(default=0, help_text="Bookings whose price is unknown.")
    cut_off = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Bookings of answers that were not received to their end."
    )
    estimates = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Bookings whose sum is an estimate."
    )
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    cached_tokens = models.PositiveBigIntegerField(default=0)
    output_tokens = models.PositiveBigIntegerField(default=0)
    thought_tokens = models.PositiveBigIntegerField(default=0)
    tool_use_tokens = models.PositiveBigIntegerField(
        default=0, db_default=0, help_text="Of the provider's tools; charged as the prompt, beside it."
    )
    usd = models.DecimalField(max_digits=16, decimal_places=8, default=0, help_text="Of the requests.")
    caches = models.PositiveIntegerField(default=0, help_text="Explicit caches made.")
    cache_usd = models.DecimalField(
        max_digits=16, decimal_places=8, default=0, help_text="What making them cost."
    )
    storage_usd = models.DecimalField(
        max_digits=16, decimal_places=8, default=0, help_text="What keeping them costs until they expire."
    )

    objects = SpendingQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "spending"
        ordering = ["-day", "model", "source"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "day", "model", "source"], name="spending_once")
        ]

    def __str__(self) -> str:
        return f"{self.day} {self.model}"

    @property
    def total(self) -> Decimal:
        return self.usd + self.cache_usd + self.storage_usd

    @property
    def is_emulated(self) -> bool:
        return self.source == MoneySource.EMULATOR

    @property
    def is_programs(self) -> bool:
        """Whether programs paid it with keys of their own: it counts in no budget."""
        return self.source == MoneySource.CLIENT


AMOUNTS = (
    *("exchanges", "unpriced", "cut_off", "estimates", "prompt_tokens", "cached_tokens", "output_tokens"),
    *("thought_tokens", "tool_use_tokens", "usd", "caches", "cache_usd", "storage_usd"),
)
"""The columns that bookings are added to."""


def _adding() -> "tuple[models.QuerySet[Spending], dict[str, Any]]":
    fields: dict[str, Any] = {name: Spending._meta.get_field(name) for name in DayKey._fields}
    key = {name: Parameter(f"of_{name}", field) for name, field in fields.items()}
    return Spending.objects.filter(**key), {name: F(name) + parameter(Spending, name) for name in AMOUNTS}


_added = Change(_adding)
