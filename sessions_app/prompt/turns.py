"""Turns of the prompt core: a key, a kind and the wire JSON of one content.

A turn is serialised once, so it has the same bytes in every request (performance.md §4); implicit
caching depends on that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import reduce
from typing import Any, cast

from google.genai import types
from pydantic import ValidationError

from sessions_app.prompt import wire
from sessions_app.prompt.calls import CallResponse
from sessions_app.prompt.parts import RawPart, content, raw_parts, response_part, text_part

FILLER = wire.dumps(content("model", [text_part("ok")]))
"""The content of a model turn that a repair inserts."""

CLOSING = wire.dumps(
    content("model", [text_part("(Stopped here. No answer was given. Written by Pipeweb.)")])
)
"""The content of the stored turn after a tool round that brought no answer."""

INSERTED = frozenset({FILLER, CLOSING})
"""The contents of model turns that no model wrote and no exchange has."""

IMPORTED = "imported"
"""The route of model turns from a history of elsewhere: nobody knows whose their signatures are."""

_SUMMARY = "Summary of a part of this conversation, which is not repeated here:\n\n"


class TurnKind(StrEnum):
    USER_TASK = "user_task"
    MODEL_RESPONSE = "model_response"
    FUNCTION_CALLING = "function_calling"
    TOOL_RESPONSE = "tool_response"
    COMPRESSED_HISTORY = "compressed_history"

    @property
    def is_model(self) -> bool:
        return self in _MODEL_KINDS

    @property
    def role(self) -> str:
        return "model" if self.is_model else "user"


_MODEL_KINDS = (TurnKind.MODEL_RESPONSE, TurnKind.FUNCTION_CALLING)


@dataclass(frozen=True, slots=True)
class Turn:
    """One content of the history. `route` is that of its signatures; empty when unknown.

    `refused_in` is the number of the exchange in which the provider refused its signatures, 0 for one of
    another session.
    """

    key: str
    kind: TurnKind
    wire: bytes
    route: str = ""
    refused_in: int | None = None


def user_task(key: str, text: str, files: Sequence[RawPart] = ()) -> Turn:
    """A user's message: the parts of its files (`prompt.media`), then its text."""
    texts = [text_part(text)] if text or not files else []
    return Turn(key, TurnKind.USER_TASK, _content("user", [*files, *texts]))


def model_text(key: str, text: str) -> Turn:
    """An answer that a user wrote: one unsigned text part."""
    return Turn(key, TurnKind.MODEL_RESPONSE, _content("model", [text_part(text)]))


def closing_turn(key: str) -> Turn:
    """Ends a tool round without an answer, so that a message may follow."""
    return Turn(key, TurnKind.MODEL_RESPONSE, CLOSING)


def compressed_history(key: str, summary: str) -> Turn:
    """A summary of older turns, as user text."""
    return Turn(key, TurnKind.COMPRESSED_HISTORY, _content("user", [text_part(_SUMMARY + summary)]))


def tool_response(key: str, answers: Sequence[CallResponse]) -> Turn:
    """All responses of one step in ONE content, in call order (seed 2: FC1+sig, FC2, FR1, FR2)."""
    ordered = sorted(answers, key=lambda answer: answer.call.index)
    return Turn(key, TurnKind.TOOL_RESPONSE, _content("user", [_response(answer) for answer in ordered]))


def restore(wire_bytes: bytes) -> types.Content:
    """The content as the SDK's type; the SDK decodes signatures itself (gemini-wire §0.2).

    The SDK rejects unknown keys, so they are dropped here; the stored bytes keep them. Raises pydantic's
    ValidationError for a value of the wrong type.
    """
    known = content(wire.loads(wire_bytes).get("role"), raw_parts(wire_bytes))
    try:
        return types.Content.model_validate(known)
    except ValidationError as error:
        _drop_unknown(known, error)
    return types.Content.model_validate(known)


def _drop_unknown(content: dict[str, Any], error: ValidationError) -> None:
    for problem in error.errors():
        if problem["type"] == "extra_forbidden":
            *path, key = problem["loc"]
            holder = reduce(lambda value, step: value[step], path, cast(Any, content))
            del holder[key]


def _content(role: str, parts: Sequence[RawPart]) -> bytes:
    return wire.dumps(content(role, parts))


def _response(answer: CallResponse) -> RawPart:
    return response_part(answer.call.name, answer.response, call_id=answer.call.id)
