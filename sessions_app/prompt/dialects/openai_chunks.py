"""Chunks of chat completions (OpenAI-compatible) as Gemini's.

Gemini's signatures are in `extra_content.google`. Recorded chunks: a tool call comes in one chunk, parallel
calls in chunks of their own; every delta of thoughts has `thought` set, the first one begins with
`<thought>`, the first delta of the answer with `</thought>`; `total_tokens` includes the thoughts,
`completion_tokens` does not.

What this version does not know is kept under its place in the chunk (`choices[].mood`), which is no key of
Gemini's: an unknown key of a delta as a part, one of a tool call beside the call, any other beside the
candidates. Null and empty values say nothing in this format.
"""

import re
from collections.abc import Mapping
from typing import Any

from sessions_app.prompt import wire
from sessions_app.prompt.outcomes import is_unknown
from sessions_app.prompt.parts import call_part, content, with_signature
from sessions_app.prompt.wire import as_dict

Wire = dict[str, Any]

OBJECT = "chat.completion.chunk"

_KEYS = {
    "": "object id model created choices usage system_fingerprint service_tier",
    "choices[]": "index delta finish_reason logprobs",
    "delta": "role content tool_calls extra_content",
    "delta.extra_content": "google",
    "delta.extra_content.google": "thought thought_signature",
    "tool_calls[]": "index id type function extra_content",
    "tool_calls[].function": "name arguments",
    "usage": "prompt_tokens completion_tokens total_tokens prompt_tokens_details completion_tokens_details",
}
"""Those of the format and of the recordings, by object."""
_KNOWN_KEYS = {place: frozenset(names.split()) for place, names in _KEYS.items()}

FINISH_REASONS = {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}
_FILTERED = re.compile(r"(?:content_filter|function_call_filter): *(\w+)")
_OPEN, _CLOSE = "<thought>", "</thought>"


def gemini_chunk(chunk: Wire) -> Wire:
    """The chunk in Gemini's form; anything but a chat completion chunk is returned unchanged."""
    if chunk.get("object") != OBJECT:
        return chunk
    choices = chunk.get("choices")
    found = [one for one in choices if isinstance(one, dict)] if isinstance(choices, list) else []
    result = _news("", chunk)
    for choice in found:
        result |= _choice_news(choice)
    if found:
        result["candidates"] = [_candidate(choice) for choice in found]
    if isinstance(usage := chunk.get("usage"), dict):
        result |= _news("usage", usage) | {"usageMetadata": _usage(usage)}
    names = {"modelVersion": chunk.get("model"), "responseId": chunk.get("id")}
    return result | {key: value for key, value in names.items() if isinstance(value, str)}


def signature_in(value: Mapping[str, Any]) -> Any:
    """The signature that a message, a delta or a call has; None without one."""
    return _google(value).get("thought_signature")


def _news(place: str, value: Wire) -> Wire:
    """What this version does not know of the object at this place."""
    return {
        f"{place}.{key}".removeprefix("."): one
        for key, one in value.items()
        if key not in _KNOWN_KEYS[place] and one not in (None, "", [], {})
    }


def _choice_news(choice: Wire) -> Wire:
    """All but that of the delta and its calls, which is in the parts."""
    extra = as_dict(as_dict(choice.get("delta")).get("extra_content"))
    google = _news("delta.extra_content.google", as_dict(extra.get("google")))
    return _news("choices[]", choice) | _news("delta.extra_content", extra) | google


def _candidate(choice: Wire) -> Wire:
    parts = _delta_parts(as_dict(choice.get("delta")))
    result: Wire = {"content": content("model", parts)} if parts else {}
    if reason := choice.get("finish_reason"):
        result["finishReason"] = _finish_reason(str(reason))
    return result | {"index": choice.get("index") or 0}


def _finish_reason(reason: str) -> str:
    """Gemini's name; an unknown reason as it is spelled."""
    if filtered := _FILTERED.fullmatch(reason):
        return filtered[1]
    name = FINISH_REASONS.get(reason, reason.upper())
    return reason if is_unknown(name) else name


def _delta_parts(delta: Wire) -> list[Wire]:
    google = _google(delta)
    text = delta.get("content")
    parts = _texts(text if isinstance(text, str) else "", bool(google.get("thought")))
    if signature := signature_in(delta):
        parts = _sign(parts, signature)
    if text and not isinstance(text, str):
        parts.append({"delta.content": text})
    parts += [{key: value} for key, value in _news("delta", delta).items()]
    calls = delta.get("tool_calls")
    return parts + [
        _call_part(one) for one in (calls if isinstance(calls, list) else ()) if isinstance(one, dict)
    ]


def _texts(content: str, is_thought: bool) -> list[Wire]:
    """The thought and the text of one delta, without the tags around thoughts."""
    if not is_thought:
        text = content.removeprefix(_CLOSE)
        return [{"text": text}] if text else []
    thought, _, text = content.removeprefix(_OPEN).partition(_CLOSE)
    parts: list[Wire] = [{"text": thought, "thought": True}] if thought else []
    return parts + (_texts(text, is_thought=text.startswith(_OPEN)) if text else [])


def _sign(parts: list[Wire], signature: Any) -> list[Wire]:
    """Sign the text of the delta, or an empty text if there is none, as Gemini does."""
    if not parts or parts[-1].get("thought"):
        return [*parts, with_signature({"text": ""}, signature)]
    return [*parts[:-1], with_signature(parts[-1], signature)]


def _call_part(tool_call: Wire) -> Wire:
    """A tool call that names no function is a part of an unknown kind."""
    function = as_dict(tool_call.get("function"))
    if not function.get("name"):
        return {"delta.tool_calls[]": tool_call}
    args = _arguments(function.get("arguments"))
    call = call_part(function["name"], args, call_id=tool_call.get("id") or "")
    part = call | _news("tool_calls[]", tool_call) | _news("tool_calls[].function", function)
    signature = signature_in(tool_call)
    return with_signature(part, signature) if signature else part


def _arguments(text: Any) -> Wire:
    """An empty object for anything but a JSON object (reference B4)."""
    try:
        return as_dict(wire.loads(text)) if isinstance(text, str) else {}
    except ValueError:
        return {}


def _usage(usage: Mapping[str, Any]) -> Wire:
    """In Gemini's form. A count that is missing is not 0: nobody counted it."""
    details = as_dict(usage.get("prompt_tokens_details"))
    found = {
        "promptTokenCount": usage.get("prompt_tokens"),
        "candidatesTokenCount": usage.get("completion_tokens"),
        "totalTokenCount": usage.get("total_tokens"),
        "cachedContentTokenCount": details.get("cached_tokens") or None,
    }
    result = {name: count for name, count in found.items() if type(count) is int}
    prompt, output, total = (result.get(name) for name in list(found)[:3])
    thoughts = (total or 0) - prompt - (output or 0) if prompt is not None else 0
    return result | ({"thoughtsTokenCount": thoughts} if thoughts > 0 else {})


def _google(value: Mapping[str, Any]) -> Wire:
    return as_dict(as_dict(value.get("extra_content")).get("google"))
