"""Mending a history that breaks a rule: error results, fillers, strays taken out; each repair is told.

What is valid keeps its bytes, its signatures and its order.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sessions_app.prompt import wire
from sessions_app.prompt.calls import Call, calls_of
from sessions_app.prompt.history import id_of, is_misplaced, response_of, violations
from sessions_app.prompt.signatures import Note
from sessions_app.prompt.turns import FILLER, Answer, Turn, TurnKind, raw_parts, tool_response, user_task

NO_RESULT = {"error": "No result of this call was kept.", "hint": "Call again if it is still needed."}
GO_ON = "Go on."

_Part = dict[str, Any]


def repair(turns: Sequence[Turn]) -> tuple[tuple[Turn, ...], tuple[Note, ...]]:
    """The same history without a breach, and what was done to it. Doing it twice changes nothing more."""
    if not violations(turns):
        return tuple(turns), ()
    mending = _Mending()
    for turn in turns:
        mending.take(turn)
    mending.close()
    return tuple(mending.turns), tuple(mending.notes)


def stand_in_key(key: str, what: str) -> str:
    """The key of a turn that a repair puts beside the turn `key`: the same every time it is made."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{key}:{what}"))


@dataclass(slots=True)
class _Mending:
    """What is mended so far; `_open` are the calls of the last turn, which wait for their results."""

    turns: list[Turn] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    _open: tuple[Call, ...] = ()

    def take(self, turn: Turn) -> None:
        parts = self._cleaned(turn)
        if self._open and _results(parts):
            self._add(turn, self._answered(turn, parts))
            return
        self.close()
        if _results(parts):
            parts = self._without_results(turn, parts)
            turn = replace(turn, kind=TurnKind.USER_TASK)
        if parts:
            self._make_room(turn, parts)
            self._add(turn, parts)

    def close(self) -> None:
        """Calls that nobody answered get errors, right behind them."""
        if self._open:
            calling = self.turns[-1]
            answers = [Answer(call, NO_RESULT) for call in self._open]
            self.turns.append(tool_response(stand_in_key(calling.key, "results"), answers))
            self._note(
                calling, "answered", f"Its call of {_names(self._open)} had no result: an error stands in."
            )
            self._open = ()

    def _add(self, turn: Turn, parts: list[_Part]) -> None:
        if parts != raw_parts(turn.wire):
            turn = replace(turn, wire=wire.dumps(wire.loads(turn.wire) | {"parts": parts}))
        self.turns.append(turn)
        self._open = calls_of(parts) if turn.kind.is_model else ()

    def _cleaned(self, turn: Turn) -> list[_Part]:
        found = raw_parts(turn.wire)
        wanted = [part for part in found if part and not is_misplaced(turn, part)]
        if not wanted:
            self._note(turn, "dropped", "The turn held nothing that can be sent.")
        elif len(wanted) < len(found):
            self._note(turn, "removed", "Parts that held nothing or stood on the wrong side are left out.")
        return wanted

    def _answered(self, turn: Turn, parts: list[_Part]) -> list[_Part]:
        """One result for each call, in call order; what else the content holds comes behind them."""
        given = _results(parts)
        told = self._paired(turn, given)
        if told == given:
            return parts
        if sorted(map(wire.dumps, told)) == sorted(map(wire.dumps, given)):
            self._note(turn, "reordered", "The results stand in the order of the calls now.")
        return [*told, *(part for part in parts if response_of(part) is None)]

    def _paired(self, turn: Turn, given: Sequence[_Part]) -> list[_Part]:
        left = list(given)
        told: list[_Part] = []
        for call in self._open:
            place = next((at for at, part in enumerate(left) if _answers(part, call)), None)
            if place is None:
                reason = f"The call of “{call.name}” had no result: an error stands in."
                self._note(turn, "answered", reason)
                told += raw_parts(tool_response("", [Answer(call, NO_RESULT)]).wire)
            else:
                told.append(left.pop(place))
        for part in left:
            self._note(turn, "removed", f"A result of “{_name(part)}” answers no call.")
        return told

    def _without_results(self, turn: Turn, parts: list[_Part]) -> list[_Part]:
        kept = [part for part in parts if response_of(part) is None]
        action = "removed" if kept else "dropped"
        self._note(turn, action, "A tool result stood without the call that asked for it.")
        return kept

    def _make_room(self, turn: Turn, parts: list[_Part]) -> None:
        """Puts a filler before a turn that may not follow the one before it."""
        before = self.turns[-1] if self.turns else None
        if before is None:
            return
        if not before.kind.is_model and not turn.kind.is_model and _results(raw_parts(before.wire)):
            filler = Turn(stand_in_key(before.key, "filler"), TurnKind.MODEL_RESPONSE, FILLER)
            reason = "A message followed a tool result directly: a short answer stands between them."
        elif before.kind.is_model and turn.kind.is_model and calls_of(parts):
            filler = user_task(stand_in_key(before.key, "filler"), GO_ON)
            reason = "A call followed the model's own answer directly: a short message stands between them."
        else:
            return
        self.turns.append(filler)
        self._note(turn, "filled", reason)

    def _note(self, turn: Turn, action: str, reason: str) -> None:
        self.notes.append(Note(turn.key, None, action, reason))


def _results(parts: Sequence[_Part]) -> list[_Part]:
    return [part for part in parts if response_of(part) is not None]


def _answers(part: _Part, call: Call) -> bool:
    """By id where both have one, else by name: Gemini's own calls often come without ids."""
    response = response_of(part) or {}
    theirs, ours = id_of(response), call.id.strip()
    return response.get("name") == call.name and (theirs == ours or not theirs or not ours)


def _name(part: _Part) -> str:
    return str((response_of(part) or {}).get("name", ""))


def _names(calls: Sequence[Call]) -> str:
    return ", ".join(f"“{call.name}”" for call in calls)
