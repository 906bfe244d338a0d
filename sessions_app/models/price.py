"""Prices of models, spending and allowances of people."""

from dataclasses import asdict, dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Self

from django.apps.registry import Apps
from django.apps.registry import apps as installed_apps
from django.conf import settings
from django.db import IntegrityError, models, transaction
from django.db.models import F

from sessions_app.catalogue import CATALOGUE
from sessions_app.models.seeding import add_new_rows
from sessions_app.prompt.pricing import Rates, price_names
from sessions_app.prompt.reply import Usage


class PriceQuerySet(models.QuerySet["Price"]):
    def of(self, model: str, day: date, *, family: str = "") -> "Price | None":
        """The price of the model that served, on that day; None when there is none.

        A name is looked up as it is, then without its revision, then as `family`, the model that
        really serves an alias. It is never cut to the name of a shorter model.
        """
        names = [*price_names(model), *price_names(family)]
        found = {price.model: price for price in self.filter(model__in=names, valid_from__lte=day).reverse()}
        return next((found[name] for name in names if name in found), None)


class Price(models.Model):
    """US dollars per million tokens of one model, from one day on; old exchanges keep theirs."""

    model = models.CharField(max_length=80)
    valid_from = models.DateField()
    input = models.DecimalField(max_digits=12, decimal_places=6)
    cached = models.DecimalField(max_digits=12, decimal_places=6)
    output = models.DecimalField(max_digits=12, decimal_places=6, help_text="Thoughts included.")
    above = models.PositiveIntegerField(
        null=True, blank=True, help_text="Prompt tokens above which the second tier holds."
    )
    input_above = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    cached_above = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    output_above = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    storage = models.DecimalField(
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        help_text="Per million tokens and hour; null: unknown.",
    )
    source = models.CharField(max_length=200, blank=True)

    objects = PriceQuerySet.as_manager()

    class Meta:
        ordering = ["model", "-valid_from"]
        constraints = [models.UniqueConstraint(fields=["model", "valid_from"], name="price_once_per_day")]

    def __str__(self) -> str:
        return f"{self.model} from {self.valid_from}"

    def rates(self, prompt_tokens: int) -> Rates:
        """The rates for a request of this size; a long prompt is charged at the second tier throughout."""
        if self.above is None or prompt_tokens <= self.above:
            return Rates(self.input, self.cached, self.output, self.storage)
        return Rates(
            self.input if self.input_above is None else self.input_above,
            self.cached if self.cached_above is None else self.cached_above,
            self.output if self.output_above is None else self.output_above,
            self.storage,
        )


class SeededPrice(models.Model):
    """A price of the catalogue that was added here once, so that an admin's deletion lasts."""

    model = models.CharField(max_length=80)
    valid_from = models.DateField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["model", "valid_from"], name="seeded_price_once")]

    def __str__(self) -> str:
        return f"{self.model} from {self.valid_from}"


def seed_prices(using: str, apps: Apps = installed_apps, **_: Any) -> None:
    """Receiver of `post_migrate`: adds new prices of the catalogue; existing rows are kept."""
    rows = [{"model": entry.name, **asdict(price)} for entry in CATALOGUE.values() for price in entry.prices]
    add_new_rows(using, apps, table="Price", remembered="SeededPrice", rows=rows)


@dataclass(frozen=True, slots=True)
class SpendingKey:
    """Owner, day and model of a row of spending."""

    owner_id: int
    day: date
    model: str


class SpendingQuerySet(models.QuerySet["Spending"]):
    def of(self, owner_id: int | None) -> Self:
        return self.filter(owner_id=owner_id)

    def add_exchange(self, entry: SpendingKey, usage: Usage, usd: Decimal | None) -> None:
        """Books one exchange; `usd` is None when its price is unknown."""
        self._book(
            entry,
            exchanges=1,
            unpriced=int(usd is None),
            prompt_tokens=usage.prompt,
            cached_tokens=usage.cached,
            output_tokens=usage.output,
            thought_tokens=usage.thoughts,
            usd=usd or Decimal(0),
        )

    def add_cache(self, entry: SpendingKey, *, made: Decimal | None, kept: Decimal | None) -> None:
        """Books an explicit cache: US dollars for creating it, and for storing it during its time to live.

        `made` is 0 when the life of a cache is extended or cut short (`kept` negative). None is an unknown
        price.
        """
        self._book(
            entry,
            caches=int(made != 0),
            cache_usd=made or Decimal(0),
            storage_usd=kept or Decimal(0),
            unpriced=int(made is None or kept is None),
        )

    def _book(self, entry: SpendingKey, **amounts: int | Decimal) -> None:
        """One statement, except for the first booking of a day."""
        raised = {name: F(name) + amount for name, amount in amounts.items()}
        key = {"owner_id": entry.owner_id, "day": entry.day, "model": entry.model[:80]}
        if self.filter(**key).update(**raised):
            return
        try:
            with transaction.atomic():
                self.create(**key, **amounts)
        except IntegrityError:
            # Another process created the row between the two statements.
            self.filter(**key).update(**raised)


class Spending(models.Model):
    """What one person spent on one model in one day; stays when a session is deleted."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="spending")
    day = models.DateField()
    model = models.CharField(max_length=80)
    exchanges = models.PositiveIntegerField(default=0)
    unpriced = models.PositiveIntegerField(default=0, help_text="Exchanges whose price is unknown.")
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    cached_tokens = models.PositiveBigIntegerField(default=0)
    output_tokens = models.PositiveBigIntegerField(default=0)
    thought_tokens = models.PositiveBigIntegerField(default=0)
    usd = models.DecimalField(max_digits=16, decimal_places=8, default=0, help_text="Of the exchanges.")
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
        ordering = ["-day", "model"]
        constraints = [models.UniqueConstraint(fields=["owner", "day", "model"], name="spending_once")]

    def __str__(self) -> str:
        return f"{self.day} {self.model}"

    @property
    def total(self) -> Decimal:
        return self.usd + self.cache_usd + self.storage_usd


class Allowance(models.Model):
    """What a person may spend; an admin sets it."""

    owner = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="allowance")
    usd_per_day = models.DecimalField(max_digits=10, decimal_places=2, null=True, blank=True)
    usd_per_month = models.DecimalField(max_digits=10, decimal_places=2, null=True, blank=True)
    warn_percent = models.PositiveSmallIntegerField(default=80)

    def __str__(self) -> str:
        return str(self.owner)
