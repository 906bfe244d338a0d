"""The tools every session can use: clock, todos, workspace files, arithmetic."""

from datetime import UTC, tzinfo
from typing import Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field

from sessions_app.errors import ToolError, WorkspaceError
from sessions_app.tools.arithmetic import Number, evaluate
from sessions_app.tools.context import ToolContext
from sessions_app.tools.effects import AddTodo, CompleteTodo, ToolResult, WriteArtifact
from sessions_app.tools.toolbox import tool

SAFE_INTEGER = 2**53
"""Above it a JSON reader may round, so a whole number travels as text."""

FILES_IN_HINT = 20

FilePath = Annotated[str, Field(description="Path inside the workspace, for example notes/plan.md")]


def current_time(
    context: ToolContext,
    timezone: Annotated[
        str, Field(description="IANA name such as Europe/Paris; empty for the user's own")
    ] = "",
) -> dict[str, Any]:
    """Tells the current date and time."""
    name = timezone or context.timezone
    moment = context.now.astimezone(_zone(name))
    return {"datetime": moment.isoformat(timespec="seconds"), "weekday": f"{moment:%A}", "timezone": name}


def add_todo(
    title: Annotated[str, Field(description="What is to be done", min_length=1, max_length=300)],
) -> ToolResult:
    """Adds a todo to the session's list."""
    return ToolResult({"added": title}, (AddTodo(title),))


def complete_todo(
    context: ToolContext,
    position: Annotated[int, Field(description="Position of the todo in the list, counted from 1")],
) -> ToolResult:
    """Marks a todo of the session's list as done."""
    for todo in context.todos:
        if todo.position == position:
            effects = () if todo.done else (CompleteTodo(position),)
            return ToolResult({"completed": todo.title, "was_done_before": todo.done}, effects)
    raise ToolError(f"There is no todo at position {position}.", hint="Ask list_todos for the positions.")


def list_todos(context: ToolContext) -> dict[str, Any]:
    """Lists the session's todos."""
    todos = [{"position": todo.position, "title": todo.title, "done": todo.done} for todo in context.todos]
    return {"todos": todos}


def read_file(context: ToolContext, path: FilePath) -> dict[str, Any]:
    """Reads a text file of the user's workspace."""
    try:
        return {"path": path, "text": context.workspace.read_text(path)}
    except WorkspaceError as error:
        raise ToolError(error.message, hint=error.hint or _known_files(context)) from error


def write_artifact(
    context: ToolContext,
    path: FilePath,
    text: Annotated[str, Field(description="The whole content of the file")],
) -> ToolResult:
    """Writes a text file into the user's workspace as an artifact; an existing file is replaced."""
    target = context.workspace.writable(path, text)
    relative = context.workspace.relative(target)
    return ToolResult({"written": relative, "characters": len(text)}, (WriteArtifact(relative, text),))


def calculate(
    expression: Annotated[str, Field(description="Numbers with + - * / // % **, abs, round, min, max, sqrt")],
) -> dict[str, Any]:
    """Calculates an arithmetic expression."""
    return {"expression": expression, "result": _presentable(evaluate(expression))}


def _zone(name: str) -> tzinfo:
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ToolError(
            f"There is no time zone “{name}”.", hint="Use an IANA name such as Asia/Tokyo."
        ) from error


def _known_files(context: ToolContext) -> str:
    names = context.references or context.workspace.list(FILES_IN_HINT)
    return f"Files: {', '.join(names[:FILES_IN_HINT])}." if names else "The workspace is empty."


def _presentable(value: Number) -> Number | str:
    """Fifteen digits of a float, so that 0.1 + 0.2 is 0.3; large whole numbers as text."""
    if isinstance(value, float):
        return float(f"{value:.15g}")
    return value if abs(value) <= SAFE_INTEGER else str(value)


BUILT_IN = (
    tool(add_todo, "built-in", "Add a todo"),
    tool(calculate, "built-in", "Calculate"),
    tool(complete_todo, "built-in", "Complete a todo"),
    tool(current_time, "built-in", "Current time"),
    tool(list_todos, "built-in", "List todos"),
    tool(read_file, "built-in", "Read a file"),
    tool(write_artifact, "built-in", "Write an artifact"),
)
