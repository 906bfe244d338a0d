"""Texts for what another provider's format cannot hold, and declarations for the tools that it calls."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from sessions_app.prompt.dialects.messages import (
    Block,
    MediaBlock,
    Message,
    TextBlock,
    declarations_of,
)
from sessions_app.prompt.parts import PartView, RawPart

PANEL_TOOL = "dynamic_panel"

_PANEL_DECLARATION = {
    "name": PANEL_TOOL,
    "description": "Shows a panel. All panels are shown at the beginning; they need not be asked for.",
    "parameters": {
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": "Which panel"},
            "action": {"type": "string", "description": "end_panels after the last panel"},
        },
    },
}
_EARLIER = "It was called earlier in this conversation. It cannot be called now."


def part_text(part: RawPart) -> str:
    """A part of Gemini's that the messages have no block for, as text; empty for one that holds nothing."""
    view = PartView(0, part)
    if view.code is not None:
        return f"```{str(view.code.get('language') or '').lower()}\n{view.code.get('code') or ''}\n```"
    if view.code_result is not None:
        outcome, output = view.code_result.get("outcome") or "", view.code_result.get("output") or ""
        return f"[Result of the code: {outcome}]\n{output}".rstrip()
    held = view.unknown or (() if view.kind in ("text", "thought", "other") else (view.kind,))
    return f"[This format has no place for a part of Gemini's: {', '.join(held)}]" if held else ""


def media_text(media: MediaBlock) -> str:
    size = f", {len(media.data.rstrip('=')) * 3 // 4:,} bytes" if media.data else ""
    return f"[This format has no place for a file here: {media.mime or 'of unknown type'}{size}]"


def files_as_text(messages: Iterable[Message]) -> list[Message]:
    """The messages with a text for each file that the model made: assistants send none."""
    return [
        replace(one, blocks=tuple(map(_without_file, one.blocks))) if one.role == "assistant" else one
        for one in messages
    ]


def _without_file(block: Block) -> Block:
    return TextBlock(media_text(block), is_apart=True) if isinstance(block, MediaBlock) else block


def tools_for(messages: Sequence[Message], tools: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """`tools` in Gemini's form, and a declaration for every other tool that the messages call."""
    declared = {str(one.get("name")) for one in declarations_of(tools)}
    called = dict.fromkeys(call.name for message in messages for call in message.calls)
    added = [_declaration(name) for name in called if name not in declared]
    return [*tools, {"functionDeclarations": added}] if added else list(tools)


def _declaration(name: str) -> dict[str, Any]:
    return _PANEL_DECLARATION if name == PANEL_TOOL else {"name": name, "description": _EARLIER}
