"""Prices of searches at the provider. One that was used never changes."""

from dataclasses import asdict
from datetime import date
from typing import Any, Self

from django.apps.registry import Apps
from django.apps.registry import apps as installed_apps
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Exists, OuterRef

from sessions_app.catalogue import CATALOGUE
from sessions_app.errors import PriceUsed
from sessions_app.models.seeding import add_new_rows
from sessions_app.prompt.pricing import price_names


class SearchPriceQuerySet(models.QuerySet["SearchPrice"]):
    def of(self, model: str, day: date, *, family: str = "") -> "SearchPrice | None":
        """The price of a search on that day, by the names by which `Price` is looked up."""
        names = [*price_names(model), *price_names(family)]
        found = {one.model: one for one in self.filter(model__in=names, valid_from__lte=day).reverse()}
        return next((found[name] for name in names if name in found), None)

    def used(self) -> Self:
        """Those that a booking was charged at."""
        from sessions_app import models as rows

        return self.filter(Exists(rows.Booking._default_manager.filter(search_price=OuterRef("pk"))))

    def update(self, **changes: Any) -> int:
        """Raises PriceUsed when one of them was used."""
        for used in self.order_by().used()[:1]:
            raise PriceUsed(str(used))
        return super().update(**changes)


class SearchPrice(models.Model):
    """US dollars per thousand searches at the provider by one model, from one day on."""

    class Per(models.TextChoices):
        QUERY = "query", "query"
        PROMPT = "prompt", "prompt that was answered with a search"

    model = models.CharField(max_length=80)
    valid_from = models.DateField()
    usd = models.DecimalField(
        max_digits=12, decimal_places=6, validators=[MinValueValidator(0)], help_text="Per thousand."
    )
    per = models.CharField(max_length=8, choices=Per)
    source = models.CharField(max_length=200, blank=True)

    objects = SearchPriceQuerySet.as_manager()

    class Meta:
        ordering = ["model", "-valid_from"]
        constraints = [
            models.UniqueConstraint(fields=["model", "valid_from"], name="search_price_once_per_day")
        ]

    def __str__(self) -> str:
        return f"searches of {self.model} from {self.valid_from}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Raises PriceUsed for a row that was used."""
        if self.is_used:
            raise PriceUsed(str(self))
        super().save(*args, **kwargs)

    @property
    def is_used(self) -> bool:
        return SearchPrice.objects.filter(pk=self.pk).used().exists()

    def counted(self, queries: int) -> int:
        """How many searches are charged of an answer that took so many queries."""
        return queries if self.per == self.Per.QUERY else min(queries, 1)


class SeededSearchPrice(models.Model):
    """A row of `SearchPrice` that was added here once."""

    model = models.CharField(max_length=80)
    valid_from = models.DateField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["model", "valid_from"], name="seeded_search_price_once")
        ]

    def __str__(self) -> str:
        return f"searches of {self.model} from {self.valid_from}"


def seed_search_prices(using: str, apps: Apps = installed_apps, **_: Any) -> None:
    """Receiver of `post_migrate`, as `seed_prices`."""
    rows = [
        {"model": entry.name, **asdict(price)}
        for entry in CATALOGUE.values()
        for price in entry.search_prices
    ]
    add_new_rows(using, apps, table="SearchPrice", remembered="SeededSearchPrice", rows=rows)
