"""Panels: what the model reads beside the conversation. One file per kind in `kinds/`."""

from collections.abc import Mapping
from typing import Any

from sessions_app.context.api_key import keys
from sessions_app.panels.base import PanelKind
from sessions_app.panels.context_actions import SwitchPanel
from sessions_app.panels.kinds import discover
from sessions_app.panels.mcp_tools import tools_of
from sessions_app.tools import BUILT_IN, DEMO, Toolbox
from sessions_app.wording.activity import call_brief, readable_name, switch_brief

__all__ = ["KEYS", "KINDS", "TOOLBOX", "available_tools", "brief_of", "kind_named", "tool_title"]

KINDS: tuple[PanelKind[Any], ...] = discover()
"""Every kind, in the product's order."""

KEYS = tuple(kind.key for kind in KINDS)

TOOLBOX = Toolbox((*BUILT_IN, *DEMO, *(tool for kind in KINDS for tool in kind.tools)))
"""All tools, demo tools included."""


def available_tools(person: int | None = None) -> Toolbox:
    """The tools of this installation; the demo tools only without a key, when the emulator answers.

    With those of MCP servers that `person` may use.
    """
    tools = TOOLBOX.served_by(emulator=not keys.current().text)
    return tools if person is None else tools.with_tools(tools_of(person))


def tool_title(name: str) -> str:
    """What a tool is called on a page; its name in words for one that is not here."""
    return TOOLBOX.title_of(name) or readable_name(name)


def brief_of(name: str, args: Mapping[str, Any]) -> str:
    """What stands beside the title of a call: its arguments in short, or the panel that it switches."""
    kind = kind_named(str(args.get("panel"))) if name == SwitchPanel.action_name() else None
    return switch_brief(kind.title, on=bool(args.get("on"))) if kind else call_brief(args)


def kind_named(key: str) -> PanelKind[Any] | None:
    return next((kind for kind in KINDS if kind.key == key), None)
