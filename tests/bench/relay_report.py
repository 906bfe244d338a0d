"""What `bench relay` prints in the end: a table, the capacities, the aims, and the same as JSON."""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import inf
from typing import Any

from tests.bench.base import Aim, ratio
from tests.bench.relay_load import Figures, Load

PRODUCT = "Pipeweb"
BASELINES = ("raw socket", "SDK alone")
HEADING = (
    " pace streams system          CPU   ×raw   ×SDK  lat p50  lat p99 first p50 first p99     MB faults"
)


@dataclass(frozen=True, slots=True)
class Measurement:
    """The typical figures of one system under one load."""

    system: str
    load: Load
    figures: Figures


@dataclass(frozen=True, slots=True)
class Capacity:
    """The most streams at this pace whose p99 stays below 100 ms."""

    system: str
    pace: float
    streams: int


class RelayReport:
    """All of one run: `rows` by load, every system; `capacities` by pace."""

    def __init__(self, rows: Sequence[Measurement], capacities: Sequence[Capacity]) -> None:
        self.rows = rows
        self.capacities = capacities

    def aims(self) -> list[Aim]:
        """What is wanted of Pipeweb alone; the baselines have no aims."""
        return [
            Aim("CPU, ms per 1,000 chunks (20 streams, 20 ms)", 200, self._at(20, 20, "cpu")),
            Aim("added latency p99, ms (20 streams, 20 ms)", 10, self._at(20, 20, "relay99")),
            Aim("first chunk p50, ms (20 streams, 20 ms)", 8, self._at(20, 20, "first50")),
            Aim("streams with p99 < 100 ms, 20 ms", 150, self._capacity(20), is_floor=True),
            Aim("streams with p99 < 100 ms, 100 ms", 300, self._capacity(100), is_floor=True),
            Aim("memory, MB (highest of all loads)", 130, self._worst("rss")),
            Aim("answers that failed or lost text (all loads)", 0, self._worst("faults")),
        ]

    def lines(self) -> list[str]:
        return [
            "",
            f"Medians. The machine: {os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f} now.",
            "CPU is ms per 1,000 chunks, latency and first chunk are ms, ratios are of CPU.",
            "",
            HEADING,
            *map(self._line, self.rows),
            "",
            *(f"{one.system}: {one.streams} streams at {one.pace:g} ms" for one in self.capacities),
        ]

    def as_json(self) -> dict[str, Any]:
        return {
            "rows": [asdict(row) for row in self.rows],
            "capacities": [asdict(one) for one in self.capacities],
            "aims": [asdict(aim) | {"verdict": aim.verdict} for aim in self.aims()],
        }

    def _line(self, row: Measurement) -> str:
        figures = row.figures
        ratios = " ".join(f"{self._cpu_ratio(row, name):>6.1f}" for name in BASELINES)
        return (
            f"{row.load.pace:>5g} {row.load.streams:>7} {row.system:<11} {figures.cpu:>7.0f} {ratios} "
            f"{figures.relay50:>8.2f} {figures.relay99:>8.1f} {figures.first50:>9.1f} "
            f"{figures.first99:>9.1f} {figures.rss:>6.0f} {figures.faults:>6.0f}"
        )

    def _cpu_ratio(self, row: Measurement, name: str) -> float:
        found = (one.figures.cpu for one in self.rows if (one.load, one.system) == (row.load, name))
        return next((ratio(row.figures.cpu, cpu) for cpu in found), inf)

    def _of_product(self) -> list[Measurement]:
        return [row for row in self.rows if row.system == PRODUCT]

    def _at(self, streams: int, pace: float, figure: str) -> float | None:
        rows = [row for row in self._of_product() if (row.load.streams, row.load.pace) == (streams, pace)]
        return float(getattr(rows[0].figures, figure)) if rows else None

    def _worst(self, figure: str) -> float | None:
        return max((getattr(row.figures, figure) for row in self._of_product()), default=None)

    def _capacity(self, pace: float) -> float | None:
        found = (one.streams for one in self.capacities if (one.system, one.pace) == (PRODUCT, pace))
        return next(found, None)
