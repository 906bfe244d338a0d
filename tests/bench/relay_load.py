"""The loads of `bench relay` and their results: values that its processes exchange as JSON."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, fields
from statistics import median

from pydantic import TypeAdapter

from tests.bench.base import percentile
from tests.bench.processes import START_LIMIT, cpu_seconds, resident_bytes

START_SPREAD = 1.0
"""Seconds over which the streams of a load start; nobody's users press Enter in the same millisecond."""


@dataclass(frozen=True, slots=True)
class Load:
    """`streams` readers at once, each asking `turns` times for `chunks` text chunks `pace` ms apart."""

    streams: int
    pace: float
    chunks: int
    turns: int = 1

    @property
    def seconds(self) -> float:
        """How long it takes when nothing is late."""
        return self.turns * self.chunks * self.pace / 1000 + START_SPREAD

    @property
    def limit(self) -> float:
        """Seconds after which it counts as stuck: its process starts, and may be half a minute late."""
        return self.seconds + START_LIMIT + 30

    @property
    def message(self) -> str:
        """What a reader sends; `fake_upstream` reads its orders from it."""
        return f"Answer in chunks={self.chunks} pace={self.pace:g}"

    def start_of(self, stream: int) -> float:
        """Seconds after which this stream asks for the first time."""
        return START_SPREAD * stream / self.streams


@dataclass(frozen=True, slots=True)
class LoadResult:
    """One system under one load: a list entry per chunk (`relays`, ms) and per turn (`firsts`, ms).

    `cpu` is seconds of the system's process trees, `rss` the most bytes that they had during the load.
    """

    relays: list[float]
    firsts: list[float]
    cpu: float
    rss: int
    faults: list[str]


LOADS = TypeAdapter(Load)
RESULTS = TypeAdapter(LoadResult)


class StreamTimer:
    """The times of one stream. `now` and `stamp` are ns of the monotonic clock."""

    def __init__(self, chunks: int) -> None:
        self.relays: list[float] = []
        self.firsts: list[float] = []
        self.faults: list[str] = []
        self._chunks = chunks
        self._asked = 0
        self._stamps: list[int] = []

    def ask(self, now: int) -> None:
        self._asked = now
        self._stamps = []

    def read(self, stamp: int, now: int) -> None:
        """A chunk with this stamp was read. One seen before is the same text again (a closed block)."""
        if self._stamps and stamp <= self._stamps[-1]:
            return
        if not self._stamps:
            self.firsts.append((now - self._asked) / 1e6)
        self._stamps.append(stamp)
        self.relays.append((now - stamp) / 1e6)

    def end(self, fault: str = "") -> None:
        """The answer is over: every chunk must have been there."""
        lost = self._chunks - len(self._stamps)
        if fault or lost:
            self.faults.append(fault or f"{lost} of {self._chunks} chunks lost")


Stream = tuple[StreamTimer, Callable[[], Awaitable[None]]]
"""A timer, and what asks once and reads the answer to its end."""


async def run_load(load: Load, pids: Sequence[int], streams: Sequence[Stream]) -> LoadResult:
    """Runs all streams side by side, and measures the process trees of `pids` meanwhile."""
    begin, memory = sum(map(cpu_seconds, pids)), _Memory(pids)
    watching = asyncio.create_task(memory.watch())
    async with asyncio.TaskGroup() as tasks:
        for number, stream in enumerate(streams):
            tasks.create_task(_run_stream(stream, load.turns, load.start_of(number)))
    cpu = sum(map(cpu_seconds, pids)) - begin
    watching.cancel()
    memory.read()
    return merged([timer for timer, _ in streams], cpu, memory.highest)


class _Memory:
    """The most bytes that process trees have had in RAM, read twice a second."""

    def __init__(self, pids: Sequence[int]) -> None:
        self.highest = 0
        self._pids = pids

    def read(self) -> None:
        self.highest = max(self.highest, sum(map(resident_bytes, self._pids)))

    async def watch(self) -> None:
        while True:
            self.read()
            await asyncio.sleep(0.5)


async def _run_stream(stream: Stream, turns: int, delay: float) -> None:
    timer, read_answer = stream
    await asyncio.sleep(delay)
    for _ in range(turns):
        timer.ask(time.monotonic_ns())
        await read_answer()


def merged(timers: Sequence[StreamTimer], cpu: float, rss: int) -> LoadResult:
    return LoadResult(
        relays=[round(ms, 3) for timer in timers for ms in timer.relays],
        firsts=[round(ms, 3) for timer in timers for ms in timer.firsts],
        cpu=cpu,
        rss=rss,
        faults=[fault for timer in timers for fault in timer.faults],
    )


@dataclass(frozen=True, slots=True)
class Figures:
    """What one system did under one load.

    `cpu` is ms per 1,000 chunks; `relay50`, `relay99` the ms from the upstream's write to the reader;
    `first50`, `first99` the ms from sending a message to its first text; `rss` is MB (10⁶ bytes);
    `faults` counts answers that failed or lost text, and errors in the log of a server of ours.
    """

    cpu: float
    relay50: float
    relay99: float
    first50: float
    first99: float
    rss: float
    faults: float

    @classmethod
    def of(cls, result: LoadResult) -> "Figures":
        return cls(
            cpu=result.cpu * 1e6 / max(len(result.relays), 1),
            relay50=percentile(result.relays, 50),
            relay99=percentile(result.relays, 99),
            first50=percentile(result.firsts, 50),
            first99=percentile(result.firsts, 99),
            rss=result.rss / 1e6,
            faults=len(result.faults),
        )

    @classmethod
    def typical(cls, repeats: Sequence["Figures"]) -> "Figures":
        """The median of every figure; of the faults the worst, since none may hide behind a median."""
        middle = {field.name: median(getattr(one, field.name) for one in repeats) for field in fields(cls)}
        return cls(**middle | {"faults": max(one.faults for one in repeats)})
