"""What a cache gives back that ends early: the time paid last first, and never more than was paid."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.bookings import CauseSum, SpendingCause, StorageBooking, refunds

FIRST = StorageBooking(1, 3_600.0, Decimal("0.00360000"))
SECOND = StorageBooking(2, 1_800.0, Decimal("0.00000001"))


def test_whoever_extended_it_gets_his_back_before_whoever_made_it() -> None:
    found, unbooked = refunds([FIRST, SECOND], 4_800.0)
    assert [(one.key, one.seconds) for one in found] == [(2, -1_800.0), (1, -3_000.0)]
    assert [one.usd for one in found] == [-Decimal("0.00000001"), -Decimal("0.003")] and unbooked == 0


def test_what_was_given_back_is_not_given_back_again() -> None:
    given, _ = refunds([FIRST, SECOND], 4_800.0)
    again, unbooked = refunds([FIRST, SECOND, *given], 1_000.0)
    assert [(one.key, one.usd) for one in again] == [(1, -Decimal("0.0006"))] and unbooked == 400.0


def test_an_unknown_price_gives_back_an_unknown_sum() -> None:
    found, _ = refunds([StorageBooking(1, 60.0, None)], 30.0)
    assert [(one.seconds, one.usd) for one in found] == [(-30.0, None)]


def test_a_part_of_a_second_is_given_back_too() -> None:
    found, unbooked = refunds([StorageBooking(1, 0.5, Decimal("0.00000004"))], 0.75)
    assert found == [StorageBooking(1, -0.5, -Decimal("0.00000004"))] and unbooked == 0.25


def test_sums_of_one_cause_add_up_figure_by_figure() -> None:
    one = CauseSum(SpendingCause.ANSWER, Decimal(1), 5, 1, 2, 3, 10)
    other = CauseSum(SpendingCause.ANSWER, Decimal("0.5"), 9, 3, 4, 7, 20)
    assert one.plus(other) == CauseSum(SpendingCause.ANSWER, Decimal("1.5"), 14, 4, 6, 10, 30)


prices = st.decimals(min_value=0, max_value=100, places=8)
times = st.integers(1, 36_000).map(lambda quarters: quarters / 4)
booked = st.lists(st.tuples(times, prices), min_size=1, max_size=6)
cuts = st.lists(times, max_size=6)


@given(booked, cuts)
def test_all_cuts_together_give_back_what_was_paid_and_no_more(
    paid: list[tuple[float, Decimal]], ends: list[float]
) -> None:
    rows = [StorageBooking(at, seconds, usd) for at, (seconds, usd) in enumerate(paid)]
    for seconds in ends:
        rows += refunds(rows, seconds)[0]
        assert sum(one.usd or 0 for one in rows) >= 0
    rows += refunds(rows, 1e9)[0]
    assert sum(one.usd or 0 for one in rows) == 0 and sum(one.seconds for one in rows) == 0
