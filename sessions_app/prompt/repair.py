"""Repair of an invalid history: error results, fillers, removals; each repair leaves a remark.

Valid turns keep their bytes, signatures and order.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sessions_app.prompt import wire
from sessions_app.prompt.call_pairing import paired
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
        answered = self._paired(turn, given)
        if answered == given:
            return parts
        if sorted(map(wire.dumps, answered)) == sorted(map(wire.dumps, given)):
            self._remark(turn, RemarkCode.RESULTS_REORDERED)
        return [*answered, *(part for part in parts if response_of(part) is None)]

    def _paired(self, turn: Turn, given: Sequence[_Part]) -> list[_Part]:
        places = self._places(given)
        answered: list[_Part] = []
        for index, call in enumerate(self._open):
            if index in places:
                answered.append(given[places[index]])
            else:
                self._remark(turn, RemarkCode.CALL_UNANSWERED, names=[call.name])
                answered += raw_parts(tool_response("", [CallResponse(call, NO_RESULT)]).wire)
        for at, part in enumerate(given):
            if at not in places.values():
                self._remark(turn, RemarkCode.RESULT_UNASKED, name=_name(part))
        return answered

    def _places(self, given: Sequence[_Part]) -> dict[int, int]:
        """Index of a call → index of its result, which has its name: Gemini compares names."""
        calls = [(call.id.strip(), call.name) for call in self._open]
        results = [(id_of(response_of(part) or {}), _name(part)) for part in given]
        pairs = paired(calls, results).items()
        return {call: result for call, result in pairs if calls[call][1] == results[result][1]}

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


def _name(part: _Part) -> str:
    return str((response_of(part) or {}).get("name", ""))
