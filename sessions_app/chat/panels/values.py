"""The value of a panel as a person reads it, and as the model does."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sessions_app.prompt.panels import Panel
from sessions_app.prompt.rendering import json_text


@dataclass(frozen=True, slots=True)
class Shown:
    """A value of JSON taken apart for a template: a text, or named parts, or a list."""

    text: str = ""
    pairs: tuple[tuple[str, "Shown"], ...] = ()
    items: tuple["Shown", ...] = ()

    @property
    def is_long(self) -> bool:
        return "\n" in self.text


def shown(value: Any) -> Shown:
    if isinstance(value, Mapping):
        return Shown(pairs=tuple((str(key).replace("_", " "), shown(item)) for key, item in value.items()))
    if isinstance(value, list | tuple):
        return Shown(items=tuple(map(shown, value)))
    if isinstance(value, bool):
        return Shown("yes" if value else "no")
    return Shown(f"{value:,}" if isinstance(value, int) else str(value))


def as_sent(panel: Panel) -> str:
    """The panel's characters of the dynamic layer."""
    return f"{json_text(panel.key)}: {json_text(panel.value)}"
