"""Tool rounds: each call is stored when it begins and, with its effects, when it ends.

So a run that ends in the middle of a round keeps what was done, and a later run does the rest. The responses
of a round are one turn. Where calls are run later, another such turn stands beside the first.
"""

import asyncio
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from django.db import transaction

from sessions_app.database import database_sync_to_async
from sessions_app.errors import PipewebError
from sessions_app.models import Run, Session, ToolCall, Turn
from sessions_app.models.branches import head_of
from sessions_app.panels.refresh import tool_context
from sessions_app.prompt.calls import CallResponse, FunctionCall, calls_in
from sessions_app.prompt.repair import NO_RESULT
from sessions_app.prompt.turns import TurnKind, closing_turn, tool_response
from sessions_app.runs.approvals import Decisions
from sessions_app.runs.asks import settle
from sessions_app.runs.run_streams import LiveRun
from sessions_app.tools import Effect, Toolbox, ToolContext, ToolResult
from sessions_app.tools.results import failure
from sessions_app.wording.mcp import refused_call
from sessions_app.wording.refusals import error_texts

NOT_RUN = {
    "error": "Not run: the run ended before this call began.",
    "hint": "Call again if it is still needed.",
}
UNKNOWN = {
    "error": "Unknown whether it ran: the run ended while this call was running.",
    "hint": "Find out before calling it again.",
}


@dataclass(frozen=True, slots=True)
class ToolRound:
    """The calls of the turn `calling`; `answered` is the turn with their responses, if there is one."""

    run: Run
    calling: Turn
    answered: Turn | None = None

    @classmethod
    def at(cls, run: Run, turn: Turn | None) -> "ToolRound | None":
        """The round that this turn opens or answers, if any."""
        if turn is None or turn.kind not in (TurnKind.FUNCTION_CALLING, TurnKind.TOOL_RESPONSE):
            return None
        if turn.kind == TurnKind.FUNCTION_CALLING:
            return cls(run, turn) if calls_in(turn.wire) else None
        return cls(run, turn.parent, turn) if turn.parent is not None else None

    @property
    def calls(self) -> tuple[FunctionCall, ...]:
        return calls_in(self.calling.wire)

    def open_calls(self) -> Sequence[FunctionCall]:
        """All calls of a new round; of one that is answered those that an earlier run did not begin.

        None of an answered round without rows (imported, copied, or of an earlier version).
        """
        if self.answered is None:
            return self.calls
        rows = ToolCall.objects.of_turn(self.calling.pk)
        return [
            call for call in self.calls if call.index in rows and rows[call.index].is_open_to(self.run.pk)
        ]

    def leave(self) -> None:
        """Marks the calls without a row as not begun."""
        indices = [call.index for call in self.calls]
        ToolCall.objects.add_unbegun(self.run.pk, self.calling.pk, indices)

    @transaction.atomic
    def store(self) -> Turn:
        """The turn with the responses as they are known now: `answered`, or a new one at the head.

        Raises RunEnded.
        """
        Run.objects.hold(self.run.pk)
        rows = ToolCall.objects.of_turn(self.calling.pk)
        if self.answered is not None and not rows:
            return self.answered
        responses = [CallResponse(call, _response(rows.get(call.index), bool(rows))) for call in self.calls]
        value = tool_response(str(uuid.uuid4()), responses)
        if self.answered is not None and self.answered.wire == value.wire:
            return self.answered
        return Turn.append(self.run.session, value, parent=self.calling, run=self.run)

    @transaction.atomic
    def finish(self, call: FunctionCall, result: ToolResult) -> dict[str, Any]:
        """Applies the effects and stores the response, which is their error where they fail.

        Raises RunEnded.
        """
        Run.objects.hold(self.run.pk)
        try:
            apply_effects(self.run, result.effects)
            response = dict(result.response)
        except PipewebError as error:
            sentence, hint = error_texts(error)
            response = {"error": sentence, "hint": hint}
        ToolCall.objects.finish(self.calling.pk, call.index, response)
        return response


def _response(row: ToolCall | None, has_rows: bool) -> dict[str, Any]:
    if row is None:
        return NOT_RUN if has_rows else NO_RESULT
    if row.has_ended:
        return row.value
    return UNKNOWN if row.is_unknown else NOT_RUN


def close_round(run: Run) -> None:
    """Stores what is known of the round in which the run ends, so that the history is complete."""
    tool_round = ToolRound.at(run, head_of(run.session_id))
    if tool_round is None:
        return
    if tool_round.answered is None:
        tool_round.leave()
    tool_round.store()


def close_branch(run: Run, last: Turn | None) -> Turn | None:
    """The turn below which a person's message may stand: after a tool round without an answer, a turn that
    says so.

    It belongs to the run that brought no answer. `run` is the message's.
    """
    tool_round = ToolRound.at(run, last)
    if tool_round is None:
        return last
    answered = tool_round.answered or tool_round.store()
    ended = answered.triggered.order_by("-pk").first() or answered.run
    value = closing_turn(str(uuid.uuid4()))
    return Turn.append(run.session, value, parent=answered, run=ended, closing=True)


@dataclass(frozen=True, slots=True)
class RoundRunner:
    """Runs calls of a round and shows their results as those of `step`."""

    live: LiveRun
    step: int
    toolbox: Toolbox
    tool_round: ToolRound
    context: ToolContext
    enabled: Sequence[str]
    decisions: Decisions

    async def run(self, calls: Iterable[FunctionCall]) -> None:
        """The calls run together, but those with effects one after another, in call order.

        Raises what the first call that could not be stored raised.
        """
        together, in_order = list[list[FunctionCall]](), list[FunctionCall]()
        for call in calls:
            if self.toolbox.has_effects(call.name):
                in_order.append(call)
            else:
                together.append([call])
        failure: Exception | None = None
        try:
            async with asyncio.TaskGroup() as tasks:
                for lane in (*together, in_order):
                    tasks.create_task(self._run_lane(lane))
        except ExceptionGroup as group:
            failure = group.exceptions[0]
        # Outside of the block: whoever ends the run asks for the cause of the error itself.
        if failure is not None:
            raise failure

    async def _run_lane(self, calls: Iterable[FunctionCall]) -> None:
        for call in calls:
            await self._run_call(call)

    async def _run_call(self, call: FunctionCall) -> None:
        decision = self.decisions.get(call.index)
        if decision is not None and (refused := refused_call(decision)):
            await self._refuse(call, *refused)
            return
        began = perf_counter()
        begin = database_sync_to_async(ToolCall.objects.begin)
        await begin(self.live.run.pk, self.tool_round.calling.pk, call.index)
        result = await self.toolbox.run(call.name, call.args, self.context, enabled=self.enabled)
        ms = (perf_counter() - began) * 1000
        response = await database_sync_to_async(self.tool_round.finish)(call, result)
        failed = result.failed or response != result.response
        self.live.show_result(self.step, call, response, failed=failed, ms=ms)

    async def _refuse(self, call: FunctionCall, error: str, hint: str) -> None:
        """It never begins: nothing is unknown of it."""
        result = failure(error, hint)
        response = await database_sync_to_async(self.tool_round.finish)(call, result)
        self.live.show_result(self.step, call, response, failed=True, ms=0)


async def run_calls(live: LiveRun, step: int, toolbox: Toolbox) -> None:
    """Runs the open calls of the round at the head and stores the responses of the round as one turn.

    Raises RunWaits, before any of them has begun, where a person has to be asked.
    """
    tool_round, calls = await database_sync_to_async(_open_calls)(live.run)
    if tool_round is None:
        return
    gauged = toolbox.reads_gauge(call.name for call in calls)
    context, enabled = await database_sync_to_async(_tool_state)(live.run, toolbox, gauged)
    decisions = await settle(live, step, toolbox, tool_round.calling.pk, calls=calls, enabled=enabled)
    await RoundRunner(live, step, toolbox, tool_round, context, enabled, decisions).run(calls)
    await database_sync_to_async(tool_round.store)()


def _open_calls(run: Run) -> tuple[ToolRound | None, Sequence[FunctionCall]]:
    tool_round = ToolRound.at(run, head_of(run.session_id))
    return tool_round, tool_round.open_calls() if tool_round else ()


def _tool_state(run: Run, toolbox: Toolbox, gauged: bool) -> tuple[ToolContext, list[str]]:
    return tool_context(run, gauged=gauged), toolbox.enabled(run.session.chosen_tools)


def apply_effects(run: Run, effects: Sequence[Effect]) -> None:
    """Applies the effects in order, all or none. Raises PipewebError."""
    if not effects:
        return
    with transaction.atomic():
        session = Session.objects.get(pk=run.session_id)
        for effect in effects:
            effect.carry_out(session)
