"""Tools for the list of todos."""

from typing import Any

import pytest

from sessions_app.panels import TOOLBOX
from sessions_app.panels.kinds.todos import AddTodo, CompleteTodo, EditTodo, RemoveTodo
from sessions_app.tools import ToolContext, ToolResult


async def call(context: ToolContext, name: str, **args: Any) -> ToolResult:
    return await TOOLBOX.run(name, args, context)


async def test_a_todo_is_added_by_the_run(context: ToolContext) -> None:
    result = await call(context, "add_todo", title="water plants")
    assert result.effects == (AddTodo(title="water plants"),)
    assert result.response == {"added": "water plants"}


async def test_a_todo_without_words_is_refused(context: ToolContext) -> None:
    assert (await call(context, "add_todo", title="")).failed


async def test_a_todo_is_completed_by_position(context: ToolContext) -> None:
    result = await call(context, "complete_todo", position=1.0)
    assert result.effects == (CompleteTodo(position=1),)
    assert result.response["completed"] == "buy bread"


async def test_completing_twice_is_said(context: ToolContext) -> None:
    result = await call(context, "complete_todo", position=2)
    assert result.response["was_done_before"]


async def test_a_position_that_does_not_exist_has_a_hint(context: ToolContext) -> None:
    result = await call(context, "complete_todo", position=9)
    assert result.failed
    assert result.response["hint"] == "Positions: 1, 2."


async def test_todos_are_listed(context: ToolContext) -> None:
    result = await call(context, "list_todos")
    assert result.response["todos"][1] == {"position": 2, "title": "sleep", "done": True}


async def test_the_words_of_a_todo_are_changed(context: ToolContext) -> None:
    result = await call(context, "edit_todo", position=1, title="buy rye bread")
    assert result.effects == (EditTodo(position=1, title="buy rye bread"),)
    assert result.response == {"was": "buy bread", "is": "buy rye bread"}


async def test_a_todo_is_removed_by_position(context: ToolContext) -> None:
    result = await call(context, "remove_todo", position=2)
    assert result.effects == (RemoveTodo(position=2),)
    assert result.response == {"removed": "sleep"}


@pytest.mark.parametrize(("name", "rest"), [("edit_todo", {"title": "x"}), ("remove_todo", {})])
async def test_only_a_todo_that_exists_is_changed(
    context: ToolContext, name: str, rest: dict[str, Any]
) -> None:
    result = await call(context, name, position=3, **rest)
    assert result.failed and result.effects == ()
