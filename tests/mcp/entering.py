"""MCP servers entered as an administrator does."""

import sys
from pathlib import Path
from typing import Any

from pytest_django import Settings

from sessions_app.models import McpServer, McpTool, Session
from sessions_app.panels import TOOLBOX
from sessions_app.panels.mcp_tools import list_now

HOSTILE = Path(__file__).with_name("hostile_server.py")


def enter(settings: Settings, way: str = "plain", **fields: Any) -> McpServer:
    """A server of `hostile_server.py` for everybody, whose tools are not listed yet."""
    settings.PIPEWEB_MCP_COMMANDS = [sys.executable]
    facts = {"name": "test", "title": "Test", "for_everybody": True, "command": sys.executable}
    return McpServer.objects.create(**facts | {"arguments": [str(HOSTILE), way]} | fields)


def listed(settings: Settings, way: str = "plain", **fields: Any) -> McpServer:
    server = enter(settings, way, **fields)
    assert list_now(server) is None
    return server


def switch_on(session: Session, *names: str) -> None:
    """Switches these tools on, by default all that are listed."""
    functions = names or tuple(McpTool.objects.filter(is_listed=True).values_list("function", flat=True))
    for name in functions:
        session.switch("tools", name, True, TOOLBOX.standard)
    session.refresh_from_db()
