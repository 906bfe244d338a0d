"""Function calls and their answers, and how a call is put together from the parts of a reply.

A call arrives whole in one part, or (Vertex, `streamFunctionCallArguments`) as a named opening
part followed by nameless parts with `partialArgs` and sometimes an empty closing part
(recorded-traffic.md, "Streams"). The closing part may be missing.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]|\['([^']*)'\]")
_CALLS = ("functionCall", "function_call")
_VALUES = ("stringValue", "numberValue", "boolValue", "nullValue")
_PIECEWISE = frozenset({"partialArgs", "willContinue"})
_INDEX_LIMIT = 10_000
"""A path index above this is refused: a list is filled up to the index."""


@dataclass(frozen=True, slots=True)
class Call:
    """One function call of a reply. `index` counts the calls of the reply from 0; `id` may be empty."""

    index: int
    id: str
    name: str
    args: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool returned for a call; `response` is a JSON object (gemini-wire §1.1)."""

    call: Call
    response: dict[str, Any]


def call_of(part: Mapping[str, Any]) -> dict[str, Any] | None:
    """The `functionCall` object of a wire part, in either spelling, or None."""
    found = part.get("functionCall", part.get("function_call"))
    return found if isinstance(found, dict) else None


def calls_of(parts: Iterable[Mapping[str, Any]]) -> tuple[Call, ...]:
    """Every call of one content, arguments assembled, in wire order."""
    assembler = Assembler()
    found: list[Call] = []
    for part in parts:
        found += assembler.add(part)
    return (*found, *assembler.close())


def with_whole_calls(parts: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same content with every call that came in pieces as one part, where its opening part stood.

    Pieces sent back are refused: the provider counts them as calls without answers. What a piece
    carries beside the call (a signature) goes to the opening part, or stays a part of its own when
    that has one already. A call that came whole is not touched.
    """
    assembler = Assembler()
    told: list[dict[str, Any]] = []
    openings: list[int] = []
    calls: list[Call] = []
    for part in parts:
        if assembler.continues_with(part):
            told += _lend(told, openings[-1], part)
        else:
            if _opens(call_of(part)):
                openings.append(len(told))
            told.append(part)
        calls += assembler.add(part)
    for place, call in zip(openings, [*calls, *assembler.close()], strict=True):
        told[place] = _whole(told[place], call)
    return told


def _opens(raw: Mapping[str, Any] | None) -> bool:
    name = raw.get("name") if raw else None
    return isinstance(name, str) and bool(name)


def _lend(told: list[dict[str, Any]], opening: int, piece: dict[str, Any]) -> list[dict[str, Any]]:
    """Moves what stands beside the piece's call to the opening part; answers what finds no room there."""
    beside = {key: value for key, value in piece.items() if key not in _CALLS}
    taken = told[opening].keys()
    told[opening] = beside | told[opening]
    rest = {key: value for key, value in beside.items() if key in taken and value != told[opening][key]}
    return [rest] if rest else []


def _whole(part: dict[str, Any], call: Call) -> dict[str, Any]:
    key = next(key for key in _CALLS if key in part)
    raw = part[key]
    if not _PIECEWISE & raw.keys():
        return part
    kept = {name: value for name, value in raw.items() if name not in _PIECEWISE}
    return part | {key: kept | {"args": call.args}}


@dataclass(slots=True)
class _Open:
    id: str
    name: str
    args: dict[str, Any] = field(default_factory=dict)
    unfinished: str = ""


class Assembler:
    """Turns parts into calls, one part at a time; a call is handed out once, when it is complete."""

    def __init__(self) -> None:
        self._count = 0
        self._open: _Open | None = None

    def add(self, part: Mapping[str, Any]) -> list[Call]:
        raw = call_of(part)
        if raw is None:
            return self.close() if _has_substance(part) else []
        done = self.close() if raw.get("name") else []
        current = self._open or self._opened(raw)
        if current is None:
            return done
        _extend(current, raw)
        return done if raw.get("willContinue") is True else done + self.close()

    def continues_with(self, part: Mapping[str, Any]) -> bool:
        """Whether the part is a nameless piece of the call that is still open."""
        raw = call_of(part)
        return self._open is not None and raw is not None and not raw.get("name")

    def close(self) -> list[Call]:
        """The call still open, if any: its stream ended without the closing part."""
        current, self._open = self._open, None
        if current is None:
            return []
        self._count += 1
        return [Call(self._count - 1, current.id, current.name, current.args)]

    def _opened(self, raw: Mapping[str, Any]) -> _Open | None:
        name = raw.get("name")
        # A nameless call with nothing open is a stray closing part.
        self._open = _Open(str(raw.get("id") or ""), name) if name and isinstance(name, str) else None
        return self._open


def _has_substance(part: Mapping[str, Any]) -> bool:
    return any(value not in ("", None) for value in part.values())


def _extend(current: _Open, raw: Mapping[str, Any]) -> None:
    args = raw.get("args")
    if isinstance(args, dict):
        current.args.update(args)
    pieces = raw.get("partialArgs")
    for piece in pieces if isinstance(pieces, list) else ():
        if isinstance(piece, dict):
            _place(current, piece)


def _place(current: _Open, piece: Mapping[str, Any]) -> None:
    path = piece.get("jsonPath")
    key = next((key for key in _VALUES if key in piece), None)
    steps = _steps(path) if isinstance(path, str) else []
    if not steps or key is None:
        return
    value = None if key == "nullValue" else piece[key]
    container = _descend(current.args, steps)
    if current.unfinished == path and isinstance(value, str):
        value = str(_get(container, steps[-1]) or "") + value
    _set(container, steps[-1], value)
    current.unfinished = path if piece.get("willContinue") is True and isinstance(path, str) else ""


def _steps(path: str) -> list[str | int]:
    steps: list[str | int] = []
    for name, index, quoted in _STEP.findall(path.removeprefix("$")):
        steps.append(int(index) if index else name or quoted)
    too_far = any(isinstance(step, int) and step > _INDEX_LIMIT for step in steps)
    return [] if too_far or (steps and isinstance(steps[0], int)) else steps


def _descend(container: Any, steps: list[str | int]) -> Any:
    for step, following in pairwise(steps):
        wanted = list if isinstance(following, int) else dict
        inner = _get(container, step)
        if not isinstance(inner, wanted):
            inner = wanted()
            _set(container, step, inner)
        container = inner
    return container


def _get(container: Any, step: str | int) -> Any:
    if isinstance(step, int):
        return container[step] if step < len(container) else None
    return container.get(step)


def _set(container: Any, step: str | int, value: Any) -> None:
    if isinstance(step, int):
        container.extend([None] * (step + 1 - len(container)))
    container[step] = value
