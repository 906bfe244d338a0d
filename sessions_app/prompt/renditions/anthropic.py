"""The Anthropic rendition: content blocks, `system` at the top, cache marks on panels (B4, B5)."""

import base64
import binascii
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from sessions_app.prompt.dialects.messages import (
    Block,
    CallBlock,
    MediaBlock,
    Message,
    ResultBlock,
    TextBlock,
    declarations_of,
    schema_of,
)
from sessions_app.prompt.renditions import assembly
from sessions_app.prompt.renditions.assembly import UNKNOWN_TIMES, alternate, assemble_messages
from sessions_app.prompt.renditions.earlier_texts import true_of_all_formats
from sessions_app.prompt.renditions.original import Original
from sessions_app.prompt.renditions.stand_ins import media_text, tools_for
from sessions_app.prompt.renditions.times import KnownTimes

MAX_TOKENS = 128_000
"""If the original sets no limit; Anthropic requires one (reference B4)."""

TOLD_OPTIONS = frozenset({"maxOutputTokens"})
"""Members of a `generationConfig` that the rendition says."""

TELLS_SIGNATURES = False

Wire = dict[str, Any]

_KINDS = {
    "application/pdf": "document",
    **dict.fromkeys(("image/jpeg", "image/png", "image/gif", "image/webp"), "image"),
}
"""Blocks by the types of their files (reference: the types of its SDK)."""

_CACHED: Wire = {"cache_control": {"type": "ephemeral"}}


def render(original: Original, *, times: KnownTimes = UNKNOWN_TIMES) -> Wire:
    """A request of the Messages API. Gemini's signatures are left out."""
    messages = alternate(_without_blank_texts(assemble_messages(original, repeats_system=True, times=times)))
    marked = breakpoints(assembly.panel_count(original))
    limit = original.config.get("maxOutputTokens", MAX_TOKENS)
    result: Wire = {"model": original.model, "max_tokens": limit, "stream": True}
    if brief := true_of_all_formats(original.static_text):
        result["system"] = brief if marked else _cached_system(brief)
    if declared := declarations_of(tools_for(messages, original.tools)):
        result["tools"] = [_tool(one) for one in declared]
    return result | {"messages": _Writer(marked).write(messages)}


def breakpoints(count: int) -> list[int]:
    """Which of `count` panel results carry a cache mark: ceil(n·q/4) − 1 for the four quarters."""
    return sorted({-(-count * quarter // 4) - 1 for quarter in (1, 2, 3, 4)}) if count else []


class _Writer:
    """Writes the messages; panels come first, so the first results are theirs."""

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
            case TextBlock(text):
                return {"type": "text", "text": text}
            case CallBlock(id_, name, args):
                return {"type": "tool_use", "id": id_, "name": name, "input": args}
            case ResultBlock():
                return self._answer(block)
            case MediaBlock():
                return _media(block)

    def _answer(self, answer: ResultBlock) -> Wire:
        result: Wire = {"type": "tool_result", "tool_use_id": answer.id, "content": answer.content}
        if answer.failed:
            result["is_error"] = True
        self._answers += 1
        return result | (_CACHED if self._answers - 1 in self._marked else {})


def _without_blank_texts(messages: Iterable[Message]) -> list[Message]:
    """Anthropic refuses blank texts."""
    kept = []
    for message in messages:
        blocks = (block for block in message.blocks if not isinstance(block, TextBlock) or block.text.strip())
        kept.append(replace(message, blocks=tuple(blocks)))
    return [message for message in kept if message.blocks]


def _cached_system(text: str) -> list[Wire]:
    return [{"type": "text", "text": text} | _CACHED]


def _tool(declaration: Wire) -> Wire:
    result = {key: declaration[key] for key in ("name", "description") if declaration.get(key)}
    return result | {"input_schema": schema_of(declaration)}


def _media(media: MediaBlock) -> Wire:
    """A block of a kind that the Messages API has, else a text that names the file."""
    kind = _KINDS.get(media.mime, "")
    if kind and media.uri.startswith(("https://", "http://")):
        return {"type": kind, "source": {"type": "url", "url": media.uri}}
    if kind and media.data:
        return {"type": kind, "source": {"type": "base64", "media_type": media.mime, "data": media.data}}
    if media.mime == "text/plain" and (text := _decoded(media.data)):
        return {"type": "document", "source": {"type": "text", "media_type": media.mime, "data": text}}
    return {"type": "text", "text": media_text(media)}


def _decoded(data: str) -> str:
    """Empty for what is no UTF-8 in base64."""
    try:
        return base64.b64decode(data, validate=True).decode()
    except (binascii.Error, ValueError):
        return ""
