"""What `bench relay` prints in the end: tables, the capacities, the aims, and the same as JSON."""

import os
import platform
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tests.bench.base import Aim, ratio
from tests.bench.relay_capacity import Capacity
from tests.bench.relay_deployment import ONE_PROCESS, TWO_PROCESSES
from tests.bench.relay_floor import DAPHNE
from tests.bench.relay_load import Figures, Load
from tests.bench.relay_memory import FULL, Memory
from tests.bench.relay_pipeweb import PRODUCT

TRANSPORT = "SDK transport"
BASELINES = ("raw socket", TRANSPORT)
AIMED = Load(20, 20, 100, turns=2)
ONE = Load(1, 100, 10, turns=6)
LONG = Load(20, 20, 250)
SHORT = Load(20, 100, 10, turns=3)
"""In both 20 turns begin in a second; what a turn costs is what the number of chunks does not change."""

FORTY = Load(20, 20, 40, turns=2)
HEADING = (
    " pace streams chunks system               CPU   ×raw  ×SDK  lat p50  lat p99 first p50 first p99     MB"
    " faults"
)


@dataclass(frozen=True, slots=True)
class Measurement:
    """The typical figures of one system under one load."""

    system: str
    load: Load
    figures: Figures


@dataclass(frozen=True, slots=True)
class Split:
    """Where a system's CPU goes: `chunk` is ms per 1,000 chunks, `turn` ms per turn without its chunks."""

    system: str
    chunk: float
    turn: float

    @classmethod
    def of(cls, system: str, long: Figures, short: Figures) -> "Split":
        """From the same number of turns with LONG.chunks and with SHORT.chunks."""
        longer, shorter = (per_turn(*one) for one in ((long, LONG), (short, SHORT)))
        chunk = (longer - shorter) / (LONG.chunks - SHORT.chunks)
        return cls(system, chunk * 1000, shorter - chunk * SHORT.chunks)


def per_turn(figures: Figures, load: Load) -> float:
    """Ms of CPU of a whole turn."""
    return figures.cpu * load.chunks / 1000


@dataclass(slots=True)
class RelayReport:
    """All of one run; what was not measured is missing."""

    rows: list[Measurement] = field(default_factory=list)
    capacities: Sequence[Capacity] = ()
    memory: Memory | None = None

    @property
    def splits(self) -> list[Split]:
        """In the order of the rows."""
        systems = dict.fromkeys(row.system for row in self.rows if row.load == LONG)
        pairs = ((name, self._figures(name, LONG), self._figures(name, SHORT)) for name in systems)
        return [Split.of(name, long, short) for name, long, short in pairs if long and short]

    def aims(self) -> list[Aim]:
        """What is wanted of Pipeweb alone; the others have no aims."""
        splits = {one.system: one for one in self.splits}
        ours, floor = splits.get(PRODUCT), splits.get(DAPHNE)
        both = (ours, floor) if ours and floor else None
        memory = self.memory
        return [
            Aim("chunk: CPU over the bare relay's", 1.3, both and ratio(both[0].chunk, both[1].chunk)),
            Aim("turn: CPU over the bare relay's", 6, both and ratio(both[0].turn, both[1].turn)),
            Aim("20 streams: CPU over the SDK's raw transport", 2.8, self._over(PRODUCT, TRANSPORT, AIMED)),
            Aim("first chunk of one person p50, ms", 9, self._at(PRODUCT, ONE, "first50")),
            Aim("first chunk, 20 sends a second p50, ms", 20, self._at(PRODUCT, AIMED, "first50")),
            Aim("first chunk, 20 sends a second p99, ms", 60, self._at(PRODUCT, AIMED, "first99")),
            Aim("the same on PostgreSQL and Redis p50, ms", 30, self._at(ONE_PROCESS, AIMED, "first50")),
            Aim("the same on PostgreSQL and Redis p99, ms", 90, self._at(ONE_PROCESS, AIMED, "first99")),
            Aim(
                "turn of 40 chunks, two processes on PostgreSQL and Redis: CPU over one on SQLite",
                1.3,
                self._over(TWO_PROCESSES, PRODUCT, FORTY),
            ),
            Aim("streams in time at 20 ms", 80, self._capacity(20), is_floor=True),
            Aim("streams in time at 100 ms", 180, self._capacity(100), is_floor=True),
            Aim("memory at rest after a first start, MB", 145, memory.idle if memory else None),
            Aim(f"memory with {FULL.streams} streams, MB", 190, memory.full if memory else None),
            Aim("answers that failed or lost text, errors in our log (all loads)", 0, self._worst("faults")),
        ]

    def lines(self) -> list[str]:
        day = time.strftime("%Y-%m-%d", time.gmtime())
        machine = f"{os.cpu_count()} cores, {processor()}, Python {platform.python_version()}"
        return [
            "",
            f"{day}, {machine}; load average {os.getloadavg()[0]:.1f} now. Medians.",
            "CPU is ms per 1,000 chunks, latency and first chunk are ms, ratios are of CPU.",
            "",
            HEADING,
            *map(self._line, self.rows),
            "",
            *(
                f"{one.system}: {one.chunk:.0f} ms CPU per 1,000 chunks alone, {one.turn:.1f} per turn alone"
                for one in self.splits
            ),
            *(f"{one.system}: {one.streams} streams in time at {one.pace:g} ms" for one in self.capacities),
        ]

    def as_json(self) -> dict[str, Any]:
        return {
            "rows": [asdict(row) for row in self.rows],
            "splits": [asdict(one) for one in self.splits],
            "capacities": [asdict(one) for one in self.capacities],
            "memory": self.memory and asdict(self.memory),
            "aims": [asdict(aim) | {"verdict": aim.verdict} for aim in self.aims()],
        }

    def _line(self, row: Measurement) -> str:
        figures, load = row.figures, row.load
        ratios = " ".join(f"{self._cpu_ratio(row, name):>6}" for name in BASELINES)
        return (
            f"{load.pace:>5g} {load.streams:>7} {load.chunks:>6} {row.system:<18} "
            f"{figures.cpu:>5.0f} {ratios} {figures.relay50:>8.2f} {figures.relay99:>8.1f} "
            f"{figures.first50:>9.1f} {figures.first99:>9.1f} {figures.rss:>6.0f} {figures.faults:>6.0f}"
        )

    def _cpu_ratio(self, row: Measurement, name: str) -> str:
        base = self._figures(name, row.load)
        return f"{ratio(row.figures.cpu, base.cpu):.2f}" if base else "–"

    def _figures(self, system: str, load: Load) -> Figures | None:
        found = (row.figures for row in self.rows if (row.system, row.load) == (system, load))
        return next(found, None)

    def _at(self, system: str, load: Load, figure: str) -> float | None:
        figures = self._figures(system, load)
        return None if figures is None else float(getattr(figures, figure))

    def _over(self, system: str, base: str, load: Load) -> float | None:
        """CPU of one under the load in units of the other's."""
        above, below = self._figures(system, load), self._figures(base, load)
        return ratio(above.cpu, below.cpu) if above and below else None

    def _worst(self, figure: str) -> float | None:
        ours = (PRODUCT, ONE_PROCESS, TWO_PROCESSES)
        return max((getattr(row.figures, figure) for row in self.rows if row.system in ours), default=None)

    def _capacity(self, pace: float) -> float | None:
        found = (one.streams for one in self.capacities if (one.system, one.pace) == (PRODUCT, pace))
        return next(found, None)


def processor() -> str:
    """Its name as the kernel has it."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()
