"""Requests for chat completions (OpenAI-compatible); Gemini's signatures are in `extra_content.google`.

Shapes: seed 2, "Tanda tangan untuk kompatibilitas OpenAI"; gemini-wire §6, 9.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from sessions_app.prompt import wire
from sessions_app.prompt.dialects.messages import (
    Block,
    CallBlock,
    MediaBlock,
    Message,
    ResultBlock,
    TextBlock,
    declarations_of,
    joined,
    messages_in,
    schema_of,
)
from sessions_app.prompt.parts import parts_in

Wire = dict[str, Any]

_OPTIONS = {
    "temperature": "temperature",
    "topP": "top_p",
    "maxOutputTokens": "max_completion_tokens",
    "stopSequences": "stop",
    "seed": "seed",
}
TOLD_OPTIONS = frozenset({*_OPTIONS, "thinkingConfig"})
"""Members of a `generationConfig` that a chat completion says."""

TELLS_SIGNATURES = True

_AUDIO = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mp3": "mp3", "audio/mpeg": "mp3"}
_HUMP = re.compile(r"(?=[A-Z])")


def openai_request(model: str, body: bytes) -> bytes:
    """The streaming chat completion request for a generateContent body."""
    asked = wire.loads(body)
    system = _instruction(asked.get("systemInstruction"))
    request = chat_completion(
        model.removeprefix("models/"),
        [*system, *chat_messages(messages_in(asked.get("contents", ())))],
        asked.get("tools", ()),
        asked.get("generationConfig", {}),
        asked.get("cachedContent", ""),
    )
    return wire.dumps(request | {"stream": True, "stream_options": {"include_usage": True}})


def chat_completion(
    model: str, messages: list[Wire], tools: Sequence[Wire], config: Wire, cached_content: str = ""
) -> Wire:
    result: Wire = {"model": model, "messages": messages}
    if declared := declarations_of(tools):
        result["tools"] = [_tool(one) for one in declared]
    result |= {name: config[key] for key, name in _OPTIONS.items() if key in config}
    google = _google_options(config, cached_content)
    return result | ({"extra_body": {"google": google}} if google else {})


def _tool(declaration: Wire) -> Wire:
    result = {key: declaration[key] for key in ("name", "description") if declaration.get(key)}
    return {"type": "function", "function": result | {"parameters": schema_of(declaration)}}


def _google_options(config: Wire, cached_content: str) -> Wire:
    asked = config.get("thinkingConfig")
    members = asked.items() if isinstance(asked, dict) else ()
    thinking = {_HUMP.sub("_", key).lower(): value for key, value in members}
    if isinstance(thinking.get("thinking_level"), str):
        thinking["thinking_level"] = thinking["thinking_level"].lower()
    cached = {"cached_content": cached_content} if cached_content else {}
    return ({"thinking_config": thinking} if thinking else {}) | cached


def _instruction(instruction: Any) -> list[Wire]:
    text = "\n\n".join(part["text"] for part in parts_in(instruction) if part.get("text"))
    return [{"role": "system", "content": text}] if text else []


def chat_messages(messages: Iterable[Message]) -> list[Wire]:
    return [one for message in messages for one in _write(message)]


def _write(message: Message) -> list[Wire]:
    if message.role == "assistant":
        return [_assistant(message)]
    # Results first, each a message of its own, then the text (reference B10).
    result = [_tool_message(answer) for answer in message.answers]
    return [*result, {"role": "user", "content": _content(message.rest)}] if message.rest else result


def _assistant(message: Message) -> Wire:
    """One message: text, calls and signatures of one content."""
    texts = [block for block in message.blocks if isinstance(block, TextBlock)]
    content = joined(texts)
    signatures = [block.signature for block in texts if block.signature]
    result: Wire = {"role": "assistant"}
    if content or not message.calls:
        result["content"] = content
    if message.calls:
        result["tool_calls"] = [_tool_call(call) for call in message.calls]
    return result | (_signed(signatures[-1]) if signatures else {})


def _tool_call(call: CallBlock) -> Wire:
    function = {"name": call.name, "arguments": wire.dumps(call.args).decode()}
    result: Wire = {"id": call.id, "type": "function", "function": function}
    return result | (_signed(call.signature) if call.signature else {})


def _signed(signature: str) -> Wire:
    return {"extra_content": {"google": {"thought_signature": signature}}}


def _tool_message(answer: ResultBlock) -> Wire:
    return {"role": "tool", "tool_call_id": answer.id, "name": answer.name, "content": answer.content}


def _content(blocks: Sequence[Block]) -> str | list[Wire]:
    """A string for a single text, else a list of parts."""
    if len(blocks) == 1 and isinstance(blocks[0], TextBlock):
        return blocks[0].text
    return [_part(block) for block in blocks]


def _part(block: Block) -> Wire:
    if isinstance(block, MediaBlock):
        return _media(block)
    return {"type": "text", "text": block.text if isinstance(block, TextBlock) else ""}


def _media(media: MediaBlock) -> Wire:
    url = media.uri or f"data:{media.mime};base64,{media.data}"
    if media.mime in _AUDIO and media.data:
        return {"type": "input_audio", "input_audio": {"data": media.data, "format": _AUDIO[media.mime]}}
    if media.mime.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "file", "file": {"file_data": url}}
