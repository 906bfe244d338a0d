"""The log, and the tool that adds to it."""

from typing import Any

from sessions_app.panels import TOOLBOX
from sessions_app.panels.kinds.logs import AddLog
from sessions_app.tools import ToolContext, ToolResult


async def call(context: ToolContext, name: str, **args: Any) -> ToolResult:
    return await TOOLBOX.run(name, args, context, enabled=TOOLBOX.names)


async def test_a_line_is_added_to_the_log(context: ToolContext) -> None:
    assert (await call(context, "add_log", text="chose rye")).effects == (AddLog(text="chose rye"),)
