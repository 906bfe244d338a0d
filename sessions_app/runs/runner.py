"""Starts, stops and follows the runs of this process, as tasks independent of sockets."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from functools import partial
from uuid import UUID

import structlog

from sessions_app.database import database_sync_to_async
from sessions_app.errors import NoAnswer, PipewebError, RunWaits
from sessions_app.events import CARRY_ON, Finished, Started
from sessions_app.gemini.gateway import Gateway
from sessions_app.metrics import ACTIVE_RUNS, count_end
from sessions_app.models import Run
from sessions_app.models.columns import storable
from sessions_app.panels.mcp_tools import close_connections
from sessions_app.runs import processes
from sessions_app.runs.background import detached, isolated, report
from sessions_app.runs.continuation import Following, continue_session, start_following
from sessions_app.runs.engine import Engine
from sessions_app.runs.engines import Engines
from sessions_app.runs.first_request import Created, create_run
from sessions_app.runs.hop import Hop
from sessions_app.runs.launches import Launches
from sessions_app.runs.parking import Parked
from sessions_app.runs.processes import Notifier, ProcessLock
from sessions_app.runs.run_end import End, end_run, failure_of, store_end
from sessions_app.runs.run_streams import LiveRun
from sessions_app.runs.session_streams import SessionStreams
from sessions_app.runs.start import start_edit, start_next, start_resume, start_retry, start_send
from sessions_app.runs.titles import Titles
from sessions_app.runs.triggers import withdraw
from sessions_app.runs.waiting import WaitingRuns
from sessions_app.runs.writer import Writer

BACKGROUND_SECONDS = 10.0
"""A shutdown waits so long for work on caches, then cancels it: the janitor adopts what was made."""

log = structlog.get_logger("pipeweb.runs")


class Runner:
    """One per process, used from its event loop only."""

    def __init__(
        self, engines: Engines, writer: Writer, notifier: Notifier, process_lock: ProcessLock
    ) -> None:
        self.streams = SessionStreams(process_lock.key)
        self.follow = self.streams.follow
        self.live_runs: dict[int, LiveRun] = {}
        self.notifier = notifier
        self.process_lock = process_lock
        self._engines = engines
        self._writer = writer
        # The loop holds only weak references to tasks.
        self._supervisors: dict[int, asyncio.Task[None]] = {}
        self._engine_runs: dict[int, asyncio.Task[Hop]] = {}
        self._titles = Titles(self.streams.get)
        self.waiting = WaitingRuns(self)
        self.launches = Launches()

    @property
    def gateway(self) -> Gateway:
        """For side requests; that of the next run."""
        return self._engines.current().gateway

    @property
    def lag(self) -> float:
        """Seconds that the oldest event has waited for its commit."""
        return self._writer.lag

    async def send(
        self, session_pk: int, client_id: UUID, text: str, language: str = "", *, files: Collection[UUID] = ()
    ) -> bool:
        """Starts a run for a message, or queues it while one is active. Raises RunError.

        Returns whether a run begins; that of a known `client_id` has begun before.
        """
        key = self.process_lock.key
        start = partial(start_send, session_pk, client_id, text, key, language, files=files)
        begins = await self._launch(start)
        if not begins or self.streams[session_pk].queue:
            await self._publish_queue(session_pk)
        return begins

    async def edit(self, session_pk: int, client_id: UUID, turn: UUID, text: str) -> bool:
        """Starts a run for a new version of an earlier message. Raises SessionBusy, RunError."""
        start = partial(start_edit, session_pk, client_id, turn, text, self.process_lock.key)
        return await self._launch(start, replaces=turn)

    async def retry(
        self, session_pk: int, client_id: UUID, earlier: UUID, turn: UUID | None = None, model: str = ""
    ) -> bool:
        """Starts a run for the message of an earlier one, with another `model` if one is named.

        Raises SessionBusy, RunError.
        """
        start = partial(start_retry, session_pk, client_id, earlier, self.process_lock.key, turn, model=model)
        return await self._launch(start, retry_of=earlier)

    async def resume(
        self, session_pk: int, client_id: UUID, earlier: UUID, turn: UUID, *, repeats: bool = False
    ) -> bool:
        """Starts a run that goes on from the tool responses `turn` of an earlier one.

        With `repeats`, calls of which it is unknown whether they ran are run again. Raises SessionBusy,
        RunError.
        """
        key = self.process_lock.key
        start = partial(start_resume, session_pk, client_id, turn, key, repeats_unknown=repeats)
        return await self._launch(start, resumes=earlier)

    async def withdraw(self, session_pk: int, client_id: UUID) -> None:
        """Removes a queued message; no effect when its run has started."""
        await database_sync_to_async(withdraw)(session_pk, client_id)
        await self._publish_queue(session_pk)

    async def stop(self, session_pk: int, public: UUID) -> None:
        """Stops a run of this session in any process; no effect when it has ended."""
        for live in self.live_runs.values():
            if live.public == public and live.run.session_id == session_pk:
                self.cancel(live)
                return
        if await self.waiting.stop(session_pk, public):
            return
        runs = Run.objects.active().filter(session_id=session_pk, public=public)
        if await database_sync_to_async(runs.update)(stop_requested=True):
            self.notifier.notify([session_pk])

    def cancel(self, live: LiveRun) -> None:
        live.stopping = True
        engine_run = self._engine_runs.get(live.run.pk)
        if engine_run is not None:
            engine_run.cancel()

    async def drain(self) -> None:
        """Waits until all runs and their continuations have ended."""
        while tasks := [*self._supervisors.values(), *self._titles.tasks]:
            await asyncio.gather(*tasks, return_exceptions=True)
        await self._engines.drain()

    async def shutdown(self) -> None:
        """Interrupts all runs and stores what arrived. Idempotent."""
        if self.launches.are_closed:
            return
        await self.launches.close()
        for engine_run in self._engine_runs.values():
            engine_run.cancel()
        await asyncio.gather(*self._supervisors.values(), return_exceptions=True)
        await self._titles.cancel()
        with suppress(TimeoutError):
            async with asyncio.timeout(BACKGROUND_SECONDS):
                await self._engines.drain()
        await close_connections()
        await self._writer.close()
        await database_sync_to_async(processes.leave)(self.process_lock)

    async def close_gateways(self) -> None:
        """After `shutdown`: the connections to the provider, of earlier keys too."""
        await self._engines.close()

    async def continue_with(self, session_pk: int) -> None:
        """Starts a run for the next queued message, if any."""
        if self.launches.are_closed:
            return
        await self._launch(partial(start_next, session_pk, self.process_lock.key))
        await self._publish_queue(session_pk)

    async def _launch(self, start: Callable[[], Run | None], **position: UUID) -> bool:
        """Begins the run that `start` stores, if any; `position` is a field of `events.Started`."""
        engine, create = self._engines.current(), database_sync_to_async(create_run)
        with self.launches.one():
            created = await create(start, engine.render_files, engine.prepare_first)
            if created is not None:
                self._begin(engine, created, position)
        return created is not None

    def _begin(self, engine: Engine, created: Created, position: dict[str, UUID]) -> None:
        run = created.run
        stream = self.streams.open(run.session_id)
        started = Started(
            run=run.public,
            client_id=run.client_id,
            text=run.task.text if run.task else "",
            title=run.session.shown_title,
            continuation=run.continuations,
            goes_on=bool(run.continuations) or (run.task is not None and run.task.whole_text == CARRY_ON),
            files=created.files,
            **position,
        )
        live = LiveRun(run, started, stream.broadcast, self._writer.add_event)
        live.begun = created
        stream.add_run(live)
        self._run(live, engine)

    def go_on(self, run: Run, wires: Sequence[str]) -> None:
        """Goes on with a run that waited, whose events so far are `wires`."""
        stream = self.streams.open(run.session_id)
        live = LiveRun(run, None, stream.broadcast, self._writer.add_event, wires=wires)
        live.parked = Parked.model_validate(run.parked)
        live.first = live.parked.first_request
        stream.continue_run(live)
        live.show_status("Going on…")
        self._run(live, self._engines.current())

    def _run(self, live: LiveRun, engine: Engine) -> None:
        key, names = live.run.pk, {"run": str(live.public), "session": str(live.run.session)}
        self.live_runs[key] = live
        engine_run = self._engine_runs[key] = detached(engine.run_to_end(live), **names)
        self._supervisors[key] = detached(self._supervise(live, engine_run, engine), **names)

    async def _supervise(self, live: LiveRun, engine_run: "asyncio.Task[Hop]", engine: Engine) -> None:
        """Waits for the engine and stores the end of the run; this task is never cancelled."""
        ACTIVE_RUNS.inc()
        try:
            await self._complete(live, await engine_run, engine)
        except RunWaits as waits:
            await self.waiting.park(live, waits)
        except asyncio.CancelledError:
            stopped = Run.Status.STOPPED if live.stopping else Run.Status.INTERRUPTED
            await self._close(live, stopped, None if live.stopping else processes.PROCESS_DIED)
        except PipewebError as error:
            log.warning("run_failed", kind=type(error).__name__)
            await self._close(live, Run.Status.FAILED, error)
        except Exception as error:  # noqa: BLE001 (reported)
            report("run_broke", error, run=str(live.public))
            await self._close(live, Run.Status.FAILED, failure_of(error))
        finally:
            ACTIVE_RUNS.dec()
            for tasks in (self._engine_runs, self._supervisors, self.live_runs):
                tasks.pop(live.run.pk, None)
            self.streams.drop_idle([live.run.session_id])

    async def _complete(self, live: LiveRun, last: Hop, engine: Engine) -> None:
        run, reply, outcome = live.run, last.reply, last.reply.outcome
        if not outcome.is_answer:
            named = {"finish_reason": storable(reply.finish_reason, 40)} if reply.finish_reason else {}
            await self._close(live, Run.Status.FAILED, NoAnswer(outcome.value, **named), outcome.value)
            return
        finished, following = await self.store_end(live, partial(engine.complete, live, last))
        count_end(finished.status)
        self.publish_end(live, finished)
        self._engine_runs.pop(run.pk, None)
        if self.launches.are_closed:
            return
        with isolated("continue_failed", run=str(live.public)):
            await self._continue(run, following)
        self._titles.improve(run, engine.gateway)

    async def _close(
        self, live: LiveRun, status: Run.Status, error: PipewebError | None, outcome: str = ""
    ) -> None:
        finished: Finished | None = Finished(run=live.public, seq=live.last + 1, status=status.value)
        # Where even this fails the run's lease expires, and the heartbeat of a process ends it.
        with isolated("end_failed", run=str(live.public)):
            end = partial(database_sync_to_async(end_run), live.run.pk, status, error=error, outcome=outcome)
            finished = await self.store_end(live, end)
        self.publish_end(live, finished)
        if finished is not None:
            with isolated("continue_failed", run=str(live.public)):
                go_on = database_sync_to_async(continue_session)
                await go_on(live.run, status, outcome, self.process_lock.key)

    async def store_end(self, live: LiveRun, end: Callable[[], Awaitable[End]]) -> End:
        return await store_end(live, self._writer, end, gives_up=lambda: self.launches.are_closed)

    async def _continue(self, ended: Run, following: Following | None) -> None:
        """Starts the run that follows an answer, if any."""
        if following is not None:
            await self._launch(partial(start_following, ended, following, self.process_lock.key))
        stream = self.streams.get(ended.session_id)
        if following is not None or (stream is not None and stream.queue):
            await self._publish_queue(ended.session_id)

    def publish_end(self, live: LiveRun, finished: Finished | None) -> None:
        """`finished` is None when the run has ended already, here or by another process as interrupted."""
        if finished is not None:
            live.finish(finished)
        elif not live.is_over:
            live.finish(Finished(run=live.public, seq=live.last + 1, status=Run.Status.INTERRUPTED.value))
        self.notifier.notify([live.run.session_id])

    async def _publish_queue(self, session_pk: int) -> None:
        await self.streams.read_queue(session_pk)
        self.notifier.notify([session_pk])
