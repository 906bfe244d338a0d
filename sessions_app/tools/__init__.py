"""Functions that the model can call. A tool returns, the run writes."""

from sessions_app.tools.builtin import BUILT_IN
from sessions_app.tools.demo import DEMO
from sessions_app.tools.results import Effect, ToolResult
from sessions_app.tools.tool_context import ToolContext
from sessions_app.tools.toolbox import TIMEOUT, Tool, Toolbox

__all__ = ["BUILT_IN", "DEMO", "TIMEOUT", "Effect", "Tool", "ToolContext", "ToolResult", "Toolbox"]
