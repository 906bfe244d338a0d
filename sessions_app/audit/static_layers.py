"""What happened to the static layer between two requests."""

import json
from collections.abc import Sequence
from typing import Any

from sessions_app.audit.prefix import common_length, meaning
from sessions_app.audit.rows import StoredItem

HISTORY, DESCRIPTION = "cached_history", "description"
"""Keys of the layer's JSON that depend on the chunks of history in it."""


def static_change(old: Sequence[StoredItem], new: Sequence[StoredItem]) -> str:
    before, now = ([item for item in items if item.layer == "static"] for items in (old, new))
    if [item.source for item in before] == [item.source for item in now]:
        return "same"
    if _tools(before) != _tools(now):
        return "tools"
    was, has = _chunks(before), _chunks(now)
    one, other = _text(before), _text(now)
    if was == has:
        return "same" if one == other else "text"
    if not _is_same_but_chunks(one, other):
        return "text"
    return "rolled_over" if has[: len(was)] == was else "other_history"


def _tools(items: Sequence[StoredItem]) -> list[str]:
    """What the declarations say, whatever the spelling."""
    return [meaning(item)[2] for item in items if item.name == "tools"]


def _chunks(items: Sequence[StoredItem]) -> list[str]:
    return [item.name for item in items if item.name.startswith("chunk:")]


def _text(items: Sequence[StoredItem]) -> str:
    body = b"".join(item.body for item in items if item.name == "template:static")
    text: str = json.loads(b'"' + body + b'"')
    return text or "".join(meaning(item)[2] for item in items if item.name == "system")


def _is_same_but_chunks(one: str, other: str) -> bool:
    try:
        old, new = json.loads(one), json.loads(other)
    except ValueError:
        return False
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return False
    descriptions = [str(layer.pop(DESCRIPTION, "")) for layer in (old, new)]
    for layer in (old, new):
        layer.pop(HISTORY, None)
    short, long = sorted(descriptions, key=len)
    is_inserted = long.endswith(short[common_length(short, long) :])
    same: Any = old == new
    return bool(same) and is_inserted
