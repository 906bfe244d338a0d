"""Runs of this process: detached tasks that outlive the sockets which started them."""

import asyncio
import contextvars
from collections.abc import AsyncGenerator, Coroutine
from typing import Any
from uuid import UUID

import structlog
from asgiref.sync import sync_to_async
from django.utils import timezone

from sessions_app.errors import PipewebError, RunError
from sessions_app.events import Finished, Started
from sessions_app.models import Run
from sessions_app.prompt.reply import Outcome
from sessions_app.prompt.turns import text_of
from sessions_app.runs import recovery
from sessions_app.runs.engine import Engine
from sessions_app.runs.live import LiveRun, Pulse, RunEvent
from sessions_app.runs.recorder import Recorder
from sessions_app.runs.settle import close
from sessions_app.runs.start import start_retry, start_send

BEAT_SECONDS = 4
UNKNOWN = RunError("Something went wrong on our side.", hint="The details are in the server log. Retry is safe.")

log = structlog.get_logger("pipeweb.runs")


class Stage:
    """What the viewers of one session look at: the newest run of this process."""

    def __init__(self) -> None:
        self.live: LiveRun | None = None
        self.pulse = Pulse()
        self.viewers = 0


class Runner:
    """Starts, stops and follows runs; one per process, used from its event loop only."""

    def __init__(self, engine: Engine, recorder: Recorder) -> None:
        self._engine = engine
        self._recorder = recorder
        self._stages: dict[int, Stage] = {}
        # The loop holds tasks weakly: without these a running answer could be collected.
        self._outer: dict[UUID, asyncio.Task[None]] = {}
        self._inner: dict[UUID, asyncio.Task[Outcome]] = {}
        self._beating: asyncio.Task[None] | None = None

    async def send(self, session_pk: int, client_id: UUID, text: str) -> UUID:
        """Starts a run for a user task, or answers the one this client id made. Raises SessionBusy."""
        run, is_new = await sync_to_async(start_send)(session_pk, client_id, text)
        return await self._take(run, text, is_new=is_new)

    async def retry(self, session_pk: int, client_id: UUID, earlier: UUID) -> UUID:
        """Answers an earlier trigger once more. Raises SessionBusy, RunError."""
        run, is_new = await sync_to_async(start_retry)(session_pk, client_id, earlier)
        text = await sync_to_async(lambda: text_of(run.trigger.wire) if run.trigger else "")()
        return await self._take(run, text, is_new=is_new, retry_of=earlier)

    def stop(self, session_pk: int, public: UUID) -> None:
        """Ends a run of this session now; no effect when it is over or not of this session."""
        stage = self._stages.get(session_pk)
        if stage is None or stage.live is None or stage.live.public != public or stage.live.is_over:
            return
        stage.live.stopping = True
        inner = self._inner.get(public)
        if inner is not None:
            inner.cancel()

    def knows(self, session_pk: int, public: UUID) -> bool:
        """Whether this process has the events of the run."""
        stage = self._stages.get(session_pk)
        return stage is not None and stage.live is not None and stage.live.public == public

    def tail(self, session_pk: int) -> tuple[UUID | None, int]:
        """Where a viewer stands who wants only what comes from now on: `run` and `after` of follow."""
        stage = self._stages.get(session_pk)
        if stage is None or stage.live is None:
            return None, -1
        return stage.live.public, stage.live.events[-1].seq

    async def follow(self, session_pk: int, run: UUID | None, after: int) -> AsyncGenerator[RunEvent, None]:
        """Events of the session's runs for one viewer, for as long as it listens.

        `run` and `after` say what the page has already: events of that run up to `after`.
        """
        stage = self._stages.setdefault(session_pk, Stage())
        stage.viewers += 1
        try:
            while True:
                live = stage.live
                if live is not None and live.public != run:
                    run, after = live.public, -1
                fresh = live.events[after + 1 :] if live is not None else []
                for event in fresh:
                    yield event
                    after = event.seq
                if not fresh:
                    await stage.pulse.wait()
        finally:
            stage.viewers -= 1
            self._forget_idle(session_pk)

    async def shutdown(self) -> None:
        """Stops every run in order: what arrived is kept, the rows say how it ended."""
        if self._beating is not None:
            self._beating.cancel()
        for inner in self._inner.values():
            inner.cancel()
        await asyncio.gather(*self._outer.values(), return_exceptions=True)
        await self._engine.drain()
        await self._recorder.flush()

    def wake(self) -> None:
        """Starts the heartbeat of this process, once a loop is running."""
        if self._beating is None or self._beating.done():
            self._beating = _detached(self._beat())

    async def drain(self) -> None:
        """Waits until every run and what follows it is done."""
        while self._outer:
            await asyncio.gather(*self._outer.values(), return_exceptions=True)
        await self._engine.drain()

    async def _take(self, run: Run, text: str, *, is_new: bool, retry_of: UUID | None = None) -> UUID:
        if is_new:
            self.wake()
            stage = self._stages.setdefault(run.session_id, Stage())
            started = Started(run=run.public, client_id=run.client_id, text=text, retry_of=retry_of)
            stage.live = LiveRun(run, started, stage.pulse)
            stage.pulse.beat()
            inner = self._inner[run.public] = _detached(self._engine.drive(stage.live))
            self._outer[run.public] = _detached(self._conduct(stage.live, inner))
        return run.public

    async def _conduct(self, live: LiveRun, inner: "asyncio.Task[Outcome]") -> None:
        """Lets the engine drive, and writes the end whatever happens: this task is never cancelled."""
        try:
            await self._end(live, await inner)
        except asyncio.CancelledError:
            stopped = Run.Status.STOPPED if live.stopping else Run.Status.INTERRUPTED
            await self._close(live, stopped, None if live.stopping else recovery.GONE)
        except PipewebError as error:
            log.warning("run_failed", run=str(live.public), kind=type(error).__name__)
            await self._close(live, Run.Status.FAILED, error)
        except Exception:
            log.exception("run_broke", run=str(live.public))
            await self._close(live, Run.Status.FAILED, UNKNOWN)
        finally:
            self._inner.pop(live.public, None)
            self._outer.pop(live.public, None)
            self._forget_idle(live.run.session_id)

    async def _end(self, live: LiveRun, outcome: Outcome) -> None:
        error = None if outcome.is_answer else RunError(outcome.words, hint=outcome.hint)
        status = Run.Status.FAILED if error else Run.Status.COMPLETED
        await self._close(live, status, error, outcome)

    async def _close(
        self, live: LiveRun, status: Run.Status, error: PipewebError | None, outcome: Outcome | None = None
    ) -> None:
        await self._recorder.flush()
        await sync_to_async(close)(live.run.pk, status, error=error, outcome=outcome.value if outcome else "")
        live.emit(Finished, status=status.value)

    def _forget_idle(self, session_pk: int) -> None:
        stage = self._stages.get(session_pk)
        if stage is not None and not stage.viewers and (stage.live is None or stage.live.is_over):
            del self._stages[session_pk]

    async def _beat(self) -> None:
        while True:
            await sync_to_async(self._touch)()
            await asyncio.sleep(BEAT_SECONDS)

    def _touch(self) -> None:
        Run.objects.filter(public__in=list(self._outer)).update(heartbeat_at=timezone.now())
        recovery.reap()


def _detached(work: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
    """A task with a context of its own: one made in a socket's context would share its database thread."""
    return asyncio.get_running_loop().create_task(work, context=contextvars.Context())
