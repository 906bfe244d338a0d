from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from tests.bench.relay import Options
from tests.bench.relay_capacity import capacity, highest
from tests.bench.relay_load import Load, LoadResult
from tests.bench.test_relay import Fake, silent


def test_the_capacity_is_where_a_hundred_ms_begin() -> None:
    found = capacity(Fake("a", 130, []), Options(), 20, silent)
    assert (found.system, found.pace) == ("a", 20)
    assert 120 <= found.streams <= 130


def test_a_near_miss_tries_again_and_a_stuck_load_does_not() -> None:
    journal: list[str] = []
    capacity(Fake("a", 15, journal), Options(), 20, silent)
    assert journal == ["a", "a"]
    capacity(Fake("b", 3, journal), Options(), 20, silent)
    assert journal == ["a", "a", "b"]


def below(limit: int, tried: list[int] | None = None) -> Callable[[int], bool]:
    def passes(number: int) -> bool:
        if tried is not None:
            tried.append(number)
        return number <= limit

    return passes


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


def test_a_system_that_gets_stuck_does_not_hold() -> None:
    assert capacity(Fake("a", 3, []), Options(), 20, silent).streams == 0


class SlowToBegin(Fake):
    """Chunks are in time with any number of streams; the first one takes 5 ms for each stream."""

    def measure(self, load: Load) -> LoadResult:
        return LoadResult([1.0], [5.0 * load.streams], cpu=0.1, rss=10**6, faults=[])


def test_streams_that_begin_late_are_too_many() -> None:
    assert 40 <= capacity(SlowToBegin("a", 0, []), Options(), 20, silent).streams < 50
