from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.bench.figures import Figures, highest, percentile, ratio
from sessions_app.bench.load import Sample

SAMPLE = Sample(
    relays=[1.0, 2.0, 3.0, 40.0], firsts=[5.0, 9.0], cpu=0.002, rss=130_000_000, faults=["1 of 5 chunks lost"]
)


def figures(**some: float) -> Figures:
    return Figures(
        **{"cpu": 1, "relay50": 1, "relay99": 1, "first50": 1, "first99": 1, "rss": 1, "faults": 0, **some}
    )


def below(limit: int, tried: list[int] | None = None) -> Callable[[int], bool]:
    def passes(number: int) -> bool:
        if tried is not None:
            tried.append(number)
        return number <= limit

    return passes


@pytest.mark.parametrize(("percent", "value"), [(1, 1), (50, 5), (51, 6), (99, 10), (100, 10)])
def test_a_percentile_is_a_value_that_was_measured(percent: float, value: float) -> None:
    assert percentile([3, 1, 2, 10, 9, 8, 7, 6, 5, 4], percent) == value


def test_no_answer_at_all_is_infinitely_late() -> None:
    assert percentile([], 50) == float("inf")


@given(st.lists(st.floats(0, 1e6), min_size=1), st.integers(1, 100))
def test_a_percentile_covers_its_share_and_no_smaller_value_does(values: list[float], percent: int) -> None:
    found = percentile(values, percent)
    assert sum(value <= found for value in values) * 100 >= percent * len(values)
    assert sum(value < found for value in values) * 100 < percent * len(values)


def test_figures_are_per_thousand_chunks_and_in_megabytes() -> None:
    found = Figures.of(SAMPLE)
    assert found == figures(cpu=500, relay50=2, relay99=40, first50=5, first99=9, rss=130, faults=1)


def test_a_system_that_answered_nothing_does_not_look_fast() -> None:
    found = Figures.of(Sample([], [], cpu=0.0, rss=0, faults=["handshake refused"]))
    assert found.relay99 == found.first50 == float("inf")


def test_the_typical_figure_is_the_median_of_the_repeats() -> None:
    assert Figures.typical([figures(cpu=1), figures(cpu=9), figures(cpu=2)]).cpu == 2


def test_one_faulty_repeat_is_not_hidden_by_two_good_ones() -> None:
    assert Figures.typical([figures(), figures(faults=3), figures()]).faults == 3


def test_a_ratio_needs_a_base() -> None:
    assert ratio(6, 4) == 1.5
    assert ratio(6, 0) == float("inf")


@given(st.integers(20, 900), st.integers(1, 30))
def test_the_highest_number_is_found_within_the_tolerance(limit: int, tolerance: int) -> None:
    found = highest(below(limit), 20, 800, tolerance)
    assert found <= limit
    assert min(limit, 800) - found <= tolerance


def test_what_fails_at_the_lowest_number_is_tried_once() -> None:
    tried: list[int] = []
    assert highest(below(5, tried), 20, 800, 10) == 0
    assert tried == [20]


def test_a_search_never_tries_more_than_twice_what_passed() -> None:
    tried: list[int] = []
    highest(below(90, tried), 20, 800, 10)
    assert max(tried) <= 2 * 90


def test_out_of_time_the_best_that_passed_counts() -> None:
    tried: list[int] = []
    assert highest(below(800, tried), 20, 800, 1, lambda: len(tried) < 2) == 40
