"""The days of a month by cause: stacked bars, and the table with the same figures."""

from calendar import monthrange
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import groupby
from typing import Self

from sessions_app.prompt.bookings import CauseSum, SpendingCause
from sessions_app.prompt.pricing import MoneySource, dollars
from sessions_app.wording import costs

SLOT, BAR = 20, 14
"""Width of a day and of its bar, in units of the drawing."""

LEFT, TOP, PLOT = 92, 14, 160
"""Room for the labels of the scale, room above the highest bar, and the height of all bars."""

BOTTOM = 24
"""Room for the days below the bars."""

EACH_WEEK = 7


@dataclass(frozen=True, slots=True)
class DayByCause:
    """One day; `cells` has one text for each cause of the month, in the order of its columns."""

    day: date
    sums: tuple[CauseSum, ...]
    cells: tuple[str, ...] = ()

    @property
    def usd(self) -> Decimal:
        return sum((one.usd for one in self.sums), Decimal(0))

    @property
    def total(self) -> str:
        return costs.known_usd(self.usd, self.sums)

    @property
    def told(self) -> str:
        return costs.cause_sums(self.sums)


@dataclass(frozen=True, slots=True)
class Bar:
    """The part of a day for one cause; numbers as they stand in the drawing."""

    cause: SpendingCause
    y: str
    height: str


@dataclass(frozen=True, slots=True)
class DayBars:
    day: DayByCause
    x: int
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class ScaleLine:
    y: str
    label: str


@dataclass(frozen=True, slots=True)
class DayLabel:
    x: int
    day: int


@dataclass(frozen=True, slots=True)
class SpendingChart:
    """Bars above the line for what was spent, below it for what was given back."""

    width: int
    height: int
    left: int
    bar: int
    baseline: str
    days: tuple[DayBars, ...]
    lines: tuple[ScaleLine, ...]
    labels: tuple[DayLabel, ...]


@dataclass(frozen=True, slots=True)
class MonthByCause:
    """`causes` are those of the month, as (code, title); `days` those with bookings, oldest first."""

    causes: tuple[tuple[SpendingCause, str], ...]
    days: tuple[DayByCause, ...]
    sums: tuple[CauseSum, ...]
    chart: SpendingChart | None

    @classmethod
    def of(cls, month: date, booked: Sequence[tuple[date, MoneySource, CauseSum]]) -> Self:
        """`booked` is ordered by day; one day and cause may come from several sources."""
        sums = added(one for *_, one in booked)
        causes = [one.cause for one in sums]
        days = []
        for day, group in groupby(sorted(booked, key=lambda one: one[0]), key=lambda one: one[0]):
            own = added(one for *_, one in group)
            days.append(DayByCause(day, tuple(own), tuple(_cell(own, cause) for cause in causes)))
        titles = tuple((cause, costs.title_of(cause)) for cause in causes)
        return cls(titles, tuple(days), tuple(sums), chart_of(month, days))

    @property
    def usd(self) -> Decimal:
        return sum((one.usd for one in self.sums), Decimal(0))

    @property
    def total(self) -> str:
        return costs.known_usd(self.usd, self.sums)

    @property
    def cells(self) -> tuple[str, ...]:
        """The sums of the columns."""
        return tuple(_cell(self.sums, cause) for cause, _ in self.causes)

    @property
    def told(self) -> str:
        return costs.cause_sums(self.sums)


def added(sums: Iterable[CauseSum]) -> list[CauseSum]:
    """One sum for each cause, in the order of `SpendingCause`."""
    found: dict[SpendingCause, CauseSum] = {}
    for one in sums:
        so_far = found.get(one.cause, CauseSum(one.cause, Decimal(0), 0))
        found[one.cause] = so_far.plus(one)
    return [found[cause] for cause in SpendingCause if cause in found]


def _cell(sums: Sequence[CauseSum], cause: SpendingCause) -> str:
    own = [one for one in sums if one.cause is cause]
    return costs.known_usd(sum((one.usd for one in own), Decimal(0)), own) if own else ""


def chart_of(month: date, days: Sequence[DayByCause]) -> SpendingChart | None:
    """None when nothing with a known price was booked."""
    highest = max((_stack(day, above=True) for day in days), default=Decimal(0))
    lowest = min((_stack(day, above=False) for day in days), default=Decimal(0))
    span = highest - lowest
    if not span:
        return None
    unit = Decimal(PLOT) / span
    baseline = TOP + highest * unit
    number = monthrange(month.year, month.month)[1]
    return SpendingChart(
        width=LEFT + number * SLOT,
        height=TOP + PLOT + BOTTOM,
        left=LEFT,
        bar=BAR,
        baseline=_place(baseline),
        days=tuple(_bars(day, baseline, unit) for day in days),
        lines=tuple(
            ScaleLine(_place(baseline - usd * unit), dollars(usd))
            for usd in ((highest, highest / 2, Decimal(0)) if highest else (Decimal(0), lowest))
        ),
        labels=tuple(DayLabel(LEFT + (day - 1) * SLOT, day) for day in range(1, number + 1, EACH_WEEK)),
    )


def _stack(day: DayByCause, *, above: bool) -> Decimal:
    return sum((one.usd for one in day.sums if (one.usd > 0) is above), Decimal(0))


def _bars(day: DayByCause, baseline: Decimal, unit: Decimal) -> DayBars:
    up = down = baseline
    bars = []
    for one in day.sums:
        height = abs(one.usd) * unit
        if one.usd > 0:
            up -= height
            bars.append(Bar(one.cause, _place(up), _place(height)))
        elif one.usd < 0:
            bars.append(Bar(one.cause, _place(down), _place(height)))
            down += height
    return DayBars(day, LEFT + (day.day.day - 1) * SLOT + (SLOT - BAR) // 2, tuple(bars))


def _place(value: Decimal) -> str:
    return f"{value:.2f}"
