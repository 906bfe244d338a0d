"""What happened to the static layer between two requests: an edit, other tools, or history that rolled over.

A roll-over changes the bytes of the template as well: the list of chunks appears in it, and in requests of
earlier versions the description of the keys gained that one. Neither is an edit.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from sessions_app.prompt import wire
from sessions_app.prompt.prefix_diff import common_prefix
from sessions_app.prompt.stored import Code

HISTORY_KEY, DESCRIPTION_KEY = "cached_history", "description"
"""Keys of `gemini_static_prompt.j2` that depend on the history chunks."""


class StaticChange(Code):
    """`ROLLED_OVER`: nothing but further history chunks; `OTHER_HISTORY`: nothing but other ones; `TEXT`:
    what is written there says something else.
    """

    SAME = "same"
    TOOLS = "tools"
    TEXT = "text"
    ROLLED_OVER = "rolled_over"
    OTHER_HISTORY = "other_history"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class RolledHistory:
    """Which turns of the branch became which history chunks; both count from 1."""

    first_turn: int
    last_turn: int
    first_chunk: int
    last_chunk: int


@dataclass(frozen=True, slots=True)
class StaticLayer:
    """`tools` and `chunks` are the identities of these items; `text` is the JSON text without the chunks."""

    tools: Hashable
    chunks: tuple[str, ...]
    text: str


def static_change(before: StaticLayer, now: StaticLayer) -> StaticChange:
    """What changed, the tools first, since they stand first."""
    if before.tools != now.tools:
        return StaticChange.TOOLS
    if before.chunks == now.chunks:
        return StaticChange.SAME if before.text == now.text else StaticChange.TEXT
    if not _same_text(before.text, now.text):
        return StaticChange.TEXT
    has_more = now.chunks[: len(before.chunks)] == before.chunks
    return StaticChange.ROLLED_OVER if has_more else StaticChange.OTHER_HISTORY


def _same_text(before: str, now: str) -> bool:
    """Whether two texts say the same but for their chunks."""
    try:
        old, new = wire.loads(before), wire.loads(now)
    except ValueError:
        return False
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return False
    return _without_history(old) == _without_history(new) and _is_insertion(
        str(old.get(DESCRIPTION_KEY, "")), str(new.get(DESCRIPTION_KEY, ""))
    )


def _without_history(layer: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in layer.items() if key not in (HISTORY_KEY, DESCRIPTION_KEY)}


def _is_insertion(one: str, other: str) -> bool:
    """Whether the longer text is the shorter one with at most one insertion."""
    short, long = sorted((one, other), key=len)
    return long.endswith(short[common_prefix(short, long) :])
