"""Raw chunks reach the database in batches: one transaction for all runs of the process."""

import asyncio
from collections.abc import Sequence

from asgiref.sync import sync_to_async

from sessions_app.gemini.stream import RawChunk as Arrived
from sessions_app.models import RawChunk

FLUSH_SECONDS = 0.15
"""What a killed process can lose; a transaction per chunk would cost most of the stream's CPU."""


class Recorder:
    """Append only. `add` never waits; `flush` returns when all that was added before is committed."""

    def __init__(self) -> None:
        self._waiting: list[RawChunk] = []
        self._flushing = asyncio.Lock()
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, exchange_id: int, chunk: Arrived) -> None:
        self._waiting.append(RawChunk(exchange_id=exchange_id, seq=chunk.seq, ms=chunk.ms, body=chunk.body))
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(FLUSH_SECONDS, self._start_flush)

    async def flush(self) -> None:
        async with self._flushing:
            self._cancel_timer()
            batch, self._waiting = self._waiting, []
            if not batch:
                return
            try:
                await sync_to_async(_append)(batch)
            except BaseException:
                # The chunks are evidence: a failed or cancelled write leaves them for the next flush.
                self._waiting = batch + self._waiting
                raise

    def _start_flush(self) -> None:
        self._timer = None
        task = asyncio.get_running_loop().create_task(self.flush())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _append(batch: Sequence[RawChunk]) -> None:
    # A cancelled flush may have committed already; the same evidence twice is a no-op.
    RawChunk.objects.bulk_create(batch, ignore_conflicts=True)
