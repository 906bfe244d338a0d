"""What came in and what became of it: one entry a request, the newest few hundred kept."""

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

_KEPT = 200
_ANSWER_KEPT = 65_536


@dataclass(slots=True)
class Entry:
    """One request. `seconds` runs from its arrival to the last byte or to the client's leaving;
    None while the answer is still under way. `answer` is the beginning of what was sent,
    `sent` the bytes in all."""

    number: int
    method: str
    path: str
    body: bytes
    status: int = 0
    chunks: int = 0
    closed_early: bool = False
    seconds: float | None = None
    sent: int = 0
    answer: bytearray = field(default_factory=bytearray, repr=False)
    _arrived: float = field(default_factory=time.monotonic, repr=False)

    @property
    def under_way(self) -> bool:
        return self.seconds is None

    def send(self, piece: bytes) -> None:
        self.chunks += 1
        self.sent += len(piece)
        self.answer += piece[: _ANSWER_KEPT - len(self.answer)]

    def close(self, *, early: bool) -> None:
        """The first close counts; a later one changes nothing."""
        if self.under_way:
            self.closed_early = early
            self.seconds = time.monotonic() - self._arrived


class Journal:
    """Entries, oldest first. Bodies are kept whole, the API key is not."""

    def __init__(self, kept: int = _KEPT) -> None:
        self._entries: deque[Entry] = deque(maxlen=kept)
        self._count = 0

    def open(self, method: str, path: str, body: bytes) -> Entry:
        self._count += 1
        entry = Entry(self._count, method, path, body)
        self._entries.append(entry)
        return entry

    @property
    def last(self) -> Entry:
        """Raises IndexError before the first request."""
        return self._entries[-1]

    def __iter__(self) -> Iterator[Entry]:
        return iter(tuple(self._entries))

    def __len__(self) -> int:
        return len(self._entries)
