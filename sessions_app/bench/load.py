"""A load and what came of it: the values that the processes of a bench hand each other as JSON."""

from dataclasses import dataclass

from pydantic import TypeAdapter

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
    def message(self) -> str:
        """What a reader sends; the fake upstream finds its orders in it."""
        return f"Answer in chunks={self.chunks} pace={self.pace:g}"

    def start_of(self, stream: int) -> float:
        """Seconds after which this stream asks for the first time."""
        return START_SPREAD * stream / self.streams


@dataclass(frozen=True, slots=True)
class Sample:
    """One system under one load: a list entry per chunk (`relays`, ms) and per turn (`firsts`, ms).

    `cpu` is seconds of the system's process tree, `rss` its bytes at the end of the load.
    """

    relays: list[float]
    firsts: list[float]
    cpu: float
    rss: int
    faults: list[str]


@dataclass(frozen=True, slots=True)
class Seat:
    """A signed-in person and a session of theirs: the cookie header and the session's public id."""

    cookie: str
    session: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What the load client does: `port` and process id of the server, and who sits where."""

    port: int
    pid: int
    load: Load
    seats: list[Seat]


class Watch:
    """The times of one stream: what it asked and read, in order; moments are ns of the monotonic clock."""

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


def merged(watches: list[Watch], cpu: float, rss: int) -> Sample:
    return Sample(
        relays=[round(ms, 3) for watch in watches for ms in watch.relays],
        firsts=[round(ms, 3) for watch in watches for ms in watch.firsts],
        cpu=cpu,
        rss=rss,
        faults=[fault for watch in watches for fault in watch.faults],
    )


LOADS = TypeAdapter(Load)
SAMPLES = TypeAdapter(Sample)
SEATS = TypeAdapter(list[Seat])
PLANS = TypeAdapter(Plan)
