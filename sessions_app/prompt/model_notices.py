"""What a person should know of a model before choosing it or going on with it: codes with figures."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from sessions_app.catalogue.entries import LifecycleChange
from sessions_app.prompt.pricing import Rates

AHEAD_DAYS = 60
"""How long before its day a change is told."""

PRESSING_DAYS = 30


class NoticeCode(StrEnum):
    """Each has a sentence and a label in `wording.model_notices`."""

    RETIRED = "retired"
    RETIRES = "retires"
    ROUTED = "routed"
    REROUTES = "reroutes"
    PRICE_CHANGES = "price_changes"


@dataclass(frozen=True, slots=True)
class ModelNotice:
    """`on` is the first day of what is told, `days` the days until then, negative since.

    `now` and `then` are rates of the model that serves.
    """

    code: NoticeCode
    model: str
    on: date
    days: int
    served_by: str = ""
    successor: str = ""
    now: Rates | None = None
    then: Rates | None = None

    @property
    def is_pressing(self) -> bool:
        if self.code in (NoticeCode.ROUTED, NoticeCode.REROUTES):
            return False
        return self.days <= PRESSING_DAYS

    @property
    def is_end(self) -> bool:
        return self.code in (NoticeCode.RETIRED, NoticeCode.RETIRES)

    @property
    def way_on(self) -> str:
        """The model to switch to; empty where nothing ends or none is known."""
        return (self.successor or self.served_by) if self.is_end else ""


def lifecycle_notices(model: str, changes: Iterable[LifecycleChange], today: date) -> Iterator[ModelNotice]:
    """What holds today, and what will within `AHEAD_DAYS`."""
    ordered = sorted(changes, key=lambda change: change.valid_from)
    past = [change for change in ordered if change.valid_from <= today]
    was = past[-1] if past else None
    if was is not None and (was.is_retired or was.served_by):
        yield _notice(NoticeCode.RETIRED if was.is_retired else NoticeCode.ROUTED, model, was, today)
    for change in ordered:
        if not 0 < (change.valid_from - today).days <= AHEAD_DAYS:
            continue
        if change.is_retired and not (was and was.is_retired):
            yield _notice(NoticeCode.RETIRES, model, change, today)
        elif change.served_by and change.served_by != (was.served_by if was else ""):
            yield _notice(NoticeCode.REROUTES, model, change, today)


def price_notice(
    model: str, now: Rates | None, then: Rates | None, on: date, today: date
) -> ModelNotice | None:
    """None where the rates stay the same."""
    if then is None or now == then:
        return None
    return ModelNotice(NoticeCode.PRICE_CHANGES, model, on, (on - today).days, now=now, then=then)


def _notice(code: NoticeCode, model: str, change: LifecycleChange, today: date) -> ModelNotice:
    days = (change.valid_from - today).days
    return ModelNotice(code, model, change.valid_from, days, change.served_by, change.successor)
