"""The flow of one run: build, send, listen, answer the calls, again until there is an answer."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from time import perf_counter
from typing import Any

import structlog
from asgiref.sync import sync_to_async
from django.utils import timezone

from sessions_app.errors import (
    BadRequest,
    GatewayError,
    PipewebError,
    QuotaExceeded,
    RunError,
    first_sentence,
)
from sessions_app.events import Status
from sessions_app.gemini.gateway import Gateway
from sessions_app.gemini.stream import RawChunk
from sessions_app.instruments import FIRST_CHUNK
from sessions_app.models import CacheEntry, Run, Session
from sessions_app.prompt.payload import cacheable
from sessions_app.prompt.reply import ChunkView, Folder, Outcome, Reply
from sessions_app.prompt.turns import Answer, Call
from sessions_app.runs.draft import Door, Draft, enabled_tools, prepare
from sessions_app.runs.effects import apply, tool_context
from sessions_app.runs.live import LiveRun
from sessions_app.runs.patience import Patience
from sessions_app.runs.settle import give_up, grow_answers, settle
from sessions_app.runs.writer import Writer
from sessions_app.tools import Toolbox, ToolContext, ToolResult

MAX_ROUNDS = 10
"""Rounds of tool calls in one run; a model that loops would spend without end."""

CACHE_TTL = 3600
"""Seconds a new cache lives; the provider's own default."""

log = structlog.get_logger("pipeweb.runs")


class Listening:
    """What has been heard of one reply."""

    def __init__(self) -> None:
        self.folder = Folder()
        self.first_ms: float | None = None

    @property
    def has_begun(self) -> bool:
        return self.first_ms is not None

    def take(self, chunk: RawChunk) -> ChunkView:
        if self.first_ms is None:
            self.first_ms = chunk.ms
            FIRST_CHUNK.observe(chunk.ms / 1000)
        return self.folder.add(chunk.body)


class Engine:
    """Holds no state of a run; what a run knows is in its rows and its LiveRun."""

    def __init__(self, gateway: Gateway, toolbox: Toolbox, writer: Writer, patience: Patience) -> None:
        self.gateway = gateway
        self._toolbox = toolbox
        self._writer = writer
        self._patience = patience
        self._door = Door.of(gateway)
        self._aside: set[asyncio.Task[None]] = set()

    async def drive(self, live: LiveRun) -> Outcome:
        """Runs to the final reply and answers how it ended.

        Raises GatewayError, PromptError or RunError; cancelling it closes the upstream at once.
        """
        for step in range(1, MAX_ROUNDS + 2):
            reply = await self._exchange(live, step)
            if reply.outcome is not Outcome.CALLS:
                return reply.outcome
            if step <= MAX_ROUNDS:
                await self._answer(live, step, reply.calls)
        raise RunError(
            f"The model wanted more than {MAX_ROUNDS} rounds of tools.",
            hint="What was done is kept. Ask it to answer with what it has.",
        )

    async def drain(self) -> None:
        """Waits for what goes on after an answer (caches being made)."""
        while self._aside:
            await asyncio.gather(*self._aside, return_exceptions=True)

    async def _exchange(self, live: LiveRun, step: int) -> Reply:
        """One reply, however often it has to be asked for; each request is an exchange of its own."""
        failures = 0
        draft = await self._prepare(live.run, step)
        while True:
            listening = Listening()
            try:
                return await self._converse(live, step, draft, listening)
            except GatewayError as error:
                failures += 1
                pause = self._patience.pause(error, failures, used_cache=draft.plan.action == "hit")
                # What the person has begun to read must not be answered a second time.
                if pause is None or listening.has_begun:
                    raise
                await sync_to_async(give_up)(draft, error)
                await self._wait(live, error, pause)
            draft = await self._prepare(live.run, step, resend_of=draft)

    async def _wait(self, live: LiveRun, error: GatewayError, pause: float) -> None:
        if pause:
            live.emit(Status, text=f"{first_sentence(error.message)[0]} Asking again", wait=round(pause, 1))
            await asyncio.sleep(pause)
            live.emit(Status, text="Asking again…")

    async def _prepare(self, run: Run, step: int, resend_of: Draft | None = None) -> Draft:
        earlier = resend_of.exchange if resend_of else None
        return await sync_to_async(prepare)(run, step, self._door, self._toolbox, resend_of=earlier)

    async def _converse(self, live: LiveRun, step: int, draft: Draft, listening: "Listening") -> Reply:
        began = perf_counter()
        async with self.gateway.stream(draft.payload.model, draft.payload.body) as chunks:
            async for chunk in chunks:
                self._writer.add_chunk(draft.exchange.pk, chunk)
                live.show(step, listening.take(chunk))
        live.settle_text(step)
        await self._writer.flush()
        reply = listening.folder.reply()
        await sync_to_async(settle)(draft, reply, (perf_counter() - began) * 1000, listening.first_ms)
        if draft.plan.action == "create" and reply.outcome.is_answer:
            self._keep_aside(self._create_cache(draft))
        return reply

    async def _answer(self, live: LiveRun, step: int, calls: Sequence[Call]) -> None:
        """Runs all calls of a round together; their answers go back in one content, in call order."""
        context, enabled = await sync_to_async(self._tool_state)(live.run)
        results = await asyncio.gather(
            *(self._run_tool(live, step, call, context, enabled) for call in calls)
        )
        await sync_to_async(_keep_results)(live.run, calls, results)

    def _tool_state(self, run: Run) -> tuple[ToolContext, list[str]]:
        return tool_context(run), enabled_tools(Session.objects.get(pk=run.session_id).options, self._toolbox)

    async def _run_tool(
        self, live: LiveRun, step: int, call: Call, context: ToolContext, enabled: list[str]
    ) -> ToolResult:
        began = perf_counter()
        result = await self._toolbox.run(call.name, call.args, context, enabled=enabled)
        ms = (perf_counter() - began) * 1000
        live.show_result(step, call, result.response, failed=result.failed, ms=ms)
        return result

    def _keep_aside(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._aside.add(task)
        task.add_done_callback(self._aside.discard)

    async def _create_cache(self, draft: Draft) -> None:
        """Keeps the static layer at the provider; a refusal is remembered, never shown as a failed run."""
        facts = {"model": draft.payload.model, "route": self._door.route}
        try:
            made = await self.gateway.create_cache(
                model=draft.payload.model,
                contents_and_tools=cacheable(draft.layers),
                ttl_seconds=CACHE_TTL,
                display_name=f"pipeweb {draft.fingerprint[:16]}",
            )
        except (BadRequest, QuotaExceeded) as error:
            log.info("cache_refused", kind=type(error).__name__)
            await sync_to_async(CacheEntry.objects.refuse)(draft.fingerprint, reason=error.message, **facts)
            return
        except GatewayError as error:
            # A provider that is down has not said no: the next answer asks again.
            log.info("cache_not_made", kind=type(error).__name__)
            return
        await sync_to_async(CacheEntry.objects.remember)(
            draft.fingerprint,
            name=made.name,
            tokens=made.tokens,
            expires=made.expires or timezone.now() + timedelta(seconds=CACHE_TTL),
            **facts,
        )


def _keep_results(run: Run, calls: Sequence[Call], results: Sequence[ToolResult]) -> None:
    """Effects first: an effect that cannot be carried out must be what the model reads."""
    answers = [Answer(call, _carry_out(run, result)) for call, result in zip(calls, results, strict=True)]
    grow_answers(run, answers)


def _carry_out(run: Run, result: ToolResult) -> dict[str, Any]:
    try:
        apply(run, result.effects)
    except PipewebError as error:
        return {"error": error.message, "hint": error.hint}
    return dict(result.response)
