"""Tool rounds of runs that brought no answer: what became of their calls, and where to go on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from django.db.models import Q

from sessions_app.models import Run, ToolCall, Turn
from sessions_app.prompt.calls import calls_in
from sessions_app.wording import endings


@dataclass(frozen=True, slots=True)
class CallState:
    """What became of a call without a response, and of the question whether it may be made (`Decision`)."""

    open: Literal["", "unknown", "not_run"] = ""
    decision: str = ""


CallStates = Mapping[int, Mapping[int, CallState]]
"""Key of the function calling turn → index of the call → state, of calls that have one."""


@dataclass(frozen=True, slots=True)
class Resumption:
    """`turn` holds the tool responses that a new run goes on from.

    `unknown` names the calls of which it is unknown whether they ran.
    """

    turn: Turn
    unknown: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        return endings.resumption(self.unknown)


def call_states(turns: Sequence[Turn]) -> CallStates:
    """One query where a tool was called, else none."""
    calling = {turn.pk: turn for turn in turns if turn.kind == Turn.Kind.FUNCTION_CALLING}
    if not calling:
        return {}
    states: dict[int, dict[int, CallState]] = {}
    for row in ToolCall.objects.filter(Q(ended_at=None) | ~Q(decision=""), turn__in=calling):
        states.setdefault(row.turn_id, {})[row.index] = _state(row, calling[row.turn_id].run)
    return states


def _state(row: ToolCall, run: Run | None) -> CallState:
    if row.has_ended or run is None or run.status == Run.Status.COMPLETED:
        return CallState("", row.decision)
    return CallState("unknown" if row.is_unknown else "not_run", row.decision)


def resumption_of(run: Run | None, followers: Sequence[Turn], states: CallStates) -> Resumption | None:
    """None for a run that is active or complete, that used no tools, or that a message has followed."""
    if run is None or run.is_active or run.status == Run.Status.COMPLETED:
        return None
    if followers and followers[-1].closing:
        return None
    rounds = (index for index, turn in enumerate(followers) if turn.kind == Turn.Kind.TOOL_RESPONSE)
    last = max(rounds, default=None)
    return _resumption(followers[last - 1], followers[last], states) if last else None


def _resumption(calling: Turn, responses: Turn, states: CallStates) -> Resumption:
    open_calls = states.get(calling.pk, {})
    calls = calls_in(calling.wire) if open_calls else ()
    return Resumption(responses, tuple(one.name for one in calls if _is_unknown(open_calls.get(one.index))))


def _is_unknown(state: CallState | None) -> bool:
    return state is not None and state.open == "unknown"
