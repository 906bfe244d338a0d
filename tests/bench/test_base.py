import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bench.base import Aim, listed, percentile, ratio


def test_an_aim_is_met_at_its_limit() -> None:
    assert Aim("", 10, 10.0).verdict == Aim("", 10, 10.0, is_floor=True).verdict == "met"
    assert Aim("", 10, 10.1).verdict == Aim("", 10, 9.9, is_floor=True).verdict == "NOT MET"


@pytest.mark.parametrize(("limit", "shown"), [(1.3, "1.34"), (6, "1.3"), (0.45, "1.344")])
def test_a_figure_has_a_digit_more_than_its_aim(limit: float, shown: str) -> None:
    assert f": {shown} (" in Aim("", limit, 1.344).line


def test_what_was_not_measured_is_not_met_either() -> None:
    assert Aim("", 10, None).verdict == "not measured"


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


def test_a_ratio_needs_a_base() -> None:
    assert ratio(6, 4) == 1.5
    assert ratio(6, 0) == float("inf")


def test_a_list_is_read_from_commas() -> None:
    assert listed(int)("1,20,100") == (1, 20, 100)


@pytest.mark.parametrize("text", ["0", "-1", "inf", "nan", "many", "", "20,,100"])
def test_a_load_is_never_empty(text: str) -> None:
    with pytest.raises(ValueError):
        listed(float)(text)
