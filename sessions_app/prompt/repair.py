"""Repair of an invalid history: error results, fillers, removals; each repair leaves a remark.

Valid turns keep their bytes, signatures and order.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sessions_app.prompt import wire
from sessions_app.prompt.calls import CallResponse, FunctionCall, calls_of
from sessions_app.prompt.history import id_of, is_misplaced, violations
from sessions_app.prompt.parts import raw_parts, response_of, with_parts
from sessions_app.prompt.remarks import Remark, RemarkCode
from sessions_app.prompt.turns import FILLER, Turn, TurnKind, tool_response, user_task

NO_RESULT = {"error": "No result of this call was kept.", "hint": "Call again if it is still needed."}
CONTINUE_TEXT = "Go on."

_Part = dict[str, Any]


def repair(turns: Sequence[Turn]) -> tuple[tuple[Turn, ...], tuple[Remark, ...]]:
    """The history without violations, and a remark for each repair. Idempotent."""
    if not violations(turns):
        return tuple(turns), ()
    repairer = _Repairer()
    for turn in turns:
        repairer.add(turn)
    repairer.close()
    return tuple(repairer.turns), tuple(repairer.remarks)


def filler_key(key: str, what: str) -> str:
    """The deterministic key of a turn that a repair inserts after the turn `key`."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{key}:{what}"))


@dataclass(slots=True)
class _Repairer:
    """The repaired turns so far; `_open` are the calls of the last turn, still without results."""

    turns: list[Turn] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    _open: tuple[FunctionCall, ...] = ()

    def add(self, turn: Turn) -> None:
        parts = self._cleaned(turn)
        if self._open and _results(parts):
            self._append(turn, self._answered(turn, parts))
            return
        self.close()
        if _results(parts):
            parts = self._without_results(turn, parts)
            turn = replace(turn, kind=TurnKind.USER_TASK)
        if parts:
            self._insert_filler(turn, parts)
            self._append(turn, parts)

    def close(self) -> None:
        """Appends error results for open calls."""
        if self._open:
            calling = self.turns[-1]
            answers = [CallResponse(call, NO_RESULT) for call in self._open]
            self.turns.append(tool_response(filler_key(calling.key, "results"), answers))
            self._remark(calling, RemarkCode.CALL_UNANSWERED, names=[call.name for call in self._open])
            self._open = ()

    def _append(self, turn: Turn, parts: list[_Part]) -> None:
        if parts != raw_parts(turn.wire):
            turn = replace(turn, wire=with_parts(turn.wire, parts))
        self.turns.append(turn)
        self._open = calls_of(parts) if turn.kind.is_model else ()

    def _cleaned(self, turn: Turn) -> list[_Part]:
        found = raw_parts(turn.wire)
        wanted = [part for part in found if part and not is_misplaced(turn, part)]
        if not wanted:
            self._remark(turn, RemarkCode.TURN_EMPTY)
        elif len(wanted) < len(found):
            self._remark(turn, RemarkCode.PARTS_REMOVED)
        return wanted

    def _answered(self, turn: Turn, parts: list[_Part]) -> list[_Part]:
        """One result for each call, in call order, then the other parts."""
        given = _results(parts)
        paired = self._paired(turn, given)
        if paired == given:
            return parts
        if sorted(map(wire.dumps, paired)) == sorted(map(wire.dumps, given)):
            self._remark(turn, RemarkCode.RESULTS_REORDERED)
        return [*paired, *(part for part in parts if response_of(part) is None)]

    def _paired(self, turn: Turn, given: Sequence[_Part]) -> list[_Part]:
        left = list(given)
        paired: list[_Part] = []
        for call in self._open:
            place = next((at for at, part in enumerate(left) if _answers(part, call)), None)
            if place is None:
                self._remark(turn, RemarkCode.CALL_UNANSWERED, names=[call.name])
                paired += raw_parts(tool_response("", [CallResponse(call, NO_RESULT)]).wire)
            else:
                paired.append(left.pop(place))
        for part in left:
            self._remark(turn, RemarkCode.RESULT_UNASKED, name=_name(part))
        return paired

    def _without_results(self, turn: Turn, parts: list[_Part]) -> list[_Part]:
        kept = [part for part in parts if response_of(part) is None]
        self._remark(turn, RemarkCode.RESULTS_ORPHANED if kept else RemarkCode.TURN_ORPHANED)
        return kept

    def _insert_filler(self, turn: Turn, parts: list[_Part]) -> None:
        """Appends a filler when `turn` may not follow the last one."""
        before = self.turns[-1] if self.turns else None
        if before is None:
            return
        if not before.kind.is_model and not turn.kind.is_model and _results(raw_parts(before.wire)):
            filler = Turn(filler_key(before.key, "filler"), TurnKind.MODEL_RESPONSE, FILLER)
            code = RemarkCode.ANSWER_INSERTED
        elif before.kind.is_model and turn.kind.is_model and calls_of(parts):
            filler = user_task(filler_key(before.key, "filler"), CONTINUE_TEXT)
            code = RemarkCode.MESSAGE_INSERTED
        else:
            return
        self.turns.append(filler)
        self._remark(turn, code)

    def _remark(self, turn: Turn, code: RemarkCode, **figures: Any) -> None:
        self.remarks.append(Remark(code=code, turn=turn.key, **figures))


def _results(parts: Sequence[_Part]) -> list[_Part]:
    return [part for part in parts if response_of(part) is not None]


def _answers(part: _Part, call: FunctionCall) -> bool:
    """Matches by name, and by id if both have one: Gemini's calls often have none."""
    response = response_of(part) or {}
    theirs, ours = id_of(response), call.id.strip()
    return response.get("name") == call.name and (theirs == ours or not theirs or not ours)


def _name(part: _Part) -> str:
    return str((response_of(part) or {}).get("name", ""))
