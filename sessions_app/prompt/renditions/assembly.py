"""From the original to messages: every rule that is the same for all providers, in one place."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sessions_app.prompt.renditions import dynamic_panels
from sessions_app.prompt.renditions.blocks import Message, Text, messages_of, said
from sessions_app.prompt.renditions.order import alternate, repair, without_orphans
from sessions_app.prompt.renditions.original import Original
from sessions_app.prompt.signatures import DUMMY


def assemble_messages(
    original: Original,
    *,
    panels_as_calls: bool = True,
    repeats_system: bool = False,
    changed: Mapping[str, datetime] | None = None,
) -> list[Message]:
    """Dynamic layer, perhaps the system prompt again, then the conversation, in an order all accept."""
    history = without_orphans(messages_of(original.turns))
    front = _front(original, history, panels_as_calls, changed or {})
    if front and panels_as_calls and repeats_system:
        front += dynamic_panels.repeated(original.static_text)
    return alternate(repair([*front, *history]))


def declarations_of(tools: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every function declaration of `tools`, in order."""
    spellings = ("functionDeclarations", "function_declarations")
    return [one for tool in tools for key in spellings for one in tool.get(key, ())]


def schema_of(declaration: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters as JSON Schema: type names in lower case; an empty object when there are none."""
    found = declaration.get("parametersJsonSchema") or _lowered(declaration.get("parameters"))
    return found or {"type": "object", "properties": {}}


def has_user_text(messages: Sequence[Message]) -> bool:
    users = (message for message in messages if message.role == "user")
    return any(isinstance(block, Text) for message in users for block in message.blocks)


def _front(
    original: Original, history: Sequence[Message], panels_as_calls: bool, changed: Mapping[str, datetime]
) -> list[Message]:
    if not panels_as_calls:
        return [said("user", original.dynamic_text)] if original.dynamic_text else []
    # Calls before the newest user text are past and unchecked; without one they are the current turn.
    return dynamic_panels.pairs(original, changed, "" if has_user_text(history) else DUMMY)


def _lowered(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    lowered = {key: _inner(key, value) for key, value in schema.items()}
    if isinstance(schema.get("type"), str):
        lowered["type"] = schema["type"].lower()
    return lowered


def _inner(key: str, value: Any) -> Any:
    if key == "properties" and isinstance(value, dict):
        return {name: _lowered(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_lowered(inner) for inner in value]
    return _lowered(value) if key == "items" else value
