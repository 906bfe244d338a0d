"""`bench assembly`: what it costs to put a request together, by the length of the conversation."""

import tempfile
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from pydantic import TypeAdapter

from sessions_app.bench.figures import percentile, ratio
from sessions_app.bench.processes import START_LIMIT, migrated, run_module
from sessions_app.bench.registry import Bench, Say

SIZES = (10, 100, 1_000)
REQUESTS = 30
SECONDS_A_TURN = 0.2
"""Far more than building and preparing takes; beyond it the child counts as stuck."""

AIM = 15.0
"""Milliseconds that assembling may take after a detach, at any length."""

CHUNK_AIM = 10.0
"""Milliseconds of CPU that freezing one chunk may take, in the request that freezes many."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """One way to send a conversation of one length.

    `ms` per request and `first_ms` for the one that detached, `cpu` and `first_cpu` the same as time of
    the processor, which neighbours hardly lengthen; `stored` and `body` are bytes a request.
    """

    way: str
    turns: int
    ms: Sequence[float]
    first_ms: float
    stages: Mapping[str, float]
    stored: float
    body: int
    chunks: int
    cpu: Sequence[float]
    first_cpu: float

    @property
    def chunk_cpu(self) -> float:
        """What a frozen chunk added to the request that froze it."""
        return (self.first_cpu - median(self.cpu)) / self.chunks if self.chunks else 0.0

    def line(self, base: "Assembled") -> str:
        typical = median(self.ms)
        return (
            f"{self.turns:>7}  {self.way:<18}{typical:>8.1f}{percentile(self.ms, 90):>8.1f}"
            f"{median(self.cpu):>8.1f}"
            f"{ratio(typical, median(base.ms)):>8.2f}{self.first_ms:>9.1f}{self.chunks:>8}"
            f"{self.body / 1000:>10.0f}{ratio(self.body, base.body):>8.2f}{self.stored / 1000:>10.1f}"
        )

    def slowest(self, count: int = 4) -> str:
        stages = sorted(self.stages.items(), key=lambda stage: -stage[1])[:count]
        told = ", ".join(f"{name} {ms:.1f}" for name, ms in stages)
        return f"{'':>9}{told}; recording {median(self.ms) - sum(self.stages.values()):.1f}"


ROWS = TypeAdapter(list[Assembled])
HEADING = (
    f"{'turns':>7}  {'':<18}{'p50':>8}{'p90':>8}{'CPU':>8}{'×':>8}{'first':>9}{'chunks':>8}"
    f"{'body KB':>10}{'×':>8}{'stored KB':>10}"
)


def assemble(turns: int, requests: int) -> list[Assembled]:
    """All ways for one length, in a database of its own. Raises PipewebError."""
    with tempfile.TemporaryDirectory(prefix="pipeweb-bench-") as folder:
        migrated(folder)
        limit = START_LIMIT + SECONDS_A_TURN * (turns + 10 * requests)
        said = run_module("assembler", str(turns), str(requests), limit=limit, PIPEWEB_DATA=folder)
        return ROWS.validate_json(said)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--turns", type=int, nargs="+", default=SIZES, help="lengths (default: %(default)s)")
    parser.add_argument("--requests", type=int, default=REQUESTS, help="of each (default: %(default)s)")


def run(given: Mapping[str, Any], say: Say) -> None:
    say("ms to prepare a request; × is against everything sent turn by turn; stored: the database's growth")
    say(HEADING)
    after: list[Assembled] = []
    for turns in given["turns"]:
        rows = assemble(turns, given["requests"])
        for row in rows:
            say(row.line(rows[0]))
            say(row.slowest())
        after += rows[1:]
    worst, cpu = max(median(row.ms) for row in after), max(median(row.cpu) for row in after)
    words = f"after a detach at any length, ms: {worst:.1f}, of them CPU {cpu:.1f} (aim ≤ {AIM:g})"
    say(_verdict(words, met=worst <= AIM))
    chunk = max(row.chunk_cpu for row in after)
    say(_verdict(f"freezing a chunk, ms of CPU: {chunk:.1f} (aim ≤ {CHUNK_AIM:g})", met=chunk <= CHUNK_AIM))


def _verdict(words: str, *, met: bool) -> str:
    return f"  {'met' if met else 'NOT MET'}  {words}"


BENCH = Bench(
    "assembly", "putting a request together: how it grows with the conversation", add_arguments, run
)
