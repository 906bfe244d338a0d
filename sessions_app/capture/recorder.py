"""The queue of what is to be recorded, and the thread that writes it. Adding never waits and never fails.

Where the database is away, records wait until it is back. What finds no room in the queue is not recorded:
how many requests that are is counted, and stored with their address as soon as that is possible.
"""

import threading
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from django.db import connections

from sessions_app.capture.records import Begun, Ended, Record, weight
from sessions_app.database import close_unusable_connections
from sessions_app.runs.background import report
from sessions_app.storage_errors import is_temporary

RECORDS, RECORD_BYTES = 5_000, 128 * 1024 * 1024
"""The most records, and bytes of them, that may wait to be written."""

BATCH = 50

GATHER_SECONDS = 0.1
"""Records of this time are written together, and not while the request that they are of sets out."""

RETRY_SECONDS = 1.0
CLOSE_SECONDS = 5.0

Write = Callable[[Sequence[Record]], None]
CountMissed = Callable[[Mapping[int, int]], None]


class Recorder:
    """The thread starts with the first record."""

    def __init__(self, write: Write, count_missed: CountMissed) -> None:
        self._write = write
        self._count_missed = count_missed
        self._waiting: deque[Record] = deque()
        self._bytes = 0
        self._missed: Counter[int] = Counter()
        """Primary key of an address → requests that are not recorded."""
        self._change = threading.Condition()
        self._is_closing = threading.Event()
        self._is_idle = True
        self._thread: threading.Thread | None = None

    def begin(self, begun: Begun) -> bool:
        """False where there is no room: nothing of the request is recorded then."""
        with self._change:
            if len(self._waiting) >= RECORDS or self._bytes + weight(begun) > RECORD_BYTES:
                self._missed[begun.address] += 1
                return False
            self._add(begun)
            return True

    def end(self, ended: Ended) -> None:
        """Records the end of a request that has begun here; without room, only its figures."""
        with self._change:
            if self._bytes + weight(ended) > RECORD_BYTES:
                ended = replace(ended, body=b"", packets=[], is_cut=True)
            self._add(ended)

    def flush(self, seconds: float) -> bool:
        """Waits until all is written; False when that takes longer."""
        with self._change:
            return self._change.wait_for(lambda: self._is_idle and not self._waiting, seconds)

    def close(self) -> None:
        """Writes what there is, unless the database is away for longer."""
        if self._thread is None:
            return
        self.flush(CLOSE_SECONDS)
        with self._change:
            self._is_closing.set()
            self._change.notify_all()
        self._thread.join(CLOSE_SECONDS)

    def _add(self, record: Record) -> None:
        self._waiting.append(record)
        self._bytes += weight(record)
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="pipeweb-capture", daemon=True)
            self._thread.start()
        self._change.notify_all()

    def _work(self) -> None:
        while not self._is_closing.is_set():
            batch = self._next()
            if batch:
                self._store(batch)
        connections.close_all()

    def _next(self) -> list[Record]:
        with self._change:
            self._is_idle = True
            self._change.notify_all()
            self._change.wait_for(lambda: self._waiting or self._is_closing.is_set())
            self._is_idle = False
        self._is_closing.wait(GATHER_SECONDS)
        with self._change:
            return [self._waiting[at] for at in range(min(BATCH, len(self._waiting)))]

    def _store(self, batch: list[Record]) -> None:
        """The records stay in the queue until they are written, so that they count as waiting."""
        if self._is_written(batch) is None:
            self._is_closing.wait(RETRY_SECONDS)
            return
        with self._change:
            for record in batch:
                self._waiting.popleft()
                self._bytes -= weight(record)

    def _is_written(self, batch: list[Record]) -> bool | None:
        """None when the database is away; one by one where the batch cannot be stored."""
        try:
            close_unusable_connections()
            self._write(batch)
            self._tell_missed()
        except Exception as error:  # noqa: BLE001 (reported)
            report("capture_not_recorded", error, records=len(batch))
            if is_temporary(error):
                return None
            return self._is_each_written(batch) if len(batch) > 1 else self._give_up(batch[0])
        return True

    def _is_each_written(self, batch: list[Record]) -> bool | None:
        found = [self._is_written([record]) for record in batch]
        return None if None in found else all(found)

    def _give_up(self, record: Record) -> bool:
        if isinstance(record, Begun):
            with self._change:
                self._missed[record.address] += 1
        return False

    def _tell_missed(self) -> None:
        with self._change:
            missed, self._missed = self._missed, Counter()
        if not missed:
            return
        try:
            self._count_missed(missed)
        except BaseException:
            with self._change:
                self._missed += missed
            raise
