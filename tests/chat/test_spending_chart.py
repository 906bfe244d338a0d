"""Bars that stand for the figures beside them."""

from datetime import date
from decimal import Decimal

from sessions_app.chat.spending_chart import PLOT, TOP, DayByCause, MonthByCause, chart_of
from sessions_app.prompt.bookings import CauseSum, SpendingCause
from sessions_app.prompt.pricing import MoneySource

MONTH = date(2026, 11, 1)
PROVIDER, UNKNOWN = MoneySource.PROVIDER, MoneySource.UNKNOWN


def of(cause: SpendingCause, usd: str, unpriced: int = 0) -> CauseSum:
    return CauseSum(cause, Decimal(usd), 1, unpriced)


def test_the_heights_of_a_day_are_its_sums() -> None:
    sums = (of(SpendingCause.ANSWER, "3"), of(SpendingCause.CACHE_MADE, "1"))
    chart = chart_of(MONTH, [DayByCause(date(2026, 11, 4), sums)])
    assert chart is not None
    heights = [float(bar.height) for bar in chart.days[0].bars]
    assert heights == [PLOT * 0.75, PLOT * 0.25]
    assert float(chart.days[0].bars[1].y) == TOP and float(chart.baseline) == TOP + PLOT


def test_what_was_given_back_hangs_below_the_line() -> None:
    sums = (of(SpendingCause.ANSWER, "3"), of(SpendingCause.CACHE_KEPT, "-1"))
    chart = chart_of(MONTH, [DayByCause(date(2026, 11, 4), sums)])
    assert chart is not None
    up, down = chart.days[0].bars
    assert down.y == chart.baseline and float(up.y) + float(up.height) == float(chart.baseline)
    assert float(down.y) + float(down.height) == TOP + PLOT


def test_days_stand_at_their_places() -> None:
    days = [DayByCause(date(2026, 11, day), (of(SpendingCause.ANSWER, "1"),)) for day in (1, 2, 30)]
    chart = chart_of(MONTH, days)
    assert chart is not None
    first, second, last = (one.x for one in chart.days)
    assert last - first == 29 * (second - first) and last + chart.bar <= chart.width


def test_nothing_is_drawn_of_unknown_prices() -> None:
    assert chart_of(MONTH, [DayByCause(MONTH, (of(SpendingCause.ANSWER, "0", 1),))]) is None
    month = MonthByCause.of(MONTH, [(MONTH, PROVIDER, of(SpendingCause.ANSWER, "0", 1))])
    assert month.days[0].cells == ("unknown",) and month.total == "unknown"


def test_the_columns_sum_up_to_the_days() -> None:
    booked = [
        (MONTH, PROVIDER, of(SpendingCause.ANSWER, "1")),
        (MONTH, UNKNOWN, of(SpendingCause.ANSWER, "2")),
        (date(2026, 11, 2), PROVIDER, of(SpendingCause.TITLE, "4", 0)),
    ]
    month = MonthByCause.of(MONTH, booked)
    assert [cause for cause, _ in month.causes] == [SpendingCause.ANSWER, SpendingCause.TITLE]
    assert [day.cells for day in month.days] == [("$3.00", ""), ("", "$4.00")]
    assert (month.cells, month.total) == (("$3.00", "$4.00"), "$7.00")
