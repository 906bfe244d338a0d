"""Functions that the model can call. A tool returns, the run writes."""

from sessions_app.tools.builtin import BUILT_IN
from sessions_app.tools.context import TodoView, ToolContext
from sessions_app.tools.demo import DEMO
from sessions_app.tools.effects import AddTodo, CompleteTodo, Effect, ToolResult, WriteArtifact
from sessions_app.tools.toolbox import TIMEOUT, Tool, Toolbox

TOOLBOX = Toolbox((*BUILT_IN, *DEMO))
"""Every tool of the product."""

__all__ = [
    "TIMEOUT",
    "TOOLBOX",
    "AddTodo",
    "CompleteTodo",
    "Effect",
    "TodoView",
    "Tool",
    "ToolContext",
    "ToolResult",
    "Toolbox",
    "WriteArtifact",
]
