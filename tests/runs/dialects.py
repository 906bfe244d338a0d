"""The same events as a provider of either dialect would send them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson
import pytest

from sessions_app.gemini.gateway import Gateway
from sessions_app.gemini.openai_gateway import OpenAIGateway
from sessions_app.prompt.dialects.openai_chunks import OBJECT
from tests.prompt.examples import chunk

Wire = dict[str, Any]


def generated(*parts: Wire, reason: Any = None, beside: Wire | None = None, **more: Any) -> bytes:
    """An event of Gemini; `beside` stands in its candidate, `more` around it."""
    ended = {} if reason is None else {"finishReason": reason}
    event: Wire = orjson.loads(chunk(*parts, **ended, **(beside or {})))
    return orjson.dumps(event | more)


def completed(*parts: Wire, reason: Any = None, beside: Wire | None = None, **more: Any) -> bytes:
    """The same as a chat completion chunk; a part of an unknown kind is keys of the delta."""
    delta: Wire = {}
    for part in parts:
        if "functionCall" in part:
            delta.setdefault("tool_calls", []).append(_tool_call(part["functionCall"]))
        else:
            delta |= {"content": part["text"]} if "text" in part else part
    ended = {} if reason is None else {"finish_reason": reason}
    choice = {"index": 0, "delta": delta} | ended | (beside or {})
    return orjson.dumps({"object": OBJECT, "choices": [choice]} | more)


def _tool_call(call: Wire) -> Wire:
    function = {"name": call["name"], "arguments": orjson.dumps(call["args"]).decode()}
    return {"id": call.get("id", ""), "type": "function", "function": function}


@dataclass(frozen=True, slots=True)
class Dialect:
    """`event` writes parts, a finish reason and unknown keys; `unsafe` is a reason that cuts an answer.

    `part_place` stands before the key of an unknown part, `key_place` before one beside the parts.
    """

    gateway: type[Gateway]
    event: Callable[..., bytes]
    unsafe: str
    part_place: str
    key_place: str


DIALECTS = {
    "gemini": Dialect(Gateway, generated, "SAFETY", "", "candidates[]."),
    "openai": Dialect(OpenAIGateway, completed, "content_filter", "delta.", "choices[]."),
}

in_both_dialects = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
