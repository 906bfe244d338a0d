"""Prices of models. One that was used never changes."""

from dataclasses import asdict
from datetime import date
from typing import Any, Self

from django.apps.registry import Apps
from django.apps.registry import apps as installed_apps
from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Exists, OuterRef, Q

from sessions_app.catalogue import CATALOGUE
from sessions_app.errors import PriceUsed
from sessions_app.models.seeding import add_new_rows
from sessions_app.prompt.pricing import Rates, price_names


class PriceQuerySet(models.QuerySet["Price"]):
    def of(self, model: str, day: date, *, family: str = "") -> "Price | None":
        """The price of the model that served, on that day; None when there is none.

        A name is looked up as it is, then without its revision, then as `family`, the model that
        really serves an alias. It is never cut to the name of a shorter model.
        """
        names = [*price_names(model), *price_names(family)]
        found = {price.model: price for price in self.filter(model__in=names, valid_from__lte=day).reverse()}
        return next((found[name] for name in names if name in found), None)

    def used(self) -> Self:
        """Those that an exchange or a booking was charged at."""
        from sessions_app import models as rows

        kinds = (rows.Exchange, rows.Booking)
        charged = [Q(Exists(kind._default_manager.filter(price=OuterRef("pk")))) for kind in kinds]
        return self.filter(charged[0] | charged[1])

    def update(self, **changes: Any) -> int:
        """Raises PriceUsed when one of them was used."""
        for used in self.order_by().used()[:1]:
            raise PriceUsed(str(used))
        return super().update(**changes)


_NOT_NEGATIVE = [MinValueValidator(0)]


class Price(models.Model):
    """US dollars per million tokens of one model, from one day on; old exchanges keep theirs."""

    model = models.CharField(max_length=80)
    valid_from = models.DateField()
    input = models.DecimalField(max_digits=12, decimal_places=6, validators=_NOT_NEGATIVE)
    cached = models.DecimalField(max_digits=12, decimal_places=6, validators=_NOT_NEGATIVE)
    output = models.DecimalField(
        max_digits=12, decimal_places=6, validators=_NOT_NEGATIVE, help_text="Thoughts included."
    )
    above = models.PositiveIntegerField(
        null=True, blank=True, help_text="Prompt tokens above which the second tier holds."
    )
    input_above = models.DecimalField(
        max_digits=12, decimal_places=6, validators=_NOT_NEGATIVE, null=True, blank=True
    )
    cached_above = models.DecimalField(
        max_digits=12, decimal_places=6, validators=_NOT_NEGATIVE, null=True, blank=True
    )
    output_above = models.DecimalField(
        max_digits=12, decimal_places=6, validators=_NOT_NEGATIVE, null=True, blank=True
    )
    storage = models.DecimalField(
        max_digits=12,
        decimal_places=6,
        validators=_NOT_NEGATIVE,
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

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Raises PriceUsed for a row that was used. It is only ever added to: by a row of a later day."""
        if self.is_used:
            raise PriceUsed(str(self))
        super().save(*args, **kwargs)

    def unique_error_message(self, model_class: Any, unique_check: Any) -> ValidationError:
        """Why there is no second row of a day."""
        return ValidationError(
            f"{self} is there already, and a day has one price: what was booked names the row that it was "
            "charged at. Change that row while nothing was charged at it, or take a later day.",
            code="price_once_per_day",
        )

    @property
    def is_used(self) -> bool:
        return Price.objects.filter(pk=self.pk).used().exists()

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
