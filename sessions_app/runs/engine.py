"""The loop of one run: prepare, send, stream, run tools, until there is an answer."""

import asyncio
from collections.abc import Awaitable
from functools import partial
from time import perf_counter

import structlog

from sessions_app.database import database_sync_to_async
from sessions_app.errors import FilesNotUploaded, GatewayError, SignatureMissing
from sessions_app.events import Status
from sessions_app.fairness import Places, Rate
from sessions_app.gemini.gateway import Gateway
from sessions_app.gemini.http_evidence import HttpEvidence
from sessions_app.metrics import FIRST_CHUNK
from sessions_app.models import Run
from sessions_app.panels.refresh import refresh_programs
from sessions_app.prompt.parts import holds_media
from sessions_app.prompt.reply import Outcome
from sessions_app.runs.asks import tools_of_run
from sessions_app.runs.attachment_parts import upload_files
from sessions_app.runs.background import isolated
from sessions_app.runs.budgets import until_free
from sessions_app.runs.cache_lifecycle import hold_cache, keep_cache
from sessions_app.runs.cache_rollover import maintain_caches
from sessions_app.runs.completion import Completion, LastEvent, complete_run
from sessions_app.runs.evidence import attempt_rows
from sessions_app.runs.first_request import FirstOutcome, first_request
from sessions_app.runs.hop import Hop, ends_run
from sessions_app.runs.limits import check_hop, check_limits, time_limit
from sessions_app.runs.recorder import record_failure, record_reply
from sessions_app.runs.refused_signatures import remember_refusal
from sessions_app.runs.reply_progress import ReplyProgress
from sessions_app.runs.request import Endpoint, PreparedRequest, prepare, prepare_hop
from sessions_app.runs.retry_policy import RetryPolicy
from sessions_app.runs.run_streams import LiveRun, RenderFiles
from sessions_app.runs.tool_rounds import run_calls
from sessions_app.runs.writer import Writer
from sessions_app.tools import Toolbox
from sessions_app.wording import budgets, outcomes, resends

CHUNK_BURST, CHUNKS_PER_SECOND = 1_000, 1_000.0
"""What is taken of one stream, whatever the provider sends; models write some ten chunks a second."""

ROUND_BURST, ROUNDS_PER_SECOND = 3, 2.0
"""Rounds of tools in one answer; a model takes longer for each than this pace does."""

log = structlog.get_logger("pipeweb.runs")


class Engine:
    """Stateless: the state of a run is in its rows and its LiveRun."""

    def __init__(
        self,
        gateway: Gateway,
        toolbox: Toolbox,
        writer: Writer,
        retry_policy: RetryPolicy,
        render_files: RenderFiles,
    ) -> None:
        self.gateway = gateway
        self.render_files = render_files
        self._toolbox = toolbox
        self._writer = writer
        self._retry_policy = retry_policy
        self._endpoint = Endpoint.of(gateway)
        self._background: set[asyncio.Task[None]] = set()
        # For what takes the database thread long: of each person one at a time.
        self._places = Places()

    def prepare_first(self, run: Run) -> FirstOutcome | None:
        """What `run_to_end` begins with: database work, for where the run is stored."""
        return first_request(run, self._endpoint, self._toolbox)

    async def run_to_end(self, live: LiveRun) -> Hop:
        """Returns the final answer, which `complete` stores with the end of the run.

        A resumed run first runs the calls that the earlier one left, as those of step 0. Raises GatewayError,
        PromptError or LimitReached; RunWaits where a person has to be asked. Cancelling closes the upstream
        connection at once.
        """
        try:
            return await self._run_steps(live)
        finally:
            if live.holding is not None:
                live.holding.cancel()

    async def complete(self, live: LiveRun, last: Hop) -> Completion:
        """Stores the end of a run that has its answer. Raises RunEnded; another error may be tried again."""
        outcome, event = last.reply.outcome, LastEvent(live.last + 1, live.words)
        async with self._place(live):
            if last.is_stored:
                exchange = last.prepared.exchange
                return await database_sync_to_async(complete_run)(live.run, outcome, event, exchange)
            recorded = await database_sync_to_async(record_reply)(
                last.prepared, last.reply, last.total_ms, last.progress, event
            )
        self._start_background(maintain_caches(self.gateway, last.prepared))
        assert recorded.completion is not None
        return recorded.completion

    async def _run_steps(self, live: LiveRun) -> Hop:
        step, pace = 1, Rate(ROUND_BURST, ROUNDS_PER_SECOND)
        toolbox = live.toolbox = await tools_of_run(live, self._toolbox)
        if live.parked is not None or live.run.is_resumed:
            left = live.parked.step if live.parked else 0
            async with time_limit(live.run):
                await run_calls(live, left, toolbox)
            step = left + 1
        while True:
            async with time_limit(live.run):
                hop = await self._answer(live, step)
                if hop.reply.outcome is not Outcome.CALLS:
                    return hop
                await database_sync_to_async(check_limits)(live.run, step)
                await run_calls(live, step, toolbox)
                await asyncio.sleep(pace.take())
            step += 1

    async def drain(self) -> None:
        """Waits for the background work (caches)."""
        while self._background:
            await asyncio.gather(*self._background, return_exceptions=True)

    async def _answer(self, live: LiveRun, step: int) -> Hop:
        """One answer, over as many hops as the provider takes for it."""
        await refresh_programs(live.run, self._start_background)
        hop, hops = await self._exchange(live, step), 1
        while hop.reply.outcome is Outcome.CONTINUES:
            await database_sync_to_async(check_hop)(live.run, hops)
            hop.progress.answer.begin_hop()
            live.show_status("The answer goes on…")
            hop, hops = await self._exchange(live, step, hop), hops + 1
        return hop

    async def _exchange(self, live: LiveRun, step: int, before: Hop | None = None) -> Hop:
        """One hop, with retries; each request is an exchange. `before` is the hop that it goes on with."""
        failures, waited_ms = 0, 0.0
        prepared = await self._prepare(live, step, before=before)
        while True:
            progress = ReplyProgress(self.gateway.dialect, before.progress if before else None)
            try:
                hop = await self._send(live, step, prepared, progress, waited_ms)
                waited_ms = 0.0
                if before is not None or not await self._lacks_signatures(live, hop):
                    return hop
            except GatewayError as error:
                was_refused = await database_sync_to_async(remember_refusal)(prepared, error)
                # A hop repeats its request: without the cache or signatures it would be another one.
                is_bare = was_refused and before is None
                used_cache = prepared.plan.is_hit and before is None
                failures += not is_bare
                pause = 0.0 if is_bare else self._retry_policy.pause(error, failures, used_cache=used_cache)
                # No retry of a reply that has begun; of one that was refused, only if a part was shown.
                has_begun = progress.has_shown if is_bare else progress.has_begun
                if pause is None or has_begun:
                    raise
                await self._writer.flush()
                await database_sync_to_async(record_failure)(prepared, error)
                waited_ms = await self._wait(live, error, pause)
            prepared = await self._prepare(live, step, before=before, resend_of=prepared)

    async def _lacks_signatures(self, live: LiveRun, hop: Hop) -> bool:
        """Whether the provider ended an empty reply for missing signatures that can be replaced now."""
        prepared, outcome = hop.prepared, hop.reply.outcome
        if outcome is not Outcome.MISSING_SIGNATURE or hop.progress.has_shown:
            return False
        error = SignatureMissing(outcomes.sentence(outcome))
        is_another = await database_sync_to_async(remember_refusal)(prepared, error)
        if is_another:
            prepared.exchange.fail(error)
            await database_sync_to_async(prepared.exchange.save)(update_fields=["error"])
            await self._wait(live, error, 0.0)
        return is_another

    async def _wait(self, live: LiveRun, error: GatewayError, pause: float) -> float:
        """Returns the milliseconds that the pause took."""
        began = perf_counter()
        if said := resends.note(type(error).__name__):
            live.emit(Status, text=said)
        elif pause:
            live.emit(Status, text=resends.asking_again(error.message), wait=round(pause, 1))
            await asyncio.sleep(pause)
            live.emit(Status, text="Asking again…")
        return (perf_counter() - began) * 1000 if pause else 0.0

    async def _prepare(
        self,
        live: LiveRun,
        step: int,
        *,
        before: Hop | None = None,
        resend_of: PreparedRequest | None = None,
    ) -> PreparedRequest:
        """Prepares the request, if necessary again after uploading files."""
        earlier = resend_of.exchange if resend_of else None
        if before is not None:
            token = before.reply.continuation_token
            go_on = partial(prepare_hop, before.prepared, token, resend_of=earlier)
            return await until_free(database_sync_to_async(go_on), self._place(live), live.show_status)
        toolbox = live.toolbox or self._toolbox
        build = database_sync_to_async(
            partial(prepare, live.run, step, self._endpoint, toolbox, resend_of=earlier, first=live.first)
        )
        begun, live.begun = live.begun, None
        try:
            if begun is not None and begun.first is not None:
                prepared = begun.first.result()
            else:
                first = partial(build, begun=begun and begun.run.session)
                prepared = await until_free(first, self._place(live), live.show_status)
        except FilesNotUploaded as away:
            await upload_files(self.gateway, live.run, away.keys, live.show_status)
            live.show_status("Sending…")
            prepared = await until_free(build, self._place(live), live.show_status)
        live.first = prepared.first
        if live.holding is None:
            live.holding = hold_cache(self.gateway, prepared)
        return prepared

    async def _send(
        self, live: LiveRun, step: int, prepared: PreparedRequest, progress: ReplyProgress, waited_ms: float
    ) -> Hop:
        began = perf_counter()
        if prepared.near_budgets:
            live.emit(Status, text=budgets.states(prepared.near_budgets))
        evidence = HttpEvidence(waited_ms)
        try:
            await self._show_stream(live, step, prepared, progress, evidence)
        finally:
            prepared.exchange.total_ms = evidence.total_ms
            owner_id = live.run.session.owner_id
            self._writer.add_attempts(attempt_rows(prepared.exchange, owner_id, evidence))
        reply = progress.answer.reply()
        if reply.outcome is not Outcome.CONTINUES:
            live.close_text(step)
        ms = (perf_counter() - began) * 1000
        if ends_run(reply):
            return Hop(prepared, progress, reply, ms, is_stored=False)
        await self._writer.flush()
        async with self._place(live):
            turn, _ = await database_sync_to_async(record_reply)(prepared, reply, ms, progress)
        if turn is not None and holds_media(turn.value.wire):
            live.show_files(step, await database_sync_to_async(self.render_files)(turn.session, turn))
        # Within a run its prefix stays the same.
        if reply.outcome is Outcome.CALLS and prepared.plan.is_hit:
            self._start_background(keep_cache(self.gateway, prepared))
        elif reply.outcome is not Outcome.CALLS and reply.outcome.is_answer:
            self._start_background(maintain_caches(self.gateway, prepared))
        return Hop(prepared, progress, reply, ms, is_stored=True)

    async def _show_stream(
        self,
        live: LiveRun,
        step: int,
        prepared: PreparedRequest,
        progress: ReplyProgress,
        evidence: HttpEvidence,
    ) -> None:
        """Stores, folds and shows the chunks as they come, but never so fast that nothing else happens."""
        pace = Rate(CHUNK_BURST, CHUNKS_PER_SECOND)
        payload, exchange_pk = prepared.payload, prepared.exchange.pk
        async with self.gateway.stream(payload.model, payload.body, evidence) as chunks:
            async for chunk in chunks:
                if delay := pace.take():
                    await asyncio.sleep(delay)
                progress.check_room(chunk.body)
                self._writer.add_chunk(exchange_pk, chunk)
                if not progress.has_begun:
                    FIRST_CHUNK.observe(chunk.ms / 1000)
                live.show(step, progress.take(chunk.ms, chunk.body, chunk.event), progress.answer_thought_ms)

    def _place(self, live: LiveRun) -> asyncio.Lock:
        return self._places.of(live.run.session.owner_id)

    def _start_background(self, work: Awaitable[None]) -> "asyncio.Task[None]":
        task = asyncio.get_running_loop().create_task(_isolated(work))
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task


async def _isolated(work: Awaitable[None]) -> None:
    with isolated("background_failed"):
        await work
