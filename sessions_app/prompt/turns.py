"""Turns as the prompt core sees them: a key, a kind and the wire JSON of one content.

The bytes of a turn are written once and never serialised again, so the same turn is the same
bytes in every request (performance.md §4, and what keeps an implicit cache prefix stable).
"""

import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import reduce
from typing import Any, cast

from google.genai import types
from pydantic import ValidationError

from sessions_app.prompt import wire
from sessions_app.prompt.calls import Answer, Call, call_of, calls_of

__all__ = [
    "FILLER",
    "Answer",
    "Call",
    "PartView",
    "Turn",
    "TurnKind",
    "calls_in",
    "compressed_history",
    "decode_signature",
    "has_parts",
    "model_text",
    "parts_of",
    "raw_parts",
    "restore",
    "text_of",
    "tool_response",
    "user_task",
]

FILLER = wire.dumps({"role": "model", "parts": [{"text": "ok"}]})
"""The content that a repair puts where the rules want an answer of the model."""

_SUMMARY = "Summary of the earlier conversation, which is not repeated here:\n\n"


class TurnKind(StrEnum):
    USER_TASK = "user_task"
    MODEL_RESPONSE = "model_response"
    FUNCTION_CALLING = "function_calling"
    TOOL_RESPONSE = "tool_response"
    COMPRESSED_HISTORY = "compressed_history"

    @property
    def is_model(self) -> bool:
        return self in (TurnKind.MODEL_RESPONSE, TurnKind.FUNCTION_CALLING)

    @property
    def role(self) -> str:
        return "model" if self.is_model else "user"


@dataclass(frozen=True, slots=True)
class Turn:
    """One content of the history. `route` names whose signatures it holds; empty when unknown."""

    key: str
    kind: TurnKind
    wire: bytes
    route: str = ""


_KINDS = {
    "text": "text",
    "functionCall": "function_call",
    "functionResponse": "function_response",
    "inlineData": "inline_data",
    "fileData": "file_data",
    "executableCode": "executable_code",
    "codeExecutionResult": "code_execution_result",
    "toolCall": "tool_call",
    "toolResponse": "tool_response",
}


@dataclass(frozen=True, slots=True)
class PartView:
    """One part for reading. `raw` is the part as the wire wrote it; `signature` is decoded."""

    index: int
    kind: str
    text: str
    raw: dict[str, Any]
    signature: bytes | None

    @property
    def call(self) -> dict[str, Any] | None:
        """The `functionCall` object: `name`, `args` and perhaps `id`."""
        return call_of(self.raw)

    @property
    def response(self) -> dict[str, Any] | None:
        """The `functionResponse` object: `name`, `response` and perhaps `id`."""
        found = self.raw.get("functionResponse", self.raw.get("function_response"))
        return found if isinstance(found, dict) else None


def user_task(key: str, text: str, files: Sequence[dict[str, Any]] = ()) -> Turn:
    """The turn of a person's message: the parts of its files (`prompt.media`) first, its words last."""
    words = [{"text": wire.well_formed(text)}] if text or not files else []
    return Turn(key, TurnKind.USER_TASK, _content("user", [*files, *words]))


def model_text(key: str, text: str) -> Turn:
    """An answer in a person's words: one part, and nothing that a model signed."""
    return Turn(key, TurnKind.MODEL_RESPONSE, _content("model", [{"text": wire.well_formed(text)}]))


def compressed_history(key: str, summary: str) -> Turn:
    """A summary standing in for older turns: user text that says what it is."""
    text = _SUMMARY + wire.well_formed(summary)
    return Turn(key, TurnKind.COMPRESSED_HISTORY, _content("user", [{"text": text}]))


def tool_response(key: str, answers: Sequence[Answer]) -> Turn:
    """All answers of one step in ONE content, in call order (seed 2: FC1+sig, FC2, FR1, FR2)."""
    ordered = sorted(answers, key=lambda answer: answer.call.index)
    return Turn(key, TurnKind.TOOL_RESPONSE, _content("user", [_response(answer) for answer in ordered]))


def parts_of(wire_bytes: bytes) -> tuple[PartView, ...]:
    """The parts of a content, for pages and checks; anything that is not a part is left out."""
    return tuple(_view(index, part) for index, part in enumerate(raw_parts(wire_bytes)))


def raw_parts(wire_bytes: bytes) -> list[dict[str, Any]]:
    """The parts as plain objects, as the wire wrote them."""
    content = wire.loads(wire_bytes)
    parts = content.get("parts") if isinstance(content, dict) else None
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []


def has_parts(wire_bytes: bytes) -> bool:
    return bool(raw_parts(wire_bytes))


def calls_in(wire_bytes: bytes) -> tuple[Call, ...]:
    """The function calls of a content, arguments assembled."""
    return calls_of(raw_parts(wire_bytes))


def text_of(wire_bytes: bytes) -> str:
    """The text a person reads, thoughts left out. Used for search and titles."""
    texts = (view.text for view in parts_of(wire_bytes) if view.kind == "text")
    return "".join(texts)


def restore(wire_bytes: bytes) -> types.Content:
    """The content as the SDK's type; the SDK decodes signatures itself (gemini-wire §0.2).

    The SDK refuses keys it does not know, so those are dropped here, and only here: the stored
    bytes keep them. Raises pydantic's ValidationError for a value of the wrong shape.
    """
    content = {"role": wire.loads(wire_bytes).get("role"), "parts": raw_parts(wire_bytes)}
    try:
        return types.Content.model_validate(content)
    except ValidationError as error:
        _drop_unknown(content, error)
    return types.Content.model_validate(content)


def _drop_unknown(content: dict[str, Any], error: ValidationError) -> None:
    for problem in error.errors():
        if problem["type"] == "extra_forbidden":
            *path, key = problem["loc"]
            holder = reduce(lambda value, step: value[step], path, cast(Any, content))
            del holder[key]


def _content(role: str, parts: list[dict[str, Any]]) -> bytes:
    return wire.dumps({"role": role, "parts": parts})


def _response(answer: Answer) -> dict[str, Any]:
    call = answer.call
    echoed = {"id": call.id} if call.id else {}
    return {"functionResponse": {**echoed, "name": call.name, "response": answer.response}}


def _view(index: int, part: dict[str, Any]) -> PartView:
    text = part.get("text")
    return PartView(index, _kind(part), text if isinstance(text, str) else "", part, _signature(part))


def _kind(part: dict[str, Any]) -> str:
    if part.get("thought") is True:
        return "thought"
    found = (kind for key, kind in _KINDS.items() if key in part or kind in part)
    return next(found, "other")


def _signature(part: dict[str, Any]) -> bytes | None:
    value = part.get("thoughtSignature", part.get("thought_signature"))
    return decode_signature(value) if isinstance(value, str) else None


def decode_signature(value: str) -> bytes:
    """Signature bytes from either base64 alphabet, padded or not; raw bytes when it is not base64.

    For showing and comparing only: what is sent back is always the string as it came.
    """
    standard = value.translate(str.maketrans("-_", "+/")).rstrip("=")
    try:
        return binascii.a2b_base64(standard + "=" * (-len(standard) % 4), strict_mode=True)
    except (binascii.Error, ValueError):
        return value.encode(errors="replace")
