"""Runs of this process: detached tasks that outlive the sockets which started them."""

import asyncio
from collections.abc import AsyncGenerator, Collection
from contextlib import aclosing
from uuid import UUID

import structlog
from asgiref.sync import sync_to_async

from sessions_app.errors import PipewebError, RunError
from sessions_app.events import Finished, Started
from sessions_app.gemini.gateway import Gateway
from sessions_app.instruments import ACTIVE_RUNS, RUNS_ENDED, count_error
from sessions_app.models import Notification, QueuedMessage, Run
from sessions_app.prompt.reply import Outcome
from sessions_app.runs import recovery
from sessions_app.runs.bell import Bell
from sessions_app.runs.detached import detached
from sessions_app.runs.engine import Engine
from sessions_app.runs.live import Feed, LiveRun
from sessions_app.runs.onward import follow
from sessions_app.runs.presence import Presence
from sessions_app.runs.settle import close, complete
from sessions_app.runs.stage import Mirror, Sent, Stage, from_now, newest_run_of, rejoin
from sessions_app.runs.start import start_edit, start_next, start_retry, start_send
from sessions_app.runs.titling import improve_title
from sessions_app.runs.writer import Writer

UNKNOWN = RunError(
    "Something went wrong on our side.", hint="The details are in the server log. Retry is safe."
)

log = structlog.get_logger("pipeweb.runs")


class Runner:
    """Starts, stops and follows runs; one per process, used from its event loop only."""

    def __init__(self, engine: Engine, writer: Writer, bell: Bell, presence: Presence) -> None:
        self.stages: dict[int, Stage] = {}
        self.lives: dict[int, LiveRun] = {}
        self.bell = bell
        self.presence = presence
        self._engine = engine
        self._writer = writer
        # The loop holds tasks weakly: without these a running answer could be collected.
        self._outer: dict[int, asyncio.Task[None]] = {}
        self._inner: dict[int, asyncio.Task[Outcome]] = {}
        self._is_down = False

    @property
    def gateway(self) -> Gateway:
        """For what is asked beside the conversation."""
        return self._engine.gateway

    @property
    def lag(self) -> float:
        """Seconds that the oldest event has waited for its commit."""
        return self._writer.lag

    async def send(
        self,
        session_pk: int,
        client_id: UUID,
        text: str,
        language: str = "",
        *,
        files: Collection[UUID] = (),
    ) -> None:
        """Starts a run for a user task, or queues it while another is going on. Raises RunError."""
        key = self.presence.key
        run = await sync_to_async(start_send)(session_pk, client_id, text, key, language, files=files)
        if run is not None:
            self._launch(run)
        if run is None or self.stages[session_pk].queue:
            await self._announce_queue(session_pk)

    async def edit(self, session_pk: int, client_id: UUID, turn: UUID, text: str) -> None:
        """Asks with other words in the place of an earlier message. Raises SessionBusy, RunError."""
        run = await sync_to_async(start_edit)(session_pk, client_id, turn, text, self.presence.key)
        if run is not None:
            self._launch(run, replaces=turn)

    async def retry(self, session_pk: int, client_id: UUID, earlier: UUID, turn: UUID | None = None) -> None:
        """Answers an earlier trigger once more. Raises SessionBusy, RunError."""
        run = await sync_to_async(start_retry)(session_pk, client_id, earlier, self.presence.key, turn)
        if run is not None:
            self._launch(run, retry_of=earlier)

    async def withdraw(self, session_pk: int, client_id: UUID) -> None:
        """Takes a waiting message back; no effect when it is being answered already."""
        await QueuedMessage.objects.filter(session_id=session_pk, client_id=client_id).adelete()
        await Notification.objects.filter(session_id=session_pk, source=str(client_id)).adelete()
        await self._announce_queue(session_pk)

    async def stop(self, session_pk: int, public: UUID) -> None:
        """Ends a run of this session now, in whichever process it is; no effect when it is over."""
        for live in self.lives.values():
            if live.public == public and live.run.session_id == session_pk:
                self.cancel(live)
                return
        runs = Run.objects.active().filter(session_id=session_pk, public=public)
        if await runs.aupdate(stop_requested=True):
            self.bell.ring([session_pk])

    def cancel(self, live: LiveRun) -> None:
        live.stopping = True
        inner = self._inner.get(live.run.pk)
        if inner is not None:
            inner.cancel()

    async def follow(
        self, session_pk: int, public: UUID | None, after: int, moves: int = 0
    ) -> AsyncGenerator[Sent, None]:
        """Events of the session's runs for one viewer, for as long as it listens.

        `public` and `after` say what the page has already: events of that run up to `after`. Without
        a run it gets what begins from now on. `moves` is what it was told of the branch (`events.Hello`).
        """
        stage = self.stages.setdefault(session_pk, Stage())
        stage.viewers += 1
        try:
            await self._fill(session_pk, stage)
            feed = await self._feed_of(session_pk, stage, public) if public else stage.feed
            start = rejoin(feed, after) if public else from_now(feed)
            async with aclosing(stage.watch(feed, start, moves)) as events:
                async for sent in events:
                    yield sent
        finally:
            stage.viewers -= 1
            self.forget_idle()

    async def drain(self) -> None:
        """Waits until every run and what follows it is done."""
        while self._outer:
            await asyncio.gather(*self._outer.values(), return_exceptions=True)
        await self._engine.drain()

    async def shutdown(self) -> None:
        """Stops every run in order: what arrived is kept, the rows say how it ended. Twice is once."""
        if self._is_down:
            return
        self._is_down = True
        for inner in self._inner.values():
            inner.cancel()
        await asyncio.gather(*self._outer.values(), return_exceptions=True)
        await self._engine.drain()
        await self._writer.close()
        self.presence.leave()

    async def continue_with(self, session_pk: int) -> None:
        """Answers the next waiting message, if any."""
        if self._is_down:
            return
        run = await sync_to_async(start_next)(session_pk, self.presence.key)
        if run is not None:
            self._launch(run)
        await self._announce_queue(session_pk)

    def forget_idle(self) -> None:
        for session_pk in [pk for pk, stage in self.stages.items() if stage.is_idle]:
            del self.stages[session_pk]

    async def _fill(self, session_pk: int, stage: Stage) -> None:
        """For a viewer that comes in: what a stage without viewers has not kept."""
        if stage.viewers == 1:
            newest = await sync_to_async(newest_run_of)(session_pk)
            stage.newest_run = max(stage.newest_run, newest)
        stage.line_up([message async for message in QueuedMessage.objects.filter(session_id=session_pk)])

    async def _feed_of(self, session_pk: int, stage: Stage, public: UUID) -> Feed | None:
        """The run's feed: alive here, being mirrored, or read from its log now."""
        if stage.feed is not None and stage.feed.public == public:
            return stage.feed
        run = await Run.objects.filter(session_id=session_pk, public=public).afirst()
        if run is None:
            return stage.feed
        if run.is_active and run.process == self.presence.key:
            # In the rows, and not on the stage yet: it comes there from its first event.
            return None
        mirror = Mirror(run, stage.pulse)
        mirror.take(await sync_to_async(mirror.read)(), is_over=not run.is_active)
        if run.is_active:
            stage.present(mirror)
        return mirror

    def _launch(self, run: Run, **place: UUID) -> None:
        stage = self.stages.setdefault(run.session_id, Stage())
        started = Started(
            run=run.public,
            client_id=run.client_id,
            text=run.trigger.text if run.trigger else "",
            title=run.session.shown_title,
            continuation=run.continuations,
            files=run.files_html,
            **place,
        )
        live = self.lives[run.pk] = LiveRun(run, started, stage.pulse, self._writer.note)
        stage.present(live)
        names = {"run": str(run.public), "session": str(run.session)}
        inner = self._inner[run.pk] = detached(self._engine.drive(live), **names)
        self._outer[run.pk] = detached(self._conduct(live, inner), **names)

    async def _conduct(self, live: LiveRun, inner: "asyncio.Task[Outcome]") -> None:
        """Waits for the engine and writes the end whatever happens: this task is never cancelled."""
        ACTIVE_RUNS.inc()
        try:
            await self._end(live, await inner)
        except asyncio.CancelledError:
            stopped = Run.Status.STOPPED if live.stopping else Run.Status.INTERRUPTED
            await self._close(live, stopped, None if live.stopping else recovery.GONE)
        except PipewebError as error:
            count_error(error)
            log.warning("run_failed", kind=type(error).__name__)
            await self._close(live, Run.Status.FAILED, error)
        except Exception as error:
            count_error(error)
            log.exception("run_broke")
            await self._close(live, Run.Status.FAILED, UNKNOWN)
        finally:
            ACTIVE_RUNS.dec()
            for tasks in (self._inner, self._outer, self.lives):
                tasks.pop(live.run.pk, None)
            self.forget_idle()

    async def _end(self, live: LiveRun, outcome: Outcome) -> None:
        if not outcome.is_answer:
            await self._close(
                live, Run.Status.FAILED, RunError(outcome.words, hint=outcome.hint), outcome.value
            )
            return
        await self._writer.flush()
        finished = await sync_to_async(complete)(live.run, outcome, live.last + 1, live.words)
        self._announce_end(live, finished)
        self._inner.pop(live.run.pk, None)
        if not self._is_down:
            await self._go_on(live.run, outcome)
            await self._entitle(live.run)

    async def _entitle(self, run: Run) -> None:
        title = await improve_title(self.gateway, run)
        if title and (stage := self.stages.get(run.session_id)) is not None:
            stage.entitle(title)

    async def _close(
        self, live: LiveRun, status: Run.Status, error: PipewebError | None, outcome: str = ""
    ) -> None:
        await self._writer.flush()
        finished = await sync_to_async(close)(live.run.pk, status, error=error, outcome=outcome)
        self._announce_end(live, finished)
        if finished is not None:
            await sync_to_async(follow)(live.run, status, outcome, self.presence.key)

    async def _go_on(self, ended: Run, outcome: Outcome) -> None:
        """Begins what follows an answer: the next waiting message, or the session goes on by itself."""
        completed = Run.Status.COMPLETED
        run = await sync_to_async(follow)(ended, completed, outcome.value, self.presence.key)
        if run is not None:
            self._launch(run)
        await self._announce_queue(ended.session_id)

    def _announce_end(self, live: LiveRun, finished: Finished | None) -> None:
        if finished is not None:
            RUNS_ENDED.labels(status=finished.status).inc()
            live.finish(finished)
        self.bell.ring([live.run.session_id])

    async def _announce_queue(self, session_pk: int) -> None:
        stage = self.stages.get(session_pk)
        if stage is not None:
            stage.line_up([message async for message in QueuedMessage.objects.filter(session_id=session_pk)])
        self.bell.ring([session_pk])
