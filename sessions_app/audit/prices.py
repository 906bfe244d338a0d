"""Which model an answer came from, and the price row of its day, by the rows of models and prices alone."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from django.db.models import Min

from sessions_app.audit.rows import Row
from sessions_app.models import Booking, ModelFacts, ModelLifecycle, Price, SearchPrice

REVISION = re.compile(r"(?<=.)-(\d{3}|preview-\d\d-\d{2,4})$")


def base_name(model: str) -> str:
    """Without `models/` and without a revision such as `-001`."""
    return REVISION.sub("", model.rpartition("/")[2])


# No slots here: the cached properties need the instance dictionary.
@dataclass(frozen=True)
class PriceRows:
    """The tables of models and prices, each read once."""

    @cached_property
    def prices(self) -> Mapping[int, Row]:
        return {row["id"]: row for row in Price.objects.values()}

    @cached_property
    def search_prices(self) -> Mapping[int, Row]:
        return {row["id"]: row for row in SearchPrice.objects.values()}

    @cached_property
    def first_search(self) -> Mapping[int, int]:
        """The first booking at each price of a search."""
        used = Booking.objects.order_by().exclude(search_price=None).values_list("search_price")
        return dict(used.annotate(Min("pk")))

    @cached_property
    def first_used(self) -> Mapping[int, int]:
        """The first booking at each price."""
        used = Booking.objects.order_by().exclude(price=None).values_list("price")
        return dict(used.annotate(Min("pk")))

    @cached_property
    def _lifecycles(self) -> list[Row]:
        return list(ModelLifecycle.objects.order_by("valid_from").values())

    @cached_property
    def _facts(self) -> list[Row]:
        return sorted(ModelFacts.objects.values(), key=lambda row: (not row["is_family"], len(row["model"])))

    def family(self, model: str, day: date) -> str:
        """The model behind a name on a day."""
        base = found = base_name(model)
        dated = [row for row in self._lifecycles if row["model"] == base and row["valid_from"] <= day]
        if dated:
            return base_name(dated[-1]["served_by"] or base)
        for row in self._facts:
            applies = base.startswith(row["model"]) if row["is_family"] else base == row["model"]
            if applies and row["served_by"]:
                found = base_name(row["served_by"])
        return found

    def serving(self, model: str, reported: str, day: date) -> str:
        """What an answer is booked as: the model that it names, else the one behind the asked name."""
        return base_name(reported) or self.family(model, day)

    def valid(self, model: str, reported: str, day: date) -> Row | None:
        """The price row of that day, by the tables as they are now."""
        served = reported or self.family(model, day)
        behind = self.family(served, day)
        names = (served.rpartition("/")[2], base_name(served), behind)
        for name in names:
            rows = self._of(name, day)
            if rows:
                return max(rows, key=lambda row: row["valid_from"])
        return None

    def search(self, model: str, reported: str, day: date) -> Row | None:
        """The price row of a search that day, by the tables as they are now."""
        served = reported or self.family(model, day)
        for name in (served.rpartition("/")[2], base_name(served), self.family(served, day)):
            rows = [
                row
                for row in self.search_prices.values()
                if row["model"] == name and row["valid_from"] <= day
            ]
            if rows:
                return max(rows, key=lambda row: row["valid_from"])
        return None

    def search_due(self, booking: Row, valid: Row | None) -> int | None:
        """As `due`: a row that may have been entered after the booking changes nothing in it."""
        key: int | None = valid["id"] if valid else None
        booked: int | None = booking["search_price_id"]
        if key is None or key == booked or self.first_search.get(key, booking["id"]) < booking["id"]:
            return key
        charged = self.search_prices.get(booked or 0)
        is_kin = valid is None or charged is None or charged["model"] == valid["model"]
        return booked if key > (booked or 0) and is_kin else key

    def _of(self, name: str, day: date) -> list[Row]:
        return [row for row in self.prices.values() if row["model"] == name and row["valid_from"] <= day]

    def due(self, booking: Row, valid: Row | None) -> int | None:
        """The key of the price that the booking has to name: that of `valid`, or its own where `valid` may
        have been entered after it, since a correction is a new row and changes no booking.
        """
        key: int | None = valid["id"] if valid else None
        booked: int | None = booking["price_id"]
        if key is None or key == booked or self.first_used.get(key, booking["id"]) < booking["id"]:
            return key
        return booked if key > (booked or 0) and self._names(booked, valid) else key

    def _names(self, booked: int | None, valid: Row | None) -> bool:
        """Whether both rows are prices of one model; one that is missing is of any."""
        rows: Iterable[Row | None] = (self.prices.get(booked or 0), valid)
        return len({base_name(row["model"]) for row in rows if row}) == 1
