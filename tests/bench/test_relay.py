from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.core.management import call_command
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.errors import PipewebError
from tests.bench import relay
from tests.bench.command import Command
from tests.bench.relay import Options, System, capacity, compare, highest, rotated
from tests.bench.relay_load import Load, LoadResult


class Fake:
    """A system whose chunks are late in proportion to its streams; it notes what it was asked."""

    def __init__(self, name: str, holds: int, journal: list[str]) -> None:
        self.name = name
        self.holds = holds
        self.journal = journal

    def measure(self, load: Load) -> LoadResult:
        self.journal.append(self.name)
        if load.streams > 2 * self.holds:
            raise PipewebError("stuck")
        late = 99.9 * load.streams / self.holds
        return LoadResult([late] * load.streams, [1.0], cpu=0.1, rss=10**6, faults=[])


def silent(line: str) -> None:
    pass


def test_a_short_answer_is_asked_for_twice() -> None:
    options = Options()
    assert options.load(20, 20) == Load(20, 20, 100, turns=2)
    assert options.load(20, 100) == Load(20, 100, 100, turns=1)


def test_every_level_is_measured_at_every_pace() -> None:
    loads = Options(streams=(1, 20), paces=(20, 100)).loads()
    assert [(load.streams, load.pace) for load in loads] == [(1, 20), (20, 20), (1, 100), (20, 100)]


def test_a_quick_bench_measures_once_and_seeks_no_limit() -> None:
    options = Options.of({"quick": True})
    assert (options.paces, options.repeats, options.capacity_seconds) == ((20.0,), 1, 0)


@pytest.mark.parametrize(("capacity", "seconds"), [(True, relay.CAPACITY_SECONDS), (False, 0)])
def test_what_is_asked_for_wins_over_quick(capacity: bool, seconds: float) -> None:
    given: dict[str, Any] = {"quick": True, "streams": (2,), "repeats": 5, "capacity": capacity}
    options = Options.of(given)
    assert (options.streams, options.repeats, options.capacity_seconds) == ((2,), 5, seconds)


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    with pytest.raises(PipewebError, match="missing"):
        relay.run({"json": str(tmp_path / "missing" / "figures.json")}, silent)


def test_systems_take_turns_in_going_first() -> None:
    journal: list[str] = []
    systems: list[System] = [Fake(name, 100, journal) for name in "abc"]
    compare(systems, Options(streams=(1,), paces=(20,), repeats=3), silent)
    assert "".join(journal) == "abcbcacab"
    assert rotated(systems, 3) == systems


def test_rows_are_in_the_order_of_loads_and_systems() -> None:
    rows = compare([Fake("a", 9, []), Fake("b", 9, [])], Options(streams=(1, 2), paces=(20,)), silent)
    assert [(row.load.streams, row.system) for row in rows] == [(1, "a"), (1, "b"), (2, "a"), (2, "b")]


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


@pytest.mark.slow
def test_a_small_relay_runs_from_end_to_end_and_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    figures = tmp_path / "figures.json"
    small = ("--streams", "2", "--pace", "20", "--chunks", "10", "--repeats", "1", "--no-capacity")
    call_command(Command(), "relay", *small, "--json", str(figures))
    rows = orjson.loads(figures.read_bytes())["rows"]
    assert [row["system"] for row in rows] == ["raw socket", "SDK alone", "Pipeweb"]
    assert all(row["figures"]["faults"] == 0 and 0 < row["figures"]["relay99"] < 5_000 for row in rows)
    assert "lat p99" in capsys.readouterr().out
    assert not list(folder.iterdir())
