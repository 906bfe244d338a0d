"""Functions that the model can call. A tool returns, the run writes."""

from sessions_app.tools.builtin import BUILT_IN
from sessions_app.tools.context import MemoryView, TodoView, ToolContext
from sessions_app.tools.demo import DEMO
from sessions_app.tools.effects import Effect, ToolResult
from sessions_app.tools.files import FILES
from sessions_app.tools.keeping import KEEPING
from sessions_app.tools.todos import TODOS
from sessions_app.tools.toolbox import TIMEOUT, Tool, Toolbox

TOOLBOX = Toolbox((*BUILT_IN, *TODOS, *FILES, *KEEPING, *DEMO))
"""Every tool of the product."""

__all__ = [
    "TIMEOUT",
    "TOOLBOX",
    "Effect",
    "MemoryView",
    "TodoView",
    "Tool",
    "ToolContext",
    "ToolResult",
    "Toolbox",
]
