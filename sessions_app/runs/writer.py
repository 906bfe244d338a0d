"""The one group-commit writer of the process: raw chunks and event logs of all runs, in batches.

It has a thread and a database connection of its own, so that a flush never waits behind a page and
no page waits behind a flush.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import groupby
from time import monotonic

import structlog
from django.db import IntegrityError, connections, transaction
from django.db.models import Model

from sessions_app.gemini.stream import RawChunk as Arrived
from sessions_app.models import RawChunk, RunLog
from sessions_app.runs.live import LiveRun

FLUSH_SECONDS = 0.15
"""What a killed process can lose; a transaction per chunk would cost most of the stream's CPU."""

log = structlog.get_logger("pipeweb.writer")


class Writer:
    """Append only. Adding never waits; `flush` returns when all that was added before is committed."""

    def __init__(self, after_commit: Callable[[set[int]], None] = lambda session_pks: None) -> None:
        self._chunks: list[RawChunk] = []
        self._noted: set[LiveRun] = set()
        self._after_commit = after_commit
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pipeweb-writer")
        self._order = asyncio.Lock()
        self._timer: asyncio.TimerHandle | None = None
        self._flushes: set[asyncio.Task[None]] = set()
        self._oldest = 0.0

    @property
    def lag(self) -> float:
        """Seconds that the oldest unwritten event has waited."""
        return monotonic() - self._oldest if self._chunks or self._noted else 0.0

    def add_chunk(self, exchange_pk: int, chunk: Arrived) -> None:
        self._expect()
        self._chunks.append(RawChunk(exchange_id=exchange_pk, seq=chunk.seq, ms=chunk.ms, body=chunk.body))

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

    def _expect(self) -> None:
        if self._timer is None:
            self._oldest = monotonic()
            self._timer = asyncio.get_running_loop().call_later(FLUSH_SECONDS, self._start)

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
            chunks, self._chunks = self._chunks, []
            lives, self._noted = self._noted, set()
            logs = {live: row for live in lives if (row := live.unlogged()) is not None}
            if not chunks and not logs:
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
        self._after_commit({live.run.session_id for live in logs})


def commit(chunks: Sequence[RawChunk], logs: Sequence[RunLog]) -> None:
    """One transaction for all; where a row's parent is gone, one per parent, and that one is let go."""
    try:
        _insert(chunks, logs)
    except IntegrityError:
        for rows in (*_by(chunks, "exchange_id"), *_by(logs, "run_id")):
            _insert_or_drop(rows)


def _insert(chunks: Sequence[RawChunk], logs: Sequence[RunLog]) -> None:
    with transaction.atomic():
        RawChunk.objects.bulk_create(chunks, ignore_conflicts=True)
        RunLog.objects.bulk_create(logs, ignore_conflicts=True)


def _by(rows: Iterable[Model], parent: str) -> list[list[Model]]:
    ordered = sorted(rows, key=lambda row: getattr(row, parent))
    return [list(group) for _, group in groupby(ordered, key=lambda row: getattr(row, parent))]


def _insert_or_drop(rows: list[Model]) -> None:
    try:
        with transaction.atomic():
            type(rows[0])._default_manager.bulk_create(rows, ignore_conflicts=True)
    except IntegrityError:
        # The session was erased while it was answering: there is nobody left to keep this for.
        log.info("rows_without_a_parent", kind=type(rows[0]).__name__, count=len(rows))
