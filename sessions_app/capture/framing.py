"""How the chunks of an answer stand in its bytes: as server-sent events, in an array, or as one object."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import NamedTuple

from sessions_app.errors import PipewebError
from sessions_app.gemini.event_stream import EventSplitter


class Framing(NamedTuple):
    """The bytes before the first chunk, between two, and behind the last, each as Latin-1."""

    before: str
    between: str
    after: str

    def joined(self, chunks: Sequence[bytes]) -> bytes:
        """The answer again."""
        between = self.between.encode("latin-1").join(chunks)
        return self.before.encode("latin-1") + between + self.after.encode("latin-1")


class TimedChunk(NamedTuple):
    """`ms` is when its last byte arrived, since the request came; where no packet tells, when the answer had
    ended.
    """

    ms: float
    body: bytes


@dataclass(frozen=True, slots=True)
class CutAnswer:
    """`framing` is None where the chunks with it do not give the answer again, byte for byte. `unread` is
    what came in the place of a chunk and is none.
    """

    chunks: tuple[TimedChunk, ...] = ()
    framing: Framing | None = None
    unread: bytes = b""


def cut_answer(body: bytes, packets: Sequence[Sequence[float]], total_ms: float) -> CutAnswer:
    """The chunks of an answer; `packets` are pairs of milliseconds and bytes, as it arrived."""
    chunks, unread = chunks_of(body)
    places = _places(body, chunks)
    if places is None or not chunks:
        return CutAnswer(tuple(TimedChunk(total_ms, chunk) for chunk in chunks), unread=unread)
    ends = [place + len(chunk) for place, chunk in zip(places, chunks, strict=True)]
    timed = tuple(map(TimedChunk, _times(ends, packets, total_ms), chunks))
    gaps = [body[end:start] for end, start in zip(ends, places[1:], strict=False)]
    around = (body[: places[0]], gaps[0] if gaps else b"", body[ends[-1] :])
    framing = Framing(*(one.decode("latin-1") for one in around))
    return CutAnswer(timed, framing if framing.joined(chunks) == body else None, unread)


class FoundChunks(NamedTuple):
    """The chunks up to what is none, and the rest of the answer from there on."""

    chunks: list[bytes]
    unread: bytes = b""


def chunks_of(body: bytes) -> FoundChunks:
    """As far as they can be told from what is between them."""
    splitter = EventSplitter()
    found: list[bytes] = []
    try:
        found += splitter.feed(body)
        found += splitter.close()
    except PipewebError:
        return FoundChunks(found, splitter.unread)
    return FoundChunks(found)


def _places(body: bytes, chunks: Sequence[bytes]) -> list[int] | None:
    """Where each chunk begins; None where one does not stand there in one piece."""
    places, at = [], 0
    for chunk in chunks:
        at = body.find(chunk, at)
        if at < 0:
            return None
        places.append(at)
        at += len(chunk)
    return places


def _times(ends: Sequence[int], packets: Sequence[Sequence[float]], total_ms: float) -> Iterator[float]:
    """When the byte before each of these places arrived."""
    sizes = accumulate(int(size) for _, size in packets)
    arrived = chain(zip(sizes, (ms for ms, _ in packets), strict=True), [(2**63, total_ms)])
    size, ms = next(arrived)
    for end in ends:
        while size < end:
            size, ms = next(arrived)
        yield ms
