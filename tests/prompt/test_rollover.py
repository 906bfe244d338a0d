from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from math import exp, inf, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.pricing import Rates
from sessions_app.prompt.rollover import (
    MIN_AHEAD,
    NEVER,
    PREFIX_BLOCK,
    Pace,
    PastExchange,
    explicit_cost,
    explicit_tail,
    hit_share,
    implicit_cost,
    implicit_tail,
    lifetime,
    longest_lifetime,
    longest_pause,
    pace_of,
    saving,
    thresholds_for,
)
from tests.prompt.examples import NOW, ROUTE

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


@given(st.floats(1_000, 500_000), st.floats(10, 5_000), st.floats(4, 1_000), st.sampled_from([FLASH, PRO]))
def test_no_other_tail_costs_less_where_a_session_may_end_at_each_request(
    prefix: float, growth: float, ahead: float, rates: Rates
) -> None:
    pace = Pace(growth, 0.0125, 100, 1.0, ahead)
    d, best = saving(rates, pace.hours), explicit_tail(rates, pace, prefix)

    def expected(tail: float) -> float:
        """Of the tails and rollovers from one rollover on, if each request is the last with 1 / ahead."""
        passed = tail / growth / ahead
        goes_on = exp(-passed)
        tails = d * growth * ahead**2 * (1 - goes_on * (1 + passed))
        return (tails + float(rates.input) * prefix * goes_on) / (1 - goes_on)

    assert all(expected(best) <= expected(best * factor) * (1 + 1e-6) for factor in (0.5, 0.9, 1.1, 2))


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
    assert round(longest_lifetime(rates) / 60) == minutes == round(lifetime(rates, hours=10) / 60)


def test_a_quick_writer_who_falls_silent_counts_as_gone_sooner() -> None:
    assert lifetime(FLASH, hours=MINUTE) == 6 * 60
    assert lifetime(FLASH, hours=0) == 300


def test_an_unknown_storage_price_is_taken_for_a_high_one() -> None:
    unknown = Rates(FLASH.input, FLASH.cached, FLASH.output)
    assert longest_lifetime(unknown) == 1_059 < longest_lifetime(FLASH)
    assert longest_pause(unknown) == pytest.approx(0.27 / (3.4 * 0.30))


def test_where_the_provider_caches_itself_a_changing_panel_rolls_history_early() -> None:
    assert implicit_tail(LONG) == PREFIX_BLOCK


def test_where_nothing_changes_before_the_buffer_history_never_rolls() -> None:
    assert implicit_tail(Pace(472, 0.0125, 100, churn=0.0, ahead=500)) == inf


def test_a_panel_that_rarely_changes_rolls_history_only_in_a_long_conversation() -> None:
    rare = Pace(472, 0.0125, 3_000, churn=0.05, ahead=15)
    assert implicit_tail(rare) == inf
    assert implicit_tail(Pace(472, 0.0125, 3_000, churn=0.05, ahead=100)) < 20_000


@given(st.floats(100, 5_000), st.floats(5_000, 200_000), st.floats(0.1, 1))
def test_no_other_tail_costs_less_behind_panels_that_change(
    growth: float, dynamic: float, churn: float
) -> None:
    """CACHING.md, “Implicit history rolls before the request”: what is paid again, for each request."""
    best = implicit_tail(Pace(growth, MINUTE, dynamic, churn, ahead=1e9))

    def paid(tail: float) -> float:
        rollover = dynamic + (1 - churn) * tail
        return churn * tail / 2 + growth / tail * rollover

    others = (best * factor for factor in (0.5, 0.9, 1.1, 2))
    assert all(paid(best) <= paid(max(other, 1_024)) * (1 + 1e-9) for other in others)


@pytest.mark.parametrize(("churn", "ahead"), [(0.25, 4), (0.2, 8), (0.5, 4)])
def test_a_rollover_has_to_be_repaid_by_the_requests_that_are_expected(churn: float, ahead: float) -> None:
    """None at all unless v · ahead > 1 − v + D / k."""
    dynamic = 30_000
    tail = implicit_tail(Pace(1, MINUTE, dynamic, churn, ahead))
    assert churn * ahead == pytest.approx(1 - churn + dynamic / tail)
    assert implicit_tail(Pace(1, MINUTE, dynamic, 0.2, 4)) == inf


def test_a_request_with_a_cache_costs_what_is_held_the_tail_and_a_share_of_the_next_making() -> None:
    """CACHING.md, “Mode”: C · (p_cached + p_storage · τ) + p_in · (D + k*/2 + C · g / k*)."""
    tail = explicit_tail(FLASH, LONG, 80_000)
    held = 80_000 * (0.03 + 1.00 * LONG.hours)
    assert explicit_cost(FLASH, LONG, 80_000) == pytest.approx(
        held + 0.30 * (LONG.dynamic + tail / 2 + 80_000 * LONG.growth / tail)
    )
    assert explicit_cost(FLASH, replace(LONG, hours=1), 80_000) == inf


def test_what_rolls_leaves_the_turns_it_must() -> None:
    assert thresholds_for(inf, 1) is NEVER
    assert (thresholds_for(4_900.4, 3).chunk_tokens, thresholds_for(4_900.4, 3).keep_messages) == (4_900, 3)


def test_the_provider_wins_above_the_share_that_the_cost_model_names() -> None:
    ours = explicit_cost(FLASH, LONG, 80_000)
    assert implicit_cost(FLASH, 85_000, 0.95) < ours < implicit_cost(FLASH, 85_000, 0.80)


def seen(
    minute: float,
    history: int,
    *,
    prefix: int = 1_000,
    dynamic: int = 100,
    cached: int = 0,
    name: str = "",
    route: str = ROUTE,
) -> PastExchange:
    layers = {"static": prefix, "dynamic": dynamic, "buffered": history - prefix, "trigger": 0}
    return PastExchange(at(minute), route, history + dynamic, cached, name, layers)


def at(minute: float) -> datetime:
    return NOW + timedelta(minutes=minute)


def test_growth_and_pause_are_means_of_what_was_seen() -> None:
    pace = pace_of([seen(0, 1_000), seen(1, 1_400), seen(3, 2_000)], count=3, longest=1)
    assert pace.growth == 500 and pace.hours == pytest.approx(1.5 / 60)


def test_a_history_that_shrank_says_nothing_about_growth() -> None:
    assert pace_of([seen(0, 5_000), seen(1, 1_000), seen(2, 1_300)], 3, 1).growth == 300


def test_a_night_counts_as_the_longest_life_of_a_cache() -> None:
    assert pace_of([seen(0, 1_000), seen(600, 1_400)], 2, longest=0.3).hours == pytest.approx(0.3)


def test_a_clock_that_was_set_back_makes_no_pause_negative() -> None:
    turns = [seen(0, 1_000), seen(-600, 1_400), seen(-598, 1_800)]
    assert pace_of(turns, 3, longest=0.3).hours == pytest.approx(1 / 60)


def test_the_panels_are_those_of_the_newest_request_and_no_history() -> None:
    pace = pace_of([seen(0, 1_000, dynamic=900), seen(1, 1_400, dynamic=300)], 2, 1)
    assert (pace.dynamic, pace.growth) == (300, 400)
    assert pace_of([], 0, 1) == Pace(growth=400, hours=1 / 60, dynamic=0, churn=1, ahead=4)


def test_as_much_is_expected_as_there_was() -> None:
    assert [pace_of([], count, 1).ahead for count in (0, 3, 80)] == [MIN_AHEAD, MIN_AHEAD, 80]


@pytest.mark.parametrize(
    ("later", "churn"),
    [
        (seen(1, 1_400, cached=1_350), 0.0),
        (seen(1, 1_400, dynamic=120, cached=1_350), 1.0),
        (seen(1, 1_400, cached=900), 1.0),
        (seen(60, 1_400, cached=1_350), 1.0),
    ],
    ids=["reused", "another size", "reused as far as the panels", "another hour"],
)
def test_a_change_before_the_buffer_is_seen(later: PastExchange, churn: float) -> None:
    assert pace_of([seen(0, 1_300), later], 2, 1).churn == churn


@pytest.mark.parametrize("names", [("a", ""), ("", "a"), ("a", "a")])
def test_what_the_provider_counted_beside_a_named_cache_tells_no_change(names: tuple[str, str]) -> None:
    before, after = (seen(at, 1_300, cached=900, name=name) for at, name in enumerate(names))
    assert pace_of([before, after], 2, 1).churn == 0


def test_a_roll_over_is_no_change_of_the_panels() -> None:
    rolled = seen(1, 1_400, prefix=1_200, cached=1_000)
    assert pace_of([seen(0, 1_300), rolled], 2, 1).churn == 0


def test_the_hit_share_is_of_the_previous_prompt() -> None:
    inline = [seen(0, 900)] + [seen(minute, 900, cached=800) for minute in (1, 2, 3)]
    assert hit_share(inline, ROUTE) == pytest.approx(0.8)


def test_few_requests_say_nothing_about_the_provider() -> None:
    assert hit_share([seen(0, 900), seen(1, 900, cached=800), seen(2, 900)], ROUTE) is None


def test_requests_that_named_a_cache_or_went_elsewhere_say_nothing_about_the_provider() -> None:
    named = [seen(minute, 900, cached=800, name="cachedContents/a") for minute in range(6)]
    elsewhere = [seen(minute, 900, cached=800, route="route-b") for minute in range(6)]
    assert hit_share(named, ROUTE) is hit_share(elsewhere, ROUTE) is None
    assert hit_share(elsewhere, "route-b") == pytest.approx(800 / 1_000)
    turns = [seen(minute, 900, cached=800, name="a" if minute % 2 else "") for minute in range(8)]
    assert hit_share(turns, ROUTE) is None


def test_more_than_the_previous_prompt_is_no_more_than_all_of_it() -> None:
    assert hit_share([seen(minute, 900, cached=4_000) for minute in range(4)], ROUTE) == 1
