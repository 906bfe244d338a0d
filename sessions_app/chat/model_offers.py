"""The models to choose from, each with its use, its price, its thinking levels and its future."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Self

from sessions_app import catalogue
from sessions_app.context.model_lookup import (
    facts_of,
    lifecycle_of,
    model_names,
    prices_on,
    summary_of,
    title_of,
)
from sessions_app.models import Session, SessionSettings
from sessions_app.prompt.model_uses import price_class
from sessions_app.prompt.pricing import Rates, price_names
from sessions_app.wording import models as wording

LEVEL_LABELS = SessionSettings.form_fields()["thinking_level"].choices


@dataclass(frozen=True, slots=True)
class Level:
    """One thinking level of a model; the empty value lets the model decide."""

    value: str
    label: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class ModelOffer:
    """One model in a list. `future` is empty where nothing is known to end."""

    name: str
    title: str
    use: str
    price: str
    future: str
    levels: tuple[Level, ...]
    is_chosen: bool
    is_over: bool


@dataclass(frozen=True, slots=True)
class ChosenModel:
    """What the button of a model picker says."""

    name: str
    level: str = ""

    @property
    def title(self) -> str:
        return title_of(self.name)

    @property
    def level_label(self) -> str:
        """Empty where the model decides, or does not take the level."""
        return LEVEL_LABELS[self.taken_level] if self.taken_level else ""

    @property
    def taken_level(self) -> str:
        return self.level if self.level in facts_of(self.name).levels else ""

    @classmethod
    def of(cls, session: Session) -> Self:
        return cls(session.model, session.options.thinking_level)

    @classmethod
    def typed(cls, name: str, level: str, *, otherwise: str) -> Self:
        """As a form named it; `otherwise` where there is no such model."""
        known = cls(name if name in model_names() else otherwise, level)
        return cls(known.name, known.taken_level)


def model_offers(chosen: ChosenModel) -> list[ModelOffer]:
    """The models that have not ended, newest first, and the chosen one. Queries only where rows are old."""
    today = catalogue.today()
    names = [name for name in model_names() if name == chosen.name or not _is_over(name, today)]
    if chosen.name not in names:
        names = [chosen.name, *names]
    prices = {name: rates for name in names if (rates := _rates(name, today)) is not None}
    return [_offer(name, chosen, prices, today) for name in names]


def _offer(name: str, chosen: ChosenModel, prices: Mapping[str, Rates], today: date) -> ModelOffer:
    facts, rates = facts_of(name), prices.get(name)
    values = ("", *facts.levels) if facts.levels else ()
    return ModelOffer(
        name=name,
        title=title_of(name),
        use=summary_of(name) or wording.use(price_class(rates, prices.values()), facts.thinking),
        price=wording.price(rates) if rates else "",
        future=_future(name, today),
        levels=tuple(Level(value, LEVEL_LABELS[value], value == chosen.taken_level) for value in values),
        is_chosen=name == chosen.name,
        is_over=_is_over(name, today),
    )


def _rates(name: str, today: date) -> Rates | None:
    prices = prices_on(today)
    names = (*price_names(facts_of(name).family), *price_names(name))
    return next((prices[one].rates(0) for one in names if one in prices), None)


def _is_over(name: str, today: date) -> bool:
    past = [change for change in lifecycle_of(name) if change.valid_from <= today]
    return bool(past) and past[-1].is_retired


def _future(name: str, today: date) -> str:
    """What becomes of the name, however far away; what holds of it today where nothing will change."""
    changes = lifecycle_of(name)
    ends = next((one for one in changes if one.is_retired and one.valid_from > today), None)
    past = [one for one in changes if one.valid_from <= today]
    holds = past[-1] if past and (past[-1].is_retired or past[-1].served_by) else None
    told = holds if holds and holds.is_retired else ends or holds
    if told is None:
        return ""
    case = "ends" if told.valid_from > today else "ended" if told.is_retired else "routed"
    return wording.future(case, told.valid_from, title_of(told.served_by) if told.served_by else "")
