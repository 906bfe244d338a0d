"""Panels: the sources of the dynamic layer, each with the time of its last change."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sessions_app.errors import PromptError

CLOCK_KEY = "current_datetime"

_TIES = ("file_references", "artifacts", "todos")


@dataclass(frozen=True, slots=True)
class Panel:
    """One key of the dynamic layer. `value` is anything JSON can hold; `changed` is aware."""

    key: str
    title: str
    value: Any
    changed: datetime


def in_order(panels: Sequence[Panel]) -> tuple[Panel, ...]:
    """Oldest change first, so that a change leaves the bytes before it alone (seed 4).

    Panels that changed together stand as file_references, artifacts, todos, then by key.
    Raises PromptError for two panels of one key and for the key of the clock.
    """
    keys = [panel.key for panel in panels]
    if len(set(keys)) != len(keys):
        raise PromptError("Two panels of the dynamic layer have the same key.")
    if CLOCK_KEY in keys:
        raise PromptError(f"A panel cannot be called {CLOCK_KEY}: that key is the clock.")
    return tuple(sorted(panels, key=lambda panel: (panel.changed, _rank(panel.key), panel.key)))


def _rank(key: str) -> int:
    return _TIES.index(key) if key in _TIES else len(_TIES)
