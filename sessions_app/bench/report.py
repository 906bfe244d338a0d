"""What a relay bench says in the end: a table, the aims, and the same as JSON."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import orjson

from sessions_app.bench.figures import Figures, ratio
from sessions_app.bench.load import Load

PRODUCT = "Pipeweb"
BASES = ("raw socket", "SDK alone")


@dataclass(frozen=True, slots=True)
class Row:
    system: str
    load: Load
    figures: Figures


@dataclass(frozen=True, slots=True)
class Capacity:
    """The most streams at this pace whose p99 stays below 100 ms."""

    system: str
    pace: float
    streams: int


@dataclass(frozen=True, slots=True)
class Aim:
    """A figure that is wanted: at most `limit`, or at least when `is_floor`. `value` None: not measured."""

    words: str
    limit: float
    value: float | None
    is_floor: bool = False

    @property
    def verdict(self) -> str:
        if self.value is None:
            return "not measured"
        is_met = self.value >= self.limit if self.is_floor else self.value <= self.limit
        return "met" if is_met else "NOT MET"


class Report:
    """The medians of a run: `rows` by load, every system; `capacities` by pace."""

    def __init__(self, rows: Sequence[Row], capacities: Sequence[Capacity]) -> None:
        self.rows = rows
        self.capacities = capacities

    def aims(self) -> list[Aim]:
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
            *(self._line(row) for row in self.rows),
            "",
            *(f"{one.system}: {one.streams} streams at {one.pace:g} ms" for one in self.capacities),
            *(aim_line(aim) for aim in self.aims()),
        ]

    def json(self) -> bytes:
        content = {
            "rows": [asdict(row) for row in self.rows],
            "capacities": [asdict(one) for one in self.capacities],
            "aims": [asdict(aim) | {"verdict": aim.verdict} for aim in self.aims()],
        }
        return orjson.dumps(content, option=orjson.OPT_INDENT_2)

    def _line(self, row: Row) -> str:
        figures = row.figures
        bases = " ".join(f"{self._cpu_ratio(row, base):>6.1f}" for base in BASES)
        return (
            f"{row.load.pace:>5g} {row.load.streams:>7} {row.system:<11} {figures.cpu:>7.0f} {bases} "
            f"{figures.relay50:>8.2f} {figures.relay99:>8.1f} {figures.first50:>9.1f} "
            f"{figures.first99:>9.1f} {figures.rss:>6.0f} {figures.faults:>6.0f}"
        )

    def _cpu_ratio(self, row: Row, base: str) -> float:
        found = [one.figures.cpu for one in self.rows if one.load == row.load and one.system == base]
        return ratio(row.figures.cpu, found[0]) if found else float("inf")

    def _of_product(self) -> Iterator[Row]:
        return (row for row in self.rows if row.system == PRODUCT)

    def _at(self, streams: int, pace: float, figure: str) -> float | None:
        values: list[Any] = [
            getattr(row.figures, figure)
            for row in self._of_product()
            if (row.load.streams, row.load.pace) == (streams, pace)
        ]
        return values[0] if values else None

    def _worst(self, figure: str) -> float | None:
        return max((getattr(row.figures, figure) for row in self._of_product()), default=None)

    def _capacity(self, pace: float) -> float | None:
        found = [one.streams for one in self.capacities if (one.system, one.pace) == (PRODUCT, pace)]
        return found[0] if found else None


HEADING = (
    " pace streams system          CPU   ×raw   ×SDK  lat p50  lat p99 first p50 first p99     MB faults"
)


def aim_line(aim: Aim) -> str:
    sign = "≥" if aim.is_floor else "≤"
    value = "–" if aim.value is None else f"{aim.value:.1f}"
    return f"  {aim.verdict:<12}  {aim.words}: {value} (aim {sign} {aim.limit:g})"
