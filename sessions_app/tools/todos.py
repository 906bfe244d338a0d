"""Tools for the session's list of todos."""

from typing import Annotated, Any

from pydantic import Field

from sessions_app.errors import ToolError
from sessions_app.tools.context import TodoView, ToolContext
from sessions_app.tools.effects import AddTodo, CompleteTodo, EditTodo, RemoveTodo, ToolResult
from sessions_app.tools.toolbox import tool


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
    todo = _at(context, position)
    effects = () if todo.done else (CompleteTodo(position),)
    return ToolResult({"completed": todo.title, "was_done_before": todo.done}, effects)


def edit_todo(
    context: ToolContext,
    position: int,
    title: Annotated[str, Field(description="The new words", min_length=1, max_length=300)],
) -> ToolResult:
    """Changes the words of a todo."""
    return ToolResult({"was": _at(context, position).title, "is": title}, (EditTodo(position, title),))


def remove_todo(context: ToolContext, position: int) -> ToolResult:
    """Removes a todo; the others keep their positions."""
    return ToolResult({"removed": _at(context, position).title}, (RemoveTodo(position),))


def list_todos(context: ToolContext) -> dict[str, Any]:
    """Lists the session's todos."""
    todos = [{"position": todo.position, "title": todo.title, "done": todo.done} for todo in context.todos]
    return {"todos": todos}


def _at(context: ToolContext, position: int) -> TodoView:
    for todo in context.todos:
        if todo.position == position:
            return todo
    raise ToolError(f"There is no todo at position {position}.", hint="Ask list_todos for the positions.")


TODOS = (
    tool(add_todo, "todos", "Add a todo"),
    tool(complete_todo, "todos", "Complete a todo"),
    tool(edit_todo, "todos", "Edit a todo"),
    tool(list_todos, "todos", "List todos"),
    tool(remove_todo, "todos", "Remove a todo"),
)
