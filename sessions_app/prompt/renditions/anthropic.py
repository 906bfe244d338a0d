"""The Anthropic form: messages with content blocks, `system` at the top, cache marks on panels (B4, B5)."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from sessions_app.prompt.renditions import dynamic_panels
from sessions_app.prompt.renditions.assembly import assemble_messages, declarations_of, schema_of
from sessions_app.prompt.renditions.blocks import Answered, Block, Called, Media, Message, Text
from sessions_app.prompt.renditions.order import alternate
from sessions_app.prompt.renditions.original import Original

MAX_TOKENS = 128_000
"""Where the original sets no limit; this provider demands one (reference B4)."""

Wire = dict[str, Any]

_CACHED: Wire = {"cache_control": {"type": "ephemeral"}}


def render(original: Original, *, changed: Mapping[str, datetime] | None = None) -> Wire:
    """A request of the Messages API. Gemini's signatures have no place there and are left out."""
    messages = alternate(_spoken(assemble_messages(original, repeats_system=True, changed=changed)))
    marked = breakpoints(dynamic_panels.count(original))
    config = original.config
    told: Wire = {"model": original.model, "max_tokens": config.get("maxOutputTokens", MAX_TOKENS)}
    if original.static_text:
        told["system"] = original.static_text if marked else _cached_system(original.static_text)
    if declared := declarations_of(original.tools):
        told["tools"] = [_tool(one) for one in declared]
    if "temperature" in config:
        # The scale ends at 1 here and at 2 there.
        told["temperature"] = min(config["temperature"], 1.0)
    return told | {"messages": _Writer(marked).write(messages)}


def breakpoints(count: int) -> list[int]:
    """Which of `count` panel results carry a cache mark: ceil(n·q/4) − 1 for the four quarters."""
    return sorted({-(-count * quarter // 4) - 1 for quarter in (1, 2, 3, 4)}) if count else []


class _Writer:
    """Panels stand first, so the first answers written are theirs."""

    def __init__(self, marked: list[int]) -> None:
        self._marked = marked
        self._answers = 0

    def write(self, messages: list[Message]) -> list[Wire]:
        return [
            {"role": message.role, "content": [self._block(block) for block in message.blocks]}
            for message in messages
        ]

    def _block(self, block: Block) -> Wire:
        match block:
            case Text(text):
                return {"type": "text", "text": text}
            case Called(id_, name, args):
                return {"type": "tool_use", "id": id_, "name": name, "input": args}
            case Answered():
                return self._answer(block)
            case Media():
                return _media(block)

    def _answer(self, answer: Answered) -> Wire:
        told: Wire = {"type": "tool_result", "tool_use_id": answer.id, "content": answer.content}
        if answer.failed:
            told["is_error"] = True
        self._answers += 1
        return told | (_CACHED if self._answers - 1 in self._marked else {})


def _spoken(messages: Iterable[Message]) -> list[Message]:
    """Without blank texts, which are refused here; what was only a place for a signature goes too."""
    told = []
    for message in messages:
        blocks = (block for block in message.blocks if not isinstance(block, Text) or block.text.strip())
        told.append(replace(message, blocks=tuple(blocks)))
    return [message for message in told if message.blocks]


def _cached_system(text: str) -> list[Wire]:
    return [{"type": "text", "text": text} | _CACHED]


def _tool(declaration: Wire) -> Wire:
    told = {key: declaration[key] for key in ("name", "description") if declaration.get(key)}
    return told | {"input_schema": schema_of(declaration)}


def _media(media: Media) -> Wire:
    kind = "image" if media.mime.startswith("image/") else "document"
    if media.uri:
        return {"type": kind, "source": {"type": "url", "url": media.uri}}
    return {"type": kind, "source": {"type": "base64", "media_type": media.mime, "data": media.data}}
