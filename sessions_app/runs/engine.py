"""The flow of one run: build, send, listen, answer the calls, again until there is an answer."""

import asyncio
from collections.abc import Sequence
from functools import partial
from time import perf_counter
from typing import Any

import structlog
from asgiref.sync import sync_to_async

from sessions_app.errors import FilesAway, GatewayError, PipewebError, first_sentence
from sessions_app.events import Status
from sessions_app.gemini.gateway import Gateway
from sessions_app.instruments import FIRST_CHUNK
from sessions_app.models import Run
from sessions_app.prompt.media import holds_media
from sessions_app.prompt.reply import Outcome, Reply
from sessions_app.prompt.turns import Answer, Call
from sessions_app.runs.draft import Door, Draft, prepare
from sessions_app.runs.effects import apply, tool_context
from sessions_app.runs.filing import bring_files
from sessions_app.runs.listening import Listening
from sessions_app.runs.live import LiveRun
from sessions_app.runs.onward import hold
from sessions_app.runs.outside import look_outside
from sessions_app.runs.patience import Patience
from sessions_app.runs.rolling import keep_cache
from sessions_app.runs.settle import give_up, grow_answers, settle
from sessions_app.runs.showing import made_files
from sessions_app.runs.writer import Writer
from sessions_app.tools import Toolbox, ToolContext, ToolResult

log = structlog.get_logger("pipeweb.runs")


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

        Raises GatewayError, PromptError or GuardRail; cancelling it closes the upstream at once.
        """
        step = 1
        while (reply := await self._exchange(live, step)).outcome is Outcome.CALLS:
            await sync_to_async(hold)(live.run, step)
            await self._answer(live, step, reply.calls)
            step += 1
        return reply.outcome

    async def drain(self) -> None:
        """Waits for what goes on after an answer (caches being made)."""
        while self._aside:
            await asyncio.gather(*self._aside, return_exceptions=True)

    async def _exchange(self, live: LiveRun, step: int) -> Reply:
        """One reply, however often it has to be asked for; each request is an exchange of its own."""
        failures = 0
        await look_outside(live.run, self._keep_aside)
        draft = await self._prepare(live, step)
        while True:
            listening = Listening()
            try:
                return await self._converse(live, step, draft, listening)
            except GatewayError as error:
                failures += 1
                pause = self._patience.pause(error, failures, used_cache=draft.plan.is_hit)
                # What the person has begun to read must not be answered a second time.
                if pause is None or listening.has_begun:
                    raise
                await sync_to_async(give_up)(draft, error)
                await self._wait(live, error, pause)
            draft = await self._prepare(live, step, resend_of=draft)

    async def _wait(self, live: LiveRun, error: GatewayError, pause: float) -> None:
        if pause:
            live.emit(Status, text=f"{first_sentence(error.message)[0]} Asking again", wait=round(pause, 1))
            await asyncio.sleep(pause)
            live.emit(Status, text="Asking again…")

    async def _prepare(self, live: LiveRun, step: int, resend_of: Draft | None = None) -> Draft:
        """Files that the provider does not have are uploaded first; then it is prepared once more."""
        earlier = resend_of.exchange if resend_of else None
        build = sync_to_async(partial(prepare, live.run, step, self._door, self._toolbox, resend_of=earlier))
        try:
            return await build()
        except FilesAway as away:
            await bring_files(self.gateway, live.run, away.keys, live.tell)
        live.tell("Sending…")
        return await build()

    async def _converse(self, live: LiveRun, step: int, draft: Draft, listening: Listening) -> Reply:
        began = perf_counter()
        if draft.work.warning:
            live.emit(Status, text=draft.work.warning)
        async with self.gateway.stream(draft.payload.model, draft.payload.body) as chunks:
            async for chunk in chunks:
                self._writer.add_chunk(draft.exchange.pk, chunk)
                if not listening.has_begun:
                    FIRST_CHUNK.observe(chunk.ms / 1000)
                live.show(step, listening.take(chunk.ms, chunk.body), listening.thought_ms)
        live.settle_text(step)
        await self._writer.flush()
        reply = listening.folder.reply()
        turn = await sync_to_async(settle)(draft, reply, (perf_counter() - began) * 1000, listening)
        if turn is not None and reply.wire is not None and holds_media(reply.wire):
            live.show_files(step, await sync_to_async(made_files)(turn))
        if reply.outcome.is_answer:
            self._keep_aside(keep_cache(self.gateway, draft))
        return reply

    async def _answer(self, live: LiveRun, step: int, calls: Sequence[Call]) -> None:
        """Runs all calls of a round together; their answers go back in one content, in call order."""
        context, enabled = await sync_to_async(self._tool_state)(live.run)
        results = await asyncio.gather(
            *(self._run_tool(live, step, call, context, enabled) for call in calls)
        )
        await sync_to_async(_keep_results)(live.run, calls, results)

    def _tool_state(self, run: Run) -> tuple[ToolContext, list[str]]:
        return tool_context(run), self._toolbox.enabled(run.session.chosen_tools)

    async def _run_tool(
        self, live: LiveRun, step: int, call: Call, context: ToolContext, enabled: list[str]
    ) -> ToolResult:
        began = perf_counter()
        result = await self._toolbox.run(call.name, call.args, context, enabled=enabled)
        ms = (perf_counter() - began) * 1000
        live.show_result(step, call, result.response, failed=result.failed, ms=ms)
        return result

    def _keep_aside(self, work: Any) -> "asyncio.Task[None]":
        task = asyncio.get_running_loop().create_task(work)
        self._aside.add(task)
        task.add_done_callback(self._aside.discard)
        return task


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
