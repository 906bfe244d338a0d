"""From the objects of a Gemini answer to chat completions, whole and in chunks.

Forms observed on the live endpoint in 2026: keys in alphabetical order, no `index` on a streamed
tool call, which always arrives whole, and `[DONE]` at the end.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

import orjson

from sessions_app.emulator.wire_enums import BLOCK_REASONS, FINISH_REASONS, name_of
from sessions_app.emulator.wire_model import JsonObject

_FINISH = {"STOP": "stop", "MAX_TOKENS": "length"}
_CALL_FAILURES = frozenset({"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"})

DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class Completion:
    """The envelope of one completion. `model` is the requested name, `created` seconds since 1970."""

    model: str
    created: int
    wants_usage: bool = False
    _calls: Iterator[int] = field(default_factory=count)

    def full_response(self, answer: JsonObject) -> JsonObject:
        choices = self._choices(answer, "message")
        return self._envelope("chat.completion", choices, answer) | {"usage": usage(answer)}

    def stream(self, chunks: Sequence[JsonObject]) -> Iterator[JsonObject]:
        for chunk in chunks:
            envelope = self._envelope("chat.completion.chunk", self._choices(chunk, "delta"), chunk)
            yield envelope | ({"usage": usage(chunk)} if self.wants_usage else {})

    def _choices(self, answer: JsonObject, key: str) -> list[JsonObject]:
        """`key` is "message" or "delta". A call without an id gets one that no other answer has: clients name
        calls of all rounds by their ids alone.
        """
        ids = (_call_id(f"{answer.get('responseId', '')} {number}") for number in self._calls)
        return [_choice(candidate, key, ids) for candidate in _candidates(answer)]

    def _envelope(self, kind: str, choices: list[JsonObject], answer: JsonObject) -> JsonObject:
        named = {
            "created": self.created,
            "id": answer.get("responseId", ""),
            "model": self.model,
            "object": kind,
        }
        return {"choices": choices, **named}


def sse_events(chunks: Iterator[JsonObject]) -> list[bytes]:
    return [*(b"data: " + orjson.dumps(chunk) + b"\n\n" for chunk in chunks), DONE]


def usage(answer: JsonObject) -> JsonObject:
    """`total_tokens` includes the thoughts, which `completion_tokens` leaves out."""
    counts = answer.get("usageMetadata", {})
    tokens: JsonObject = {
        "completion_tokens": counts.get("candidatesTokenCount", 0),
        "prompt_tokens": counts.get("promptTokenCount", 0),
    }
    if cached := counts.get("cachedContentTokenCount"):
        tokens["prompt_tokens_details"] = {"cached_tokens": cached}
    return tokens | {"total_tokens": counts.get("totalTokenCount", 0)}


def _candidates(answer: JsonObject) -> list[JsonObject]:
    """The candidates; for a blocked prompt one that holds nothing but the reason."""
    if "promptFeedback" not in answer:
        return list(answer.get("candidates", []))
    reason = name_of(answer["promptFeedback"].get("blockReason", ""), BLOCK_REASONS)
    return [{"finishReason": reason, "index": 0}]


def _choice(candidate: JsonObject, key: str, ids: Iterator[str]) -> JsonObject:
    parts = candidate.get("content", {}).get("parts", [])
    calls = [_tool_call(part, ids) for part in parts if "functionCall" in part]
    message = _signature_of(parts) | _text_of(parts) | {"role": "assistant"}
    if calls:
        message["tool_calls"] = calls
    choice: JsonObject = {key: message, "index": candidate.get("index", 0)}
    finish = name_of(candidate.get("finishReason", ""), FINISH_REASONS)
    if reason := finish_reason(finish, has_calls=bool(calls)):
        choice = {"finish_reason": reason} | choice
    return choice


def finish_reason(reason: str, *, has_calls: bool) -> str:
    """`finish_reason` for a Gemini finishReason; "" while the answer goes on."""
    if not reason or (has_calls and reason == "STOP"):
        return "tool_calls" if reason else ""
    if reason in _CALL_FAILURES:
        return f"function_call_filter: {reason}"
    return _FINISH.get(reason, f"content_filter: {reason}")


def _text_of(parts: Sequence[JsonObject]) -> JsonObject:
    """The text, thoughts between tags; nothing when there is only a call."""
    text = "".join(
        f"<thought>{part['text']}</thought>" if part.get("thought") else part["text"]
        for part in parts
        if "text" in part
    )
    return {"content": text} if text else {}


def _signature_of(parts: Sequence[JsonObject]) -> JsonObject:
    signatures = [part["thoughtSignature"] for part in parts if "text" in part and "thoughtSignature" in part]
    google: JsonObject = {"thought_signature": signatures[0]} if signatures else {}
    if any(part.get("thought") for part in parts):
        google["thought"] = True
    return {"extra_content": {"google": google}} if google else {}


def _call_id(text: str) -> str:
    """The form seen in public logs: `function-call-` and an unsigned number of 64 bits."""
    return f"function-call-{int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])}"


def _tool_call(part: JsonObject, ids: Iterator[str]) -> JsonObject:
    call = part["functionCall"]
    signature = part.get("thoughtSignature")
    extra: JsonObject = {"extra_content": {"google": {"thought_signature": signature}}} if signature else {}
    arguments = orjson.dumps(call.get("args", {})).decode()
    return extra | {
        "function": {"arguments": arguments, "name": call.get("name", "")},
        "id": call.get("id") or next(ids),
        "type": "function",
    }
