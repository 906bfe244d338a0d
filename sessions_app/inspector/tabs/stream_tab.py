"""The stream tab: when each chunk arrived and what it held."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sessions_app.inspector import formatting
from sessions_app.inspector.chunk_times import has_times
from sessions_app.inspector.signature_trace import read_chunk
from sessions_app.inspector.tabs.base import Tab
from sessions_app.models import Exchange
from sessions_app.prompt.chunks import StreamedChunk, replaces
from sessions_app.prompt.parts import RawPart, call_of, is_thought, signature_of

KINDS = ("thought", "text", "call", "signature", "usage", "end", "other")
"""What a chunk can hold; each has a lane and a shape on the strip."""

STALL = 1000.0
"""Milliseconds without a chunk from which a gap is marked."""

LANE_HEIGHT = 24
"""Pixels; the lane names beside the strip have the same height in inspector.css."""

TABLE_ROWS = 500
"""Chunks in the table; the strip has all."""

GLIMPSE = 90


@dataclass(frozen=True, slots=True)
class TimelineMark:
    """One shape on the strip. `x` is percent of the time axis, `lane` counts from the top."""

    kind: str
    x: float
    lane: int

    @property
    def y(self) -> float:
        """Pixels from the top."""
        return LANE_HEIGHT * (self.lane + 0.5)


@dataclass(frozen=True, slots=True)
class ChunkArrival:
    """One chunk: `ms` since the request was sent, `gap` since the chunk before; None where nothing tells."""

    seq: int
    ms: float | None
    gap: float | None
    size: int
    kinds: tuple[str, ...]
    glimpse: str

    @property
    def is_stall(self) -> bool:
        return self.gap is not None and self.gap >= STALL


@dataclass(frozen=True, slots=True)
class StreamTimeline:
    arrivals: list[ChunkArrival]
    marks: list[TimelineMark]
    lanes: list[str]
    ticks: list[tuple[float, float]]
    """(percent, milliseconds) along the axis."""
    total: float
    is_timed: bool = True
    """Whether it is known when the chunks arrived."""

    @property
    def height(self) -> int:
        return LANE_HEIGHT * len(self.lanes)

    @property
    def lane_centres(self) -> list[float]:
        return [LANE_HEIGHT * (lane + 0.5) for lane in range(len(self.lanes))]

    @property
    def rows(self) -> list[ChunkArrival]:
        return self.arrivals[:TABLE_ROWS]

    @property
    def stalls(self) -> list[ChunkArrival]:
        return [arrival for arrival in self.arrivals if arrival.is_stall]

    @property
    def longest_gap(self) -> float | None:
        """None where fewer than two chunks came, or nothing tells when."""
        return max((one.gap for one in self.arrivals[1:] if one.gap is not None), default=None)

    @property
    def summary(self) -> str:
        counts = {lane: sum(lane in arrival.kinds for arrival in self.arrivals) for lane in self.lanes}
        brought = ", ".join(f"{count} with {lane}" for lane, count in counts.items())
        if not self.arrivals:
            return "No chunks"
        many = "" if len(self.arrivals) == 1 else "s"
        return f"{len(self.arrivals)} chunk{many} in {self.total:.0f} ms: {brought}"


class StreamTab(Tab):
    id = "stream"
    title = "Stream"
    refresh = "always"

    def context(self, exchange: Exchange, *, raw: bool) -> StreamTimeline:
        is_timed = has_times(exchange)
        arrivals = arrivals_of(exchange, is_timed=is_timed)
        total = max((exchange.total_ms or 0.0, *(one.ms for one in arrivals if one.ms is not None)))
        lanes = [kind for kind in KINDS if any(kind in arrival.kinds for arrival in arrivals)]
        marks = marks_of(arrivals, lanes, total)
        return StreamTimeline(arrivals, marks, lanes, ticks_of(total), total, is_timed)


def arrivals_of(exchange: Exchange, *, is_timed: bool) -> list[ChunkArrival]:
    rows = [(row, bytes(row.body)) for row in exchange.chunks.all()]
    read = [read_chunk(exchange, body) for _, body in rows]
    counted = counted_at(read)
    found, before = [], 0.0
    for at, ((row, body), chunk) in enumerate(zip(rows, read, strict=True)):
        kinds, glimpse = brought_by(chunk, body, counts=at == counted)
        ms, gap = (row.ms, row.ms - before) if is_timed else (None, None)
        found.append(ChunkArrival(row.seq, ms, gap, len(body), kinds, glimpse))
        before = row.ms
    return found


def counted_at(chunks: Sequence[StreamedChunk | None]) -> int | None:
    """The chunk whose usage is that of the answer, from 0 on: most repeat it, and the last may have none."""
    counted: int | None = None
    usage: dict[str, Any] = {}
    for at, chunk in enumerate(chunks):
        if chunk is not None and chunk.error is None and replaces(chunk.usage, usage):
            counted, usage = at, chunk.usage
    return counted


def brought_by(chunk: StreamedChunk | None, body: bytes, *, counts: bool) -> tuple[tuple[str, ...], str]:
    """The kinds of a chunk and the beginning of its text; of its usage only where it `counts`."""
    if chunk is None:
        return ("other",), formatting.decoded(body[:GLIMPSE])
    kinds = {kind for part in chunk.parts for kind in kinds_of(part)}
    kinds |= {"usage"} if counts else set()
    kinds |= {"end"} if chunk.is_last else set()
    ordered = tuple(kind for kind in KINDS if kind in kinds) or ("other",)
    return ordered, formatting.visible(glimpse_of(chunk.parts)[:GLIMPSE])


def kinds_of(part: RawPart) -> set[str]:
    kinds = {"signature"} if signature_of(part) else set()
    if call_of(part) is not None:
        return kinds | {"call"}
    if part.get("text"):
        return kinds | {"thought" if is_thought(part) else "text"}
    return kinds if "text" in part else kinds | {"other"}


def glimpse_of(parts: list[RawPart]) -> str:
    """The text of a chunk, or the names of what it calls."""
    called = (call for part in parts if (call := call_of(part)) is not None)
    names = "".join(f"{call.get('name', '…')}()" for call in called)
    return names + "".join(str(part["text"]) for part in parts if part.get("text"))


def marks_of(arrivals: list[ChunkArrival], lanes: list[str], total: float) -> list[TimelineMark]:
    return [
        TimelineMark(kind, percent(arrival.ms, total), lanes.index(kind))
        for arrival in arrivals
        if arrival.ms is not None
        for kind in arrival.kinds
    ]


def ticks_of(total: float) -> list[tuple[float, float]]:
    """(percent, ms) at the quarters of the axis."""
    return [(25.0 * step, total * step / 4) for step in range(5)] if total else []


def percent(ms: float, total: float) -> float:
    return round(100 * ms / total, 2) if total else 0.0
