"""Tool rounds of runs that brought no answer: what became of their calls, and where to go on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sessions_app.models import Run, ToolCall, Turn
from sessions_app.prompt.calls import calls_in
from sessions_app.wording import endings

CallState = Literal["unknown", "not_run"]
CallStates = Mapping[int, Mapping[int, CallState]]
"""Of calls without a response: key of the function calling turn → index of the call → state."""


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
    """One query where a run with tools did not complete, else none."""
    calling = [
        turn.pk
        for turn in turns
        if turn.kind == Turn.Kind.FUNCTION_CALLING and turn.run and turn.run.status != Run.Status.COMPLETED
    ]
    states: dict[int, dict[int, CallState]] = {}
    for row in ToolCall.objects.filter(turn__in=calling, ended_at=None) if calling else ():
        states.setdefault(row.turn_id, {})[row.index] = "unknown" if row.is_unknown else "not_run"
    return states


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
    return Resumption(responses, tuple(one.name for one in calls if open_calls.get(one.index) == "unknown"))
