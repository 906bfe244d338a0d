"""Function calls and their responses, and the assembly of a call from the parts of a reply.

A call arrives in one part, or (Vertex, `streamFunctionCallArguments`) as a named opening part followed by
nameless parts with `partialArgs` and perhaps an empty closing part (recorded-traffic.md, "Streams").
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from sessions_app.prompt.parts import RawPart, call_of, raw_parts, with_call, without_call

_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]|\['([^']*)'\]")
_VALUES = ("stringValue", "numberValue", "boolValue", "nullValue")
_PIECEWISE = frozenset({"partialArgs", "willContinue"})
_INDEX_LIMIT = 10_000
"""A path with a higher list index is ignored: the list would be filled up to it."""


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """One function call of a reply. `index` counts the calls of the reply from 0; `id` may be empty."""

    index: int
    id: str
    name: str
    args: dict[str, Any]


@dataclass(frozen=True, slots=True)
class CallResponse:
    """What a tool returned for a call; `response` is a JSON object (gemini-wire §1.1)."""

    call: FunctionCall
    response: dict[str, Any]


def calls_of(parts: Iterable[Mapping[str, Any]]) -> tuple[FunctionCall, ...]:
    """Every call of one content, arguments assembled, in wire order."""
    assembler = CallAssembler()
    found: list[FunctionCall] = []
    for part in parts:
        found += assembler.add(part)
    return (*found, *assembler.close())


def calls_in(wire_bytes: bytes) -> tuple[FunctionCall, ...]:
    """The function calls of a content, arguments assembled."""
    return calls_of(raw_parts(wire_bytes))


def with_assembled_calls(parts: Iterable[RawPart]) -> list[RawPart]:
    """The parts with every call that came in pieces as one part, in the place of its opening part.

    The provider refuses pieces: it counts them as calls without responses. Other keys of a piece (a
    signature) move to the opening part, or become a part of their own when it has them already.
    """
    assembler = CallAssembler()
    whole: list[RawPart] = []
    openings: list[int] = []
    calls: list[FunctionCall] = []
    for part in parts:
        if assembler.continues_with(part):
            whole += _move_siblings(whole, openings[-1], part)
        else:
            if _opens(call_of(part)):
                openings.append(len(whole))
            whole.append(part)
        calls += assembler.add(part)
    for place, call in zip(openings, [*calls, *assembler.close()], strict=True):
        whole[place] = _assembled(whole[place], call)
    return whole


def _opens(raw: Mapping[str, Any] | None) -> bool:
    name = raw.get("name") if raw else None
    return isinstance(name, str) and bool(name)


def _move_siblings(parts: list[RawPart], opening: int, piece: RawPart) -> list[RawPart]:
    """Move the other keys of a piece to the opening part; returns those that differ there, as a part."""
    beside = without_call(piece)
    parts[opening] = beside | parts[opening]
    rest = {key: value for key, value in beside.items() if value != parts[opening][key]}
    return [rest] if rest else []


def _assembled(part: RawPart, call: FunctionCall) -> RawPart:
    raw = call_of(part) or {}
    if not _PIECEWISE & raw.keys():
        return part
    kept = {name: value for name, value in raw.items() if name not in _PIECEWISE}
    return with_call(part, kept | {"args": call.args})


@dataclass(slots=True)
class _OpenCall:
    id: str
    name: str
    args: dict[str, Any] = field(default_factory=dict)
    unfinished: str = ""


class CallAssembler:
    """Assembles calls part by part; each call is returned once, when it is complete."""

    def __init__(self) -> None:
        self._count = 0
        self._open: _OpenCall | None = None

    def add(self, part: Mapping[str, Any]) -> list[FunctionCall]:
        raw = call_of(part)
        if raw is None:
            return self.close() if _has_substance(part) else []
        done = self.close() if raw.get("name") else []
        current = self._open or self._opened(raw)
        if current is None:
            return done
        _extend(current, raw)
        return done if raw.get("willContinue") is True else done + self.close()

    @property
    def is_open(self) -> bool:
        """Whether a call has begun and its last piece has not come."""
        return self._open is not None

    def continues_with(self, part: Mapping[str, Any]) -> bool:
        """Whether the part is a nameless piece of the open call."""
        raw = call_of(part)
        return self._open is not None and raw is not None and not raw.get("name")

    def close(self) -> list[FunctionCall]:
        """The open call, if any: its closing part may be missing."""
        current, self._open = self._open, None
        if current is None:
            return []
        self._count += 1
        return [FunctionCall(self._count - 1, current.id, current.name, current.args)]

    def _opened(self, raw: Mapping[str, Any]) -> _OpenCall | None:
        name = raw.get("name")
        # A nameless call without an open one is a stray closing part.
        self._open = _OpenCall(str(raw.get("id") or ""), name) if name and isinstance(name, str) else None
        return self._open


def _has_substance(part: Mapping[str, Any]) -> bool:
    return any(value not in ("", None) for value in part.values())


def _extend(current: _OpenCall, raw: Mapping[str, Any]) -> None:
    args = raw.get("args")
    if isinstance(args, dict):
        current.args.update(args)
    pieces = raw.get("partialArgs")
    for piece in pieces if isinstance(pieces, list) else ():
        if isinstance(piece, dict):
            _place(current, piece)


def _place(current: _OpenCall, piece: Mapping[str, Any]) -> None:
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


_SUGGESTION_KEYS = ("searchSuggestions", "search_suggestions")


def tool_type(part: RawPart) -> str:
    """Which tool of the provider a part is of."""
    use = _use(part)
    return str(use.get("toolType") or use.get("tool_type") or "")


def tool_use(part: RawPart) -> dict[str, Any]:
    """What a tool of the provider was asked, or returned, without the HTML of search suggestions."""
    found = _use(part).get("args") or _use(part).get("response")
    told = found if isinstance(found, dict) else {}
    return {name: value for name, value in told.items() if name not in _SUGGESTION_KEYS}


def asked_tool(part: RawPart) -> str:
    """Which tool of the provider begins in this part, as `tool_type` or CODE_EXECUTION; empty for none."""
    if any(part.get(key) is not None for key in ("executableCode", "executable_code")):
        return "CODE_EXECUTION"
    return tool_type(part) if any(part.get(key) is not None for key in ("toolCall", "tool_call")) else ""


def _use(part: RawPart) -> dict[str, Any]:
    keys = ("toolCall", "tool_call", "toolResponse", "tool_response")
    return next((part[key] for key in keys if isinstance(part.get(key), dict)), {})
