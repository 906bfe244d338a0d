"""When each chunk came and what it brought: our own time apart from the provider's."""

from dataclasses import dataclass
from typing import Any

from sessions_app.inspector import texts
from sessions_app.inspector.evidence import content_of
from sessions_app.inspector.tabs.base import Tab
from sessions_app.models import Exchange, RawChunk
from sessions_app.prompt import wire
from sessions_app.prompt.renditions.chunks import gemini_chunk

KINDS = ("thought", "text", "call", "signature", "usage", "end", "other")
"""What a chunk can bring; each has its own lane on the strip, its own shape and its own word."""

STALL = 1000.0
"""Milliseconds without a chunk that are worth a mark."""

LANE = 24
"""Pixels; the lane names beside the strip have the same height in inspector.css."""

ROWS = 500
"""Chunks in the table; the strip shows all."""

GLIMPSE = 90


@dataclass(frozen=True, slots=True)
class Mark:
    """One shape on the strip. `x` is percent of the time axis, `lane` counts from the top."""

    kind: str
    x: float
    lane: int

    @property
    def y(self) -> float:
        """Pixels from the top to the middle of the lane."""
        return LANE * (self.lane + 0.5)


@dataclass(frozen=True, slots=True)
class Arrival:
    """One chunk: `ms` since the request was sent, `gap` since the chunk before."""

    seq: int
    ms: float
    gap: float
    size: int
    kinds: tuple[str, ...]
    glimpse: str

    @property
    def is_stall(self) -> bool:
        return self.gap >= STALL


@dataclass(frozen=True, slots=True)
class ShownStream:
    arrivals: list[Arrival]
    marks: list[Mark]
    lanes: list[str]
    ticks: list[tuple[float, float]]
    """(percent, milliseconds) along the axis."""
    total: float

    @property
    def height(self) -> int:
        return LANE * len(self.lanes)

    @property
    def rails(self) -> list[float]:
        return [LANE * (lane + 0.5) for lane in range(len(self.lanes))]

    @property
    def rows(self) -> list[Arrival]:
        return self.arrivals[:ROWS]

    @property
    def stalls(self) -> list[Arrival]:
        return [arrival for arrival in self.arrivals if arrival.is_stall]

    @property
    def longest_gap(self) -> float:
        return max((arrival.gap for arrival in self.arrivals[1:]), default=0.0)

    @property
    def words(self) -> str:
        """The strip in words."""
        counts = {lane: sum(lane in arrival.kinds for arrival in self.arrivals) for lane in self.lanes}
        brought = ", ".join(f"{count} with {lane}" for lane, count in counts.items())
        return (
            f"{len(self.arrivals)} chunks in {self.total:.0f} ms: {brought}" if self.arrivals else "No chunks"
        )


class StreamTab(Tab):
    id = "stream"
    title = "Stream"
    follows = "always"

    def context(self, exchange: Exchange, *, raw: bool) -> ShownStream:
        arrivals = arrivals_of(list(exchange.chunks.all()))
        total = max(exchange.total_ms or 0.0, arrivals[-1].ms if arrivals else 0.0)
        lanes = [kind for kind in KINDS if any(kind in arrival.kinds for arrival in arrivals)]
        return ShownStream(arrivals, marks_of(arrivals, lanes, total), lanes, ticks_of(total), total)


def arrivals_of(chunks: list[RawChunk]) -> list[Arrival]:
    found, before = [], 0.0
    for chunk in chunks:
        body = bytes(chunk.body)
        kinds, glimpse = read(body, is_last=chunk is chunks[-1])
        found.append(Arrival(chunk.seq, chunk.ms, chunk.ms - before, len(body), kinds, glimpse))
        before = chunk.ms
    return found


def read(body: bytes, *, is_last: bool) -> tuple[tuple[str, ...], str]:
    """What a chunk brings, and the beginning of its text. Every chunk repeats usage; the last one counts."""
    try:
        chunk = wire.loads(body)
    except ValueError:
        return ("other",), texts.decoded(body[:GLIMPSE])
    parts = parts_in(body)
    kinds = {kind for part in parts for kind in kinds_of(part)}
    if isinstance(chunk, dict):
        chunk = gemini_chunk(chunk)
        kinds |= {"usage"} if is_last and "usageMetadata" in chunk else set()
        kinds |= {"end"} if is_end(chunk) else set()
    ordered = tuple(kind for kind in KINDS if kind in kinds) or ("other",)
    return ordered, texts.visible(glimpse_of(parts)[:GLIMPSE])


def parts_in(body: bytes) -> list[dict[str, Any]]:
    parts = (content_of(body) or {}).get("parts")
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []


def kinds_of(part: dict[str, Any]) -> set[str]:
    kinds = {"signature"} if part.get("thoughtSignature") else set()
    if "functionCall" in part:
        return kinds | {"call"}
    if part.get("text"):
        return kinds | {"thought" if part.get("thought") is True else "text"}
    return kinds if "text" in part else kinds | {"other"}


def is_end(chunk: dict[str, Any]) -> bool:
    candidates = chunk.get("candidates")
    found = candidates if isinstance(candidates, list) else []
    return "error" in chunk or any(isinstance(one, dict) and one.get("finishReason") for one in found)


def glimpse_of(parts: list[dict[str, Any]]) -> str:
    """The text of a chunk, or the names of what it calls."""
    called = [part["functionCall"] for part in parts if isinstance(part.get("functionCall"), dict)]
    names = "".join(f"{call.get('name', '…')}()" for call in called)
    return names + "".join(str(part["text"]) for part in parts if part.get("text"))


def marks_of(arrivals: list[Arrival], lanes: list[str], total: float) -> list[Mark]:
    return [
        Mark(kind, percent(arrival.ms, total), lanes.index(kind))
        for arrival in arrivals
        for kind in arrival.kinds
    ]


def ticks_of(total: float) -> list[tuple[float, float]]:
    """Five marks on the axis, at quarters of the whole time."""
    return [(25.0 * step, total * step / 4) for step in range(5)] if total else []


def percent(ms: float, total: float) -> float:
    return round(100 * ms / total, 2) if total else 0.0
