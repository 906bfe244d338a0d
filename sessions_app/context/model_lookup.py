"""Facts and prices of a model, from rows that each process keeps in memory for `TTL` seconds."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import partial
from time import monotonic
from typing import Any, Generic, TypeVar

from django.db import transaction
from django.db.models import Model
from django.db.models.signals import post_delete, post_save

from sessions_app import catalogue
from sessions_app.catalogue import CATALOGUE
from sessions_app.catalogue.entries import LifecycleChange
from sessions_app.gemini.model_capabilities import Capabilities, base_of, capabilities_of, known_models
from sessions_app.models import Exchange, ModelFacts, ModelLifecycle, Price, Session
from sessions_app.prompt.model_notices import AHEAD_DAYS
from sessions_app.prompt.remarks import Remark, RemarkCode

TTL = 30.0
"""Seconds a value is kept: an edit in another process is late by so much."""

MOST = 10_000
"""Values that are kept; all are dropped when there would be more."""

V = TypeVar("V")


class TimedCache(Generic[V]):
    """Values by key, each kept for `ttl` seconds; cleared when this process changes a row of `models`."""

    def __init__(self, *models: type[Model], ttl: float = TTL) -> None:
        self._ttl = ttl
        self._values: dict[Hashable, tuple[float, V]] = {}
        for model in models:
            for signal in (post_save, post_delete):
                signal.connect(self.clear_on_change, sender=model)

    def get(self, key: Hashable, read: Callable[[], V]) -> V:
        """The kept value, or what `read` gives now; None is kept like any value."""
        kept = self._values.get(key)  # once: another thread may clear in between
        if kept is None or kept[0] < monotonic():
            if len(self._values) >= MOST:
                self._values.clear()
            kept = self._values[key] = (monotonic() + self._ttl, read())
        return kept[1]

    def find(self, key: Hashable) -> V | None:
        """The kept value, if there is one."""
        kept = self._values.get(key)
        return None if kept is None or kept[0] < monotonic() else kept[1]

    def put(self, key: Hashable, value: V) -> None:
        self._values[key] = monotonic() + self._ttl, value

    def clear(self) -> None:
        self._values.clear()

    def clear_on_change(self, **_: Any) -> None:
        """A receiver of signals."""
        self.clear()


_facts: TimedCache[list[ModelFacts]] = TimedCache(ModelFacts)
_capabilities: TimedCache[Capabilities] = TimedCache(ModelFacts, ModelLifecycle)
_lifecycles: TimedCache[Mapping[str, Sequence[LifecycleChange]]] = TimedCache(ModelLifecycle)
_prices: TimedCache[Price | None] = TimedCache(Price)
_charged: TimedCache[Price] = TimedCache(Price)
_coming: TimedCache[Mapping[str, Price]] = TimedCache(Price)
_all_prices: TimedCache[Mapping[str, Price]] = TimedCache(Price)


def facts_of(model: str, served: str = "", day: date | None = None) -> Capabilities:
    """Capabilities for a request to `model`; `served` is the `modelVersion` of its newest answer.

    Where the provider routes the name to another model, facts and family are those of the model that
    answered. A row for the exact name overrides a family's row, which overrides the catalogue; to which
    model the name is routed on `day`, by default today, only rows say: one with a date that is in force, else
    `ModelFacts.served_by`, which has none.
    """
    at = day or catalogue.today()
    return _capabilities.get((model, served, at), lambda: _facts_on(model, served, at))


def _facts_on(model: str, served: str, day: date) -> Capabilities:
    if not served or base_of(served) == base_of(model):
        dated = _family_on(model, day)
        facts = _overridden(capabilities_of(model))
        family = base_of(served) or dated or facts.family
        return replace(facts, family=family)
    facts = _overridden(capabilities_of(served))
    return replace(facts, model=model.rpartition("/")[2], family=base_of(served))


def newest_served(session: Session, endpoint: str) -> str:
    """The `modelVersion` of the newest answer of the session's model there; empty without one."""
    answers = Exchange.objects.filter(
        session=session, model=session.model, route__startswith=f"{endpoint}/"
    ).exclude(served_model="")
    return answers.order_by("-number").values_list("served_model", flat=True).first() or ""


def title_of(model: str) -> str:
    """What people call it: the catalogue's title, else its name."""
    entry = CATALOGUE.get(base_of(model))
    return entry.title if entry else model


def summary_of(model: str) -> str:
    """The line that an admin wrote for those who choose a model; empty for none."""
    rows = [row for row in _rows() if row.summary and _applies_to(row, base_of(model))]
    return rows[-1].summary if rows else ""


def model_names() -> tuple[str, ...]:
    """The catalogue's names, newest first, then those that only rows have."""
    known = known_models()
    return known + tuple(row.model for row in _rows() if not row.is_family and row.model not in known)


def model_warnings(model: str, served: str = "") -> tuple[Remark, ...]:
    """Remarks on a model that is unknown or served by another."""
    asked, facts = facts_of(model), facts_of(model, served)
    found = []
    if not facts.known:
        name, has_caches = base_of(served or model), facts.has_explicit_caches
        found.append(Remark(code=RemarkCode.MODEL_UNKNOWN, model=name, has_caches=has_caches))
    if asked.family != facts.family:
        found.append(
            Remark(code=RemarkCode.MODEL_ROUTED, model=model, expected=asked.family, served=facts.family)
        )
    return tuple(found)


def _rows() -> list[ModelFacts]:
    """Every row in the order of application: short families first, exact names last."""
    return _facts.get(
        "rows",
        lambda: sorted(ModelFacts.objects.all(), key=lambda row: (not row.is_family, len(row.model))),
    )


def lifecycle_of(model: str) -> Sequence[LifecycleChange]:
    """What becomes of the name, oldest first."""
    return _lifecycles.get("rows", _read_lifecycles).get(base_of(model), ())


def _read_lifecycles() -> Mapping[str, Sequence[LifecycleChange]]:
    found: dict[str, list[LifecycleChange]] = {}
    for row in ModelLifecycle.objects.order_by("valid_from"):
        change = LifecycleChange(
            valid_from=row.valid_from,
            source=row.source,
            served_by=row.served_by,
            is_retired=row.is_retired,
            successor=row.successor,
        )
        found.setdefault(row.model, []).append(change)
    return found


def _family_on(model: str, day: date) -> str:
    """The model behind the name, by the newest change in force; empty where there is none."""
    valid = [change for change in lifecycle_of(model) if change.valid_from <= day]
    return base_of(valid[-1].served_by or model) if valid else ""


def _overridden(facts: Capabilities) -> Capabilities:
    """The family is the name itself, unless a row says another."""
    facts = replace(facts, family=base_of(facts.model))
    for row in _rows():
        if _applies_to(row, base_of(facts.model)):
            facts = _with_override(row, facts)
    return facts


def _applies_to(row: ModelFacts, base: str) -> bool:
    return base.startswith(row.model) if row.is_family else base == row.model


def _with_override(row: ModelFacts, facts: Capabilities) -> Capabilities:
    family = base_of(row.served_by) or facts.family
    minimum = row.explicit_minimum_over(facts.explicit_minimum)
    return replace(facts, **row.overrides(), family=family, explicit_minimum=minimum, known=True)


def price_now(model: str, day: date, *, family: str = "") -> Price | None:
    """The price of a model on a day, at most `TTL` seconds old.

    Not for booking: a price deleted just now is not charged (`price_to_charge`).
    """
    return _prices.get((model, day, family), lambda: Price.objects.of(model, day, family=family))


def price_to_charge(model: str, day: date, family: str) -> Price | None:
    """The price that a booking of this day names: one query, unless it was charged within `TTL` seconds.

    A price that was charged neither changes nor can be deleted.
    """
    key = (model, day, family)
    if (charged := _charged.find(key)) is not None:
        return charged
    price = Price.objects.of(model, day, family=family)
    if price is not None:
        transaction.on_commit(partial(_keep_charged, key, price))
    return price


def _keep_charged(key: Hashable, price: Price) -> None:
    """Called after a transaction that may have charged it, which the rows tell."""
    if Price.objects.filter(pk=price.pk).used().exists():
        _charged.put(key, price)


def prices_on(day: date) -> Mapping[str, Price]:
    """The price of every model that has one on the day: one query for all models."""
    return _all_prices.get(day, lambda: _read_prices(day))


def _read_prices(day: date) -> Mapping[str, Price]:
    return {price.model: price for price in Price.objects.filter(valid_from__lte=day).order_by("valid_from")}


def coming_price(model: str, day: date) -> Price | None:
    """The next price of a model within `AHEAD_DAYS` after `day`: one query for all models."""
    return _coming.get(day, lambda: _read_coming(day)).get(base_of(model))


def _read_coming(day: date) -> Mapping[str, Price]:
    rows = Price.objects.filter(valid_from__gt=day, valid_from__lte=day + timedelta(days=AHEAD_DAYS))
    return {price.model: price for price in rows.order_by("-valid_from")}


def clear_caches() -> None:
    """Facts and prices are read from the database again."""
    for kept in (_facts, _capabilities, _lifecycles, _prices, _charged, _coming, _all_prices):
        kept.clear()
