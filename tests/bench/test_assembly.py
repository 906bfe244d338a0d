"""`bench assembly`, short."""

import pytest

from tests.bench.assembly import RequestTimes, aims, assemble


def row(way: str, ms: float, body: int) -> RequestTimes:
    return RequestTimes(
        way, 100, [ms] * 3, 20.0, {"check": 1.0, "plan_cache": 2.0}, 9_000, body, 2, [ms / 2] * 3, 12.5
    )


def test_a_line_compares_with_everything_sent_turn_by_turn() -> None:
    line = row("detached", 5, 100_000).line(row("turn by turn", 10, 200_000))
    assert line.split() == ["100", "detached", "5.0", "5.0", "2.5", "0.50", "20.0", "2", "100", "0.50", "9.0"]


def test_the_slowest_stages_are_named_and_what_is_left_is_the_recording() -> None:
    assert row("detached", 5, 1).slowest().strip() == "plan_cache 2.0, check 1.0; recording 2.0"


def test_a_chunk_costs_what_the_request_that_froze_it_took_longer() -> None:
    assert row("detached", 5, 1).chunk_cpu == 5.0


def test_the_aims_are_of_the_slowest_ways_and_the_dearest_chunk() -> None:
    rows = [row("turn by turn", 28, 1), row("of another route", 32, 1)]
    rows += [row("detached", 5, 1), row("detached, cached", 16, 1)]
    assert [(aim.value, aim.verdict) for aim in aims(rows)] == [(16, "NOT MET"), (16, "NOT MET"), (5, "met")]


@pytest.mark.slow
def test_a_long_conversation_is_assembled_in_all_ways() -> None:
    plain, foreign, detached, cached = assemble(120, 2)
    assert plain.chunks == foreign.chunks == 0 and detached.chunks > 0
    assert cached.body < detached.body < plain.body and foreign.body < plain.body
