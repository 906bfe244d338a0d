"""A streamed chat completion chunk, read as the Gemini chunk that says the same.

The raw chunk stays the evidence; whoever folds or shows it reads it through `gemini_chunk`. What
public captures of the live door show: a tool call comes whole in one chunk, parallel calls in
chunks of their own; every delta of thoughts has `thought` beside it, the first one begins with
`<thought>`, the first delta of the answer with `</thought>`; `total_tokens` includes the thoughts,
`completion_tokens` does not.
"""

import re
from collections.abc import Mapping
from typing import Any

from sessions_app.prompt import wire

Wire = dict[str, Any]

OBJECT = "chat.completion.chunk"

_FINISH = {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}
_FILTERED = re.compile(r"(?:content_filter|function_call_filter): *(\w+)")
_OPEN, _CLOSE = "<thought>", "</thought>"


def gemini_chunk(chunk: Wire) -> Wire:
    """The chunk in Gemini's form; one that is no chat completion chunk is returned as it is."""
    if chunk.get("object") != OBJECT:
        return chunk
    choices = chunk.get("choices")
    found = [one for one in choices if isinstance(one, dict)] if isinstance(choices, list) else []
    told: Wire = {"candidates": [_candidate(choice) for choice in found]} if found else {}
    if isinstance(chunk.get("usage"), dict):
        told["usageMetadata"] = _usage(chunk["usage"])
    names = {"modelVersion": chunk.get("model"), "responseId": chunk.get("id")}
    return told | {key: value for key, value in names.items() if isinstance(value, str)}


def _candidate(choice: Wire) -> Wire:
    parts = _parts(_as_dict(choice.get("delta")))
    told: Wire = {"content": {"role": "model", "parts": parts}} if parts else {}
    if reason := choice.get("finish_reason"):
        filtered = _FILTERED.fullmatch(str(reason))
        told["finishReason"] = filtered[1] if filtered else _FINISH.get(str(reason), str(reason).upper())
    return told | {"index": choice.get("index") or 0}


def _parts(delta: Wire) -> list[Wire]:
    google = _google(delta)
    content = delta.get("content")
    parts = _texts(content if isinstance(content, str) else "", bool(google.get("thought")))
    if signature := google.get("thought_signature"):
        parts = _sign(parts, signature)
    calls = delta.get("tool_calls")
    return parts + [_call(one) for one in (calls if isinstance(calls, list) else ()) if isinstance(one, dict)]


def _texts(content: str, is_thought: bool) -> list[Wire]:
    """The thought and the text of one delta; the tags only mark where thoughts begin and end."""
    if not is_thought:
        text = content.removeprefix(_CLOSE)
        return [{"text": text}] if text else []
    thought, _, text = content.removeprefix(_OPEN).partition(_CLOSE)
    parts: list[Wire] = [{"text": thought, "thought": True}] if thought else []
    return parts + (_texts(text, is_thought=text.startswith(_OPEN)) if text else [])


def _sign(parts: list[Wire], signature: Any) -> list[Wire]:
    """On the text that came with it; one that came alone stands on an empty text, as Gemini sends it."""
    if not parts or parts[-1].get("thought"):
        return [*parts, {"text": "", "thoughtSignature": signature}]
    return [*parts[:-1], parts[-1] | {"thoughtSignature": signature}]


def _call(told: Wire) -> Wire:
    function = _as_dict(told.get("function"))
    named = {"id": told["id"]} if told.get("id") else {}
    call = named | {"name": function.get("name", ""), "args": _arguments(function.get("arguments"))}
    signature = _google(told).get("thought_signature")
    return {"functionCall": call} | ({"thoughtSignature": signature} if signature else {})


def _arguments(text: Any) -> Wire:
    """What is no JSON object becomes an empty one (reference B4)."""
    try:
        return _as_dict(wire.loads(text)) if isinstance(text, str) else {}
    except ValueError:
        return {}


def _usage(usage: Mapping[str, Any]) -> Wire:
    def count(of: Mapping[str, Any], name: str) -> int:
        value = of.get(name)
        return value if isinstance(value, int) else 0

    prompt, output, total = (count(usage, f"{name}_tokens") for name in ("prompt", "completion", "total"))
    told = {"promptTokenCount": prompt, "candidatesTokenCount": output, "totalTokenCount": total}
    if cached := count(_as_dict(usage.get("prompt_tokens_details")), "cached_tokens"):
        told["cachedContentTokenCount"] = cached
    thoughts = total - prompt - output
    return told | ({"thoughtsTokenCount": thoughts} if thoughts > 0 else {})


def _google(value: Wire) -> Wire:
    return _as_dict(_as_dict(value.get("extra_content")).get("google"))


def _as_dict(value: Any) -> Wire:
    return value if isinstance(value, dict) else {}
