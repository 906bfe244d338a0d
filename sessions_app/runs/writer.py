"""The one group-commit writer of the process: raw chunks and event logs of all runs, in batches.

It has a thread and a database connection of its own, so that a flush never waits behind a page and
no page waits behind a flush.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import groupby
from operator import itemgetter
from time import monotonic

import structlog
from django.db import IntegrityError, connections, transaction

from sessions_app.gemini.stream import RawChunk as Arrived
from sessions_app.instruments import CHUNKS, EVENTS
from sessions_app.models import RawChunk, RunLog
from sessions_app.runs.live import LiveRun

FLUSH_SECONDS = 0.15
"""What a killed process can lose; a transaction per chunk would cost most of the stream's CPU."""

RETRY_SECONDS = 1.0

ChunkRow = tuple[int, int, float, bytes]
"""Exchange key, seq, milliseconds, body."""

log = structlog.get_logger("pipeweb.writer")


class Writer:
    """Append only. Adding never waits; `flush` returns when all that was added before is committed."""

    def __init__(self, after_commit: Callable[[set[int]], None] = lambda session_pks: None) -> None:
        self._chunks: list[ChunkRow] = []
        self._noted: set[LiveRun] = set()
        self._after_commit = after_commit
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pipeweb-writer")
        self._order = asyncio.Lock()
        self._timer: asyncio.TimerHandle | None = None
        self._flushes: set[asyncio.Task[None]] = set()
        self._oldest = 0.0

    @property
    def lag(self) -> float:
        """Seconds that the oldest event has waited that is not committed yet."""
        return monotonic() - self._oldest if self._oldest else 0.0

    def add_chunk(self, exchange_pk: int, chunk: Arrived) -> None:
        self._expect()
        self._chunks.append((exchange_pk, chunk.seq, chunk.ms, chunk.body))

    def note(self, live: LiveRun) -> None:
        """The run has events that are not in its log yet."""
        self._expect()
        self._noted.add(live)

    async def flush(self) -> None:
        # Shielded: a stopped run must not leave half a batch behind.
        await asyncio.shield(self._start())

    async def close(self) -> None:
        await self.flush()
        await asyncio.get_running_loop().run_in_executor(self._thread, connections.close_all)
        self._thread.shutdown(wait=False)

    def _expect(self, delay: float = FLUSH_SECONDS) -> None:
        if self._timer is None:
            self._oldest = self._oldest or monotonic()
            self._timer = asyncio.get_running_loop().call_later(delay, self._start_alone)

    def _start_alone(self) -> None:
        """A flush that nobody waits for: when it fails it comes again, whether or not more is said."""
        self._start().add_done_callback(self._look_after)

    def _look_after(self, flush: "asyncio.Task[None]") -> None:
        if not flush.cancelled() and (error := flush.exception()) is not None:
            log.warning("flush_failed", kind=type(error).__name__)
            self._expect(RETRY_SECONDS)

    def _start(self) -> "asyncio.Task[None]":
        task = asyncio.get_running_loop().create_task(self._write())
        self._flushes.add(task)
        task.add_done_callback(self._flushes.discard)
        return task

    async def _write(self) -> None:
        async with self._order:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            began = monotonic()
            chunks, self._chunks = self._chunks, []
            lives, self._noted = self._noted, set()
            logs = {live: row for live in lives if (row := live.unlogged()) is not None}
            if not chunks and not logs:
                self._oldest = 0.0
                return
            try:
                work = partial(commit, chunks, list(logs.values()))
                await asyncio.get_running_loop().run_in_executor(self._thread, work)
            except BaseException:
                # The chunks are evidence: a failed write leaves them, in order, for the next flush.
                self._chunks, self._noted = chunks + self._chunks, self._noted | lives
                raise
            for live, row in logs.items():
                live.logged = row.seq_to + 1
            self._oldest = began if self._chunks or self._noted else 0.0
            CHUNKS.inc(len(chunks))
            EVENTS.inc(sum(row.seq_to - row.seq_from + 1 for row in logs.values()))
        self._after_commit({live.run.session_id for live in logs})


def commit(chunks: Sequence[ChunkRow], logs: Sequence[RunLog]) -> None:
    """One transaction for all; where a row's parent is gone, one per parent, and that one is let go."""
    try:
        _insert(chunks, logs)
    except IntegrityError:
        for _, of_exchange in groupby(sorted(chunks), key=itemgetter(0)):
            _insert_or_drop(list(of_exchange), [])
        for row in logs:
            _insert_or_drop([], [row])


def _insert(chunks: Sequence[ChunkRow], logs: Sequence[RunLog]) -> None:
    with transaction.atomic():
        RawChunk.objects.append(chunks)
        RunLog.objects.bulk_create(logs, ignore_conflicts=True)


def _insert_or_drop(chunks: Sequence[ChunkRow], logs: Sequence[RunLog]) -> None:
    try:
        _insert(chunks, logs)
    except IntegrityError:
        # The session was erased while it was answering: there is nobody left to keep this for.
        log.info("rows_without_a_parent", chunks=len(chunks), logs=len(logs))
