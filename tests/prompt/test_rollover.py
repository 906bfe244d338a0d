from decimal import Decimal
from math import inf, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.pricing import Rates
from sessions_app.prompt.rollover import (
    BLOCK,
    NEVER,
    Pace,
    explicit_cost,
    explicit_tail,
    implicit_cost,
    implicit_tail,
    lifetime,
    longest_life,
    longest_pause,
    rolling_at,
    saving,
)

FLASH = Rates(Decimal("0.30"), Decimal("0.03"), Decimal("2.50"), Decimal("1.00"))
PRO = Rates(Decimal("2.00"), Decimal("0.20"), Decimal("12.00"), Decimal("4.50"))
MINUTE = 1 / 60
LONG = Pace(growth=472, hours=0.0125, dynamic=100, churn=1.0, ahead=200)
"""The cost model's conversation (performance §5), well under way."""


@pytest.mark.parametrize(("held", "tail"), [(0, 4_900), (50_000, 8_800), (125_000, 12_700)])
def test_the_tail_is_the_one_of_the_cost_model(held: int, tail: int) -> None:
    assert explicit_tail(FLASH, LONG, 22_000 + held) == pytest.approx(tail, rel=0.03)


def test_only_ratios_of_prices_matter() -> None:
    tenfold = Rates(Decimal(3), Decimal("0.3"), Decimal(25), Decimal(10))
    assert explicit_tail(FLASH, LONG, 50_000) == pytest.approx(explicit_tail(tenfold, LONG, 50_000))


@given(st.floats(1_000, 500_000), st.floats(10, 5_000), st.sampled_from([FLASH, PRO]))
def test_no_other_tail_costs_less_per_request(prefix: float, growth: float, rates: Rates) -> None:
    pace = Pace(growth, 0.0125, 100, 1.0, 10_000)
    d, best = saving(rates, pace.hours), explicit_tail(rates, pace, prefix)

    def running(tail: float) -> float:
        return tail / 2 * d + float(rates.input) * prefix * growth / tail

    assert all(running(best) <= running(best * factor) * (1 + 1e-9) for factor in (0.5, 0.9, 1.1, 2))


def test_a_short_future_puts_the_roll_off() -> None:
    few = Pace(growth=472, hours=0.0125, dynamic=100, churn=1.0, ahead=4)
    assert explicit_tail(FLASH, few, 22_000) > sqrt(2 * 472 * 22_000 * 0.3 / 0.2575)


@pytest.mark.parametrize(("rates", "minutes"), [(FLASH, 16), (PRO, 24)])
def test_beyond_the_longest_pause_nothing_is_worth_storing(rates: Rates, minutes: int) -> None:
    hours = longest_pause(rates)
    assert round(hours * 60) == minutes
    assert explicit_tail(rates, Pace(472, hours * 1.01, 100, 1.0, 200), 22_000) == inf


@pytest.mark.parametrize(("rates", "minutes"), [(FLASH, 18), (PRO, 27)])
def test_an_unused_cache_lives_until_it_has_cost_what_making_it_again_would(
    rates: Rates, minutes: int
) -> None:
    assert round(longest_life(rates) / 60) == minutes == round(lifetime(rates, hours=10) / 60)


def test_a_quick_writer_who_falls_silent_counts_as_gone_sooner() -> None:
    assert lifetime(FLASH, hours=MINUTE) == 6 * 60
    assert lifetime(FLASH, hours=0) == 300


def test_an_unknown_storage_price_is_taken_for_a_high_one() -> None:
    unknown = Rates(FLASH.input, FLASH.cached, FLASH.output)
    assert longest_life(unknown) < longest_life(FLASH)


def test_where_the_provider_caches_itself_a_changing_panel_rolls_history_early() -> None:
    assert implicit_tail(LONG) == BLOCK


def test_where_nothing_changes_before_the_buffer_history_never_rolls() -> None:
    assert implicit_tail(Pace(472, 0.0125, 100, churn=0.0, ahead=500)) == inf


def test_a_panel_that_rarely_changes_rolls_history_only_in_a_long_conversation() -> None:
    rare = Pace(472, 0.0125, 3_000, churn=0.05, ahead=15)
    assert implicit_tail(rare) == inf
    assert implicit_tail(Pace(472, 0.0125, 3_000, churn=0.05, ahead=100)) < 20_000


def test_what_rolls_leaves_the_turns_it_must() -> None:
    assert rolling_at(inf, 1) is NEVER
    assert (rolling_at(4_900.4, 3).chunk_tokens, rolling_at(4_900.4, 3).keep_messages) == (4_900, 3)


def test_the_provider_wins_above_the_share_that_the_cost_model_names() -> None:
    ours = explicit_cost(FLASH, LONG, 80_000)
    assert implicit_cost(FLASH, 85_000, 0.95) < ours < implicit_cost(FLASH, 85_000, 0.80)
