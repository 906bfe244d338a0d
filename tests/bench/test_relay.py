from pathlib import Path
from typing import Any

import orjson
import pytest
from django.core.management import call_command

from sessions_app.errors import PipewebError
from tests.bench import relay
from tests.bench.command import Command
from tests.bench.relay import Options, System, compare, rotated
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
    first, *loads = Options(streams=(1, 20), paces=(20, 100)).loads()
    assert first.streams == 1
    assert [(load.streams, load.pace) for load in loads] == [(1, 20), (20, 20), (1, 100), (20, 100)]


def test_a_quick_bench_measures_once_and_seeks_no_limit() -> None:
    options = Options.of({"quick": True})
    assert (options.streams, options.paces, options.repeats) == ((20,), (20.0,), 1)
    assert set(options.sections) == {"split", "streams", "memory"}


def test_what_is_asked_for_wins_over_quick() -> None:
    given: dict[str, Any] = {"quick": True, "streams": (2,), "repeats": 5, "sections": ("capacity",)}
    options = Options.of(given)
    assert (options.streams, options.repeats, options.sections) == ((2,), 5, ("capacity",))


def test_an_unknown_section_is_refused_with_those_there_are() -> None:
    with pytest.raises(PipewebError) as refused:
        Options.of({"sections": ("split", "gardens")})
    assert "gardens" in refused.value.message and "capacity" in refused.value.hint


def test_a_peer_needs_an_upstream_that_it_can_ask() -> None:
    with pytest.raises(PipewebError, match="--upstream-port"):
        relay.run({"peer": "http://127.0.0.1:1"}, silent)


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    with pytest.raises(PipewebError, match="missing"):
        relay.run({"json": str(tmp_path / "missing" / "figures.json")}, silent)


def test_systems_take_turns_in_going_first() -> None:
    journal: list[str] = []
    systems: list[System] = [Fake(name, 100, journal) for name in "abc"]
    compare(systems, [Load(1, 20, 10)], 3, silent)
    assert "".join(journal) == "abcbcacab"
    assert rotated(systems, 3) == systems


def test_rows_are_in_the_order_of_loads_and_systems() -> None:
    rows = compare([Fake("a", 9, []), Fake("b", 9, [])], [Load(1, 20, 10), Load(2, 20, 10)], 2, silent)
    assert [(row.load.streams, row.system) for row in rows] == [(1, "a"), (1, "b"), (2, "a"), (2, "b")]


@pytest.mark.slow
def test_a_small_relay_runs_from_end_to_end_and_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    figures = tmp_path / "figures.json"
    small = ("--streams", "2", "--pace", "20", "--chunks", "10", "--repeats", "1", "--sections", "streams")
    call_command(Command(), "relay", *small, "--json", str(figures))
    rows = orjson.loads(figures.read_bytes())["rows"]
    systems = ["raw socket", "SDK transport", "SDK alone", "bare Daphne", "bare uvicorn", "Pipeweb"]
    assert [row["system"] for row in rows] == 2 * systems
    assert all(row["figures"]["faults"] == 0 and 0 < row["figures"]["relay99"] < 5_000 for row in rows)
    assert "lat p99" in capsys.readouterr().out
    assert not list(folder.iterdir())
