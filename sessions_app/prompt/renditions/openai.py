"""The OpenAI-compatible form: chat completions, with Gemini's signatures in `extra_content.google`.

Two ways in: `render` shows a payload as it would be written for this dialect (system message,
panels), `request_of` translates a finished Gemini body for the gateway and changes nothing but
its form. Shapes: seed 2, "Tanda tangan untuk kompatibilitas OpenAI"; gemini-wire §6, 9.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sessions_app.prompt import wire
from sessions_app.prompt.renditions.assembly import assemble_messages, declarations_of, schema_of
from sessions_app.prompt.renditions.blocks import Answered, Block, Called, Media, Message, Text, messages_in
from sessions_app.prompt.renditions.original import Original

Wire = dict[str, Any]

DOOR = "(OpenAI-compatible)"
"""How the name of a gateway ends that speaks this dialect: words for a person."""

_OPTIONS = {
    "temperature": "temperature",
    "topP": "top_p",
    "maxOutputTokens": "max_completion_tokens",
    "stopSequences": "stop",
    "seed": "seed",
}
_AUDIO = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mp3": "mp3", "audio/mpeg": "mp3"}
_HUMP = re.compile(r"(?=[A-Z])")


def render(
    original: Original, *, panels_as_calls: bool = True, changed: Mapping[str, datetime] | None = None
) -> Wire:
    """A chat completion request: the static layer is the system message, then panels and conversation.

    With `panels_as_calls` off the dynamic layer is one user message of JSON.
    """
    messages = assemble_messages(original, panels_as_calls=panels_as_calls, changed=changed)
    system: list[Wire] = [{"role": "system", "content": original.static_text}] if original.static_text else []
    return _request(original.model, [*system, *_written(messages)], original.tools, original.config)


def request_of(model: str, body: bytes) -> bytes:
    """The chat completion request that says what this generateContent body says, asking for a stream."""
    asked = wire.loads(body)
    system = _instruction(asked.get("systemInstruction"))
    request = _request(
        model.removeprefix("models/"),
        [*system, *_written(messages_in(asked.get("contents", ())))],
        asked.get("tools", ()),
        asked.get("generationConfig", {}),
        asked.get("cachedContent", ""),
    )
    return wire.dumps(request | {"stream": True, "stream_options": {"include_usage": True}})


def _request(
    model: str, messages: list[Wire], tools: Sequence[Wire], config: Wire, cached_content: str = ""
) -> Wire:
    told: Wire = {"model": model, "messages": messages}
    if declared := declarations_of(tools):
        told["tools"] = [_tool(one) for one in declared]
    told |= {name: config[key] for key, name in _OPTIONS.items() if key in config}
    google = _google(config, cached_content)
    return told | ({"extra_body": {"google": google}} if google else {})


def _tool(declaration: Wire) -> Wire:
    told = {key: declaration[key] for key in ("name", "description") if declaration.get(key)}
    return {"type": "function", "function": told | {"parameters": schema_of(declaration)}}


def _google(config: Wire, cached_content: str) -> Wire:
    thinking = {_HUMP.sub("_", key).lower(): value for key, value in config.get("thinkingConfig", {}).items()}
    if isinstance(thinking.get("thinking_level"), str):
        thinking["thinking_level"] = thinking["thinking_level"].lower()
    cached = {"cached_content": cached_content} if cached_content else {}
    return ({"thinking_config": thinking} if thinking else {}) | cached


def _instruction(instruction: Any) -> list[Wire]:
    parts = instruction.get("parts", ()) if isinstance(instruction, dict) else ()
    text = "\n\n".join(part["text"] for part in parts if part.get("text"))
    return [{"role": "system", "content": text}] if text else []


def _written(messages: Iterable[Message]) -> list[Wire]:
    return [one for message in messages for one in _write(message)]


def _write(message: Message) -> list[Wire]:
    if message.role == "assistant":
        return [_assistant(message)]
    # Answers first, each a message of its own; text beside them must not be lost (reference B10).
    told = [_tool_message(answer) for answer in message.answers]
    return [*told, {"role": "user", "content": _content(message.rest)}] if message.rest else told


def _assistant(message: Message) -> Wire:
    """One message for one content: its text, its calls, each signature where it was."""
    texts = [block for block in message.blocks if isinstance(block, Text)]
    content = "".join(block.text for block in texts)
    signatures = [block.signature for block in texts if block.signature]
    told: Wire = {"role": "assistant"}
    if content or not message.calls:
        told["content"] = content
    if message.calls:
        told["tool_calls"] = [_tool_call(call) for call in message.calls]
    return told | (_signed(signatures[-1]) if signatures else {})


def _tool_call(call: Called) -> Wire:
    function = {"name": call.name, "arguments": wire.dumps(call.args).decode()}
    told: Wire = {"id": call.id, "type": "function", "function": function}
    return told | (_signed(call.signature) if call.signature else {})


def _signed(signature: str) -> Wire:
    return {"extra_content": {"google": {"thought_signature": signature}}}


def _tool_message(answer: Answered) -> Wire:
    return {"role": "tool", "tool_call_id": answer.id, "name": answer.name, "content": answer.content}


def _content(blocks: Sequence[Block]) -> str | list[Wire]:
    """One text alone is a string; several parts stay apart."""
    if len(blocks) == 1 and isinstance(blocks[0], Text):
        return blocks[0].text
    return [_part(block) for block in blocks]


def _part(block: Block) -> Wire:
    if isinstance(block, Media):
        return _media(block)
    return {"type": "text", "text": block.text if isinstance(block, Text) else ""}


def _media(media: Media) -> Wire:
    url = media.uri or f"data:{media.mime};base64,{media.data}"
    if media.mime in _AUDIO and media.data:
        return {"type": "input_audio", "input_audio": {"data": media.data, "format": _AUDIO[media.mime]}}
    if media.mime.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "file", "file": {"file_data": url}}
