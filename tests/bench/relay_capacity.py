"""How many streams at once a system of `bench relay` carries in time."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from sessions_app.errors import PipewebError
from tests.bench.base import Say
from tests.bench.relay_load import Figures, Load

if TYPE_CHECKING:
    from tests.bench.relay import Options, System

CAPACITY_LOW = 20
CAPACITY_HIGH = 800
CAPACITY_TOLERANCE = 10
CAPACITY_SECONDS = 180.0
"""The search stops after this, per system and pace, with the highest number that held so far."""

CAPACITY_P99 = 100.0
CAPACITY_FIRST = 250.0
"""Ms: of a chunk's relay the 99th percentile, of the first chunks the median. Both must be below."""

NEAR_MISS = 3.0
"""Times a limit. What is no later may be another program's fault and gets a second try."""


@dataclass(frozen=True, slots=True)
class Capacity:
    """The most streams at this pace that are in time: relay p99 < 100 ms and first chunk p50 < 250 ms."""

    system: str
    pace: float
    streams: int


def capacities(systems: Sequence["System"], options: "Options", say: Say) -> list[Capacity]:
    return [capacity(system, options, pace, say) for pace in options.paces for system in systems]


def capacity(system: "System", options: "Options", pace: float, say: Say) -> Capacity:
    """The most streams in time and without a fault. A near miss may try again."""
    deadline = time.monotonic() + options.capacity_seconds

    def passes(streams: int) -> bool:
        load = options.load(streams, pace)
        late = lateness(system, load)
        if 1 <= late < NEAR_MISS:
            late = lateness(system, load)
        holds = late < 1
        say(f"  {system.name}, {pace:g} ms: {streams} streams {'hold' if holds else 'are too many'}")
        return holds

    streams = highest(
        passes, CAPACITY_LOW, CAPACITY_HIGH, CAPACITY_TOLERANCE, lambda: time.monotonic() < deadline
    )
    return Capacity(system.name, pace, streams)


def lateness(system: "System", load: Load) -> float:
    """The worse of both conditions, in units of its limit; inf when an answer failed or none came."""
    try:
        figures = Figures.of(system.measure(load))
    except PipewebError:
        return inf
    return inf if figures.faults else max(figures.relay99 / CAPACITY_P99, figures.first50 / CAPACITY_FIRST)


def highest(
    passes: Callable[[int], bool],
    low: int,
    high: int,
    tolerance: int,
    is_in_time: Callable[[], bool] = lambda: True,
) -> int:
    """The largest number of low…high that passes, within `tolerance`; 0 when `low` fails.

    Doubles until one fails, then halves the gap: a system is never loaded much beyond what it can take.
    Takes it that what passes at n passes below n. Out of time, it is the largest that was seen to pass.
    """
    passed, failed = 0, high + 1
    tried = low
    while is_in_time():
        if passes(tried):
            passed = tried
        else:
            failed = tried
        if failed <= low or failed - passed <= max(tolerance, 1):
            break
        tried = (passed + failed) // 2 if failed <= high else min(passed * 2, high)
    return passed
