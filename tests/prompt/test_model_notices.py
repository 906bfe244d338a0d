from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import pytest

from sessions_app.catalogue.entries import LifecycleChange
from sessions_app.prompt.model_notices import ModelNotice, NoticeCode, lifecycle_notices, price_notice
from sessions_app.prompt.pricing import Rates

TODAY = date(2026, 11, 22)
END = LifecycleChange(
    valid_from=date(2026, 12, 1), source="a page", served_by="new", is_retired=True, successor="new"
)
RATES = Rates(Decimal(1), Decimal("0.1"), Decimal(4))


def told(*changes: LifecycleChange, today: date = TODAY) -> list[ModelNotice]:
    return list(lifecycle_notices("old", changes, today))


@pytest.mark.parametrize(
    ("today", "code", "is_pressing"),
    [
        (END.valid_from - timedelta(days=61), None, False),
        (END.valid_from - timedelta(days=60), NoticeCode.RETIRES, False),
        (END.valid_from - timedelta(days=31), NoticeCode.RETIRES, False),
        (END.valid_from - timedelta(days=30), NoticeCode.RETIRES, True),
        (END.valid_from - timedelta(days=1), NoticeCode.RETIRES, True),
        (END.valid_from, NoticeCode.RETIRED, True),
        (END.valid_from + timedelta(days=900), NoticeCode.RETIRED, True),
    ],
)
def test_an_end_is_told_before_it_and_ever_after(
    today: date, code: NoticeCode | None, is_pressing: bool
) -> None:
    found = told(END, today=today)
    assert [notice.code for notice in found] == ([code] if code else [])
    for notice in found:
        assert (notice.is_pressing, notice.on, notice.way_on) == (is_pressing, END.valid_from, "new")
        assert notice.days == (END.valid_from - today).days


def test_an_end_without_a_successor_has_no_way_on() -> None:
    (notice,) = told(replace(END, served_by="", successor=""))
    assert (notice.code, notice.way_on) == (NoticeCode.RETIRES, "")


def test_an_alias_is_no_end() -> None:
    alias = replace(END, valid_from=date(2026, 7, 1), is_retired=False, successor="")
    moved = replace(alias, valid_from=date(2026, 12, 24), served_by="newer")
    routed, reroutes = told(moved, alias)
    assert (routed.code, routed.served_by, routed.way_on) == (NoticeCode.ROUTED, "new", "")
    assert (reroutes.code, reroutes.served_by, reroutes.is_end) == (NoticeCode.REROUTES, "newer", False)


def test_the_newest_row_of_the_past_holds() -> None:
    again = LifecycleChange(valid_from=date(2026, 11, 1), source="a page")
    assert not told(replace(END, valid_from=date(2026, 10, 1)), again)


def test_a_price_is_told_where_it_changes() -> None:
    on, dearer = date(2027, 1, 1), replace(RATES, input=Decimal(2))
    assert price_notice("m", RATES, RATES, on, TODAY) is None
    assert price_notice("m", RATES, None, on, TODAY) is None
    notice = price_notice("m", RATES, dearer, on, TODAY)
    assert notice and (notice.code, notice.days, notice.is_pressing) == (NoticeCode.PRICE_CHANGES, 40, False)
    assert price_notice("m", None, dearer, on, TODAY)
