"""Panels: what the model reads beside the conversation. One file per kind in `kinds/`."""

from typing import Any

from sessions_app.context.api_key import keys
from sessions_app.panels.base import PanelKind
from sessions_app.panels.kinds import discover
from sessions_app.tools import BUILT_IN, DEMO, Toolbox
from sessions_app.wording.activity import readable_name

__all__ = ["KEYS", "KINDS", "TOOLBOX", "available_tools", "kind_named", "tool_title"]

KINDS: tuple[PanelKind[Any], ...] = discover()
"""Every kind, in the product's order."""

KEYS = tuple(kind.key for kind in KINDS)

TOOLBOX = Toolbox((*BUILT_IN, *DEMO, *(tool for kind in KINDS for tool in kind.tools)))
"""All tools, demo tools included."""


def available_tools() -> Toolbox:
    """The tools of this installation; the demo tools only without a key, when the emulator answers."""
    return TOOLBOX.served_by(emulator=not keys.current().text)


def tool_title(name: str) -> str:
    """What a tool is called on a page; its name in words for one that is not here."""
    return TOOLBOX.title_of(name) or readable_name(name)


def kind_named(key: str) -> PanelKind[Any] | None:
    return next((kind for kind in KINDS if kind.key == key), None)
