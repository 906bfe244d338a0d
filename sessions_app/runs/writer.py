"""Group commit of raw chunks, HTTP attempts and event logs of all runs.

It has a thread with its own database connection.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import groupby
from time import monotonic

import structlog
from django.db import IntegrityError, connections, transaction

from sessions_app.database import close_unusable_connections
from sessions_app.gemini.event_stream import StreamChunk
from sessions_app.metrics import CHUNKS, EVENTS
from sessions_app.models import ExchangeAttempt, RawChunk, Run, RunLog
from sessions_app.models.exchange_attempt import AttemptRow
from sessions_app.runs.background import report
from sessions_app.storage_errors import is_temporary

FLUSH_SECONDS = 0.15
"""The most a killed process can lose; a transaction per chunk would take most of the stream's CPU."""

RETRY_SECONDS = 1.0

ChunkRow = tuple[int, int, float, bytes]
"""Exchange key, seq, milliseconds, body."""

EventRow = tuple[Run, int, str]
"""Run, seq, the event as JSON."""

log = structlog.get_logger("pipeweb.writer")


class Writer:
    """Append only. Adding never waits; `flush` returns when all that was added before is committed."""

    def __init__(self, after_commit: Callable[[set[int]], None] = lambda session_pks: None) -> None:
        self._chunks: list[ChunkRow] = []
        self._events: list[EventRow] = []
        self._attempts: list[AttemptRow] = []
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

    def add_chunk(self, exchange_pk: int, chunk: StreamChunk) -> None:
        self._schedule_flush()
        self._chunks.append((exchange_pk, chunk.seq, chunk.ms, chunk.body))

    def add_event(self, run: Run, seq: int, wire: str) -> None:
        """Events of a run must be added in order of `seq`, without gaps."""
        self._schedule_flush()
        self._events.append((run, seq, wire))

    def add_attempts(self, attempts: Iterable[AttemptRow]) -> None:
        self._schedule_flush()
        self._attempts += attempts

    async def flush(self) -> None:
        # Shielded: a stopped run must not cancel the batch of all runs.
        await asyncio.shield(self._start_flush())

    async def close(self) -> None:
        await self.flush()
        await asyncio.get_running_loop().run_in_executor(self._thread, connections.close_all)
        self._thread.shutdown(wait=False)

    def _schedule_flush(self, delay: float = FLUSH_SECONDS) -> None:
        if self._timer is None:
            self._oldest = self._oldest or monotonic()
            self._timer = asyncio.get_running_loop().call_later(delay, self._flush_scheduled)

    def _flush_scheduled(self) -> None:
        """A flush without a caller that waits."""
        self._start_flush().add_done_callback(self._report_failed)

    def _report_failed(self, flush: "asyncio.Task[None]") -> None:
        if not flush.cancelled() and (error := flush.exception()) is not None:
            report("flush_failed", error)

    def _start_flush(self) -> "asyncio.Task[None]":
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
            events, self._events = self._events, []
            attempts, self._attempts = self._attempts, []
            if not chunks and not events and not attempts:
                self._oldest = 0.0
                return
            try:
                work = partial(commit, chunks, events, attempts)
                await asyncio.get_running_loop().run_in_executor(self._thread, work)
            except BaseException:
                # A failed write keeps the rows, in order, for the next flush.
                self._chunks, self._events = chunks + self._chunks, events + self._events
                self._attempts = attempts + self._attempts
                self._schedule_flush(RETRY_SECONDS)
                raise
            self._oldest = began if self._chunks or self._events or self._attempts else 0.0
            CHUNKS.inc(len(chunks))
            EVENTS.inc(len(events))
        self._after_commit({run.session_id for run, _, _ in events})


def logs_of(events: Iterable[EventRow]) -> list[RunLog]:
    """One row for each run that has events among these."""
    runs: dict[int, tuple[Run, int, list[str]]] = {}
    for run, seq, wire in events:
        runs.setdefault(run.pk, (run, seq, []))[2].append(wire)
    return [RunLog.of(*row) for row in runs.values()]


def commit(
    chunks: Sequence[ChunkRow], events: Sequence[EventRow], attempts: Sequence[AttemptRow] = ()
) -> None:
    """One transaction for all rows; if one cannot be stored, one for each chunk and attempt and each run's
    events.

    Raises DatabaseError when the database is away, locked or full; then no row is lost.
    """
    close_unusable_connections()
    try:
        _insert(chunks, events, attempts)
    except Exception as error:
        if is_temporary(error):
            raise
        for chunk in chunks:
            _insert_or_drop([chunk], [], exchange=chunk[0])
        for one in attempts:
            _insert_or_drop([], [], [one], exchange=one.attempt.exchange_id)
        for run, of_run in groupby(sorted(events, key=_run_of), key=_run_of):
            _insert_or_drop([], list(of_run), run=run)


def _run_of(event: EventRow) -> int:
    return event[0].pk


def _insert(chunks: Sequence[ChunkRow], events: Sequence[EventRow], attempts: Sequence[AttemptRow]) -> None:
    logs = logs_of(events)
    with transaction.atomic():
        RawChunk.objects.append(chunks)
        RunLog.objects.append(logs)
        if attempts:
            ExchangeAttempt.objects.append(attempts)


def _insert_or_drop(
    chunks: Sequence[ChunkRow],
    events: Sequence[EventRow],
    attempts: Sequence[AttemptRow] = (),
    **row: int,
) -> None:
    """Drops rows that cannot be stored: they would keep those of all runs from it."""
    try:
        _insert(chunks, events, attempts)
    except IntegrityError:
        # The session was erased during the run.
        log.info("rows_without_a_parent", chunks=len(chunks), events=len(events), **row)
    except Exception as error:
        if is_temporary(error):
            raise
        report("rows_dropped", error, **row)
