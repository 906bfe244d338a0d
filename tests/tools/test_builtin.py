"""The tools that do something real."""

from dataclasses import replace
from typing import Any

import pytest

from sessions_app.tools import TOOLBOX, AddTodo, CompleteTodo, ToolContext, ToolResult, WriteArtifact


async def call(context: ToolContext, name: str, **args: Any) -> ToolResult:
    return await TOOLBOX.run(name, args, context)


async def test_the_time_is_told_in_the_persons_zone(context: ToolContext) -> None:
    result = await call(context, "current_time")
    assert result.response == {
        "datetime": "2026-01-02T16:04:05+01:00",
        "weekday": "Friday",
        "timezone": "Europe/Paris",
    }


async def test_the_time_is_told_in_another_zone(context: ToolContext) -> None:
    result = await call(context, "current_time", timezone="UTC")
    assert result.response["datetime"] == "2026-01-02T15:04:05+00:00"


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../etc/passwd", "/etc", "Europe", "\0", "posix/../.."])
async def test_an_unknown_zone_is_an_error_to_read(context: ToolContext, zone: str) -> None:
    result = await call(context, "current_time", timezone=zone)
    assert result.failed
    assert "no time zone" in result.response["error"]


async def test_a_todo_is_added_by_the_run(context: ToolContext) -> None:
    result = await call(context, "add_todo", title="water plants")
    assert result.effects == (AddTodo("water plants"),)
    assert result.response == {"added": "water plants"}


async def test_a_todo_without_words_is_refused(context: ToolContext) -> None:
    assert (await call(context, "add_todo", title="")).failed


async def test_a_todo_is_completed_by_position(context: ToolContext) -> None:
    result = await call(context, "complete_todo", position=1.0)
    assert result.effects == (CompleteTodo(1),)
    assert result.response["completed"] == "buy bread"


async def test_completing_twice_changes_nothing(context: ToolContext) -> None:
    result = await call(context, "complete_todo", position=2)
    assert result.effects == ()
    assert result.response["was_done_before"]


async def test_a_position_that_does_not_exist_has_a_hint(context: ToolContext) -> None:
    result = await call(context, "complete_todo", position=9)
    assert result.failed
    assert "list_todos" in result.response["hint"]


async def test_todos_are_listed(context: ToolContext) -> None:
    result = await call(context, "list_todos")
    assert result.response["todos"][1] == {"position": 2, "title": "sleep", "done": True}


async def test_a_file_is_read(context: ToolContext) -> None:
    context.workspace.write_text("notes/a.md", "hello")
    assert (await call(context, "read_file", path="notes/a.md")).response["text"] == "hello"


async def test_a_missing_file_names_the_ones_that_exist(context: ToolContext) -> None:
    context.workspace.write_text("a.md", "hello")
    assert (await call(context, "read_file", path="b.md")).response["hint"] == "Files: a.md."


async def test_references_are_named_first(context: ToolContext) -> None:
    context.workspace.write_text("a.md", "hello")
    result = await call(replace(context, references=("ref.md",)), "read_file", path="b.md")
    assert result.response["hint"] == "Files: ref.md."


async def test_nothing_outside_the_workspace_is_read(context: ToolContext) -> None:
    result = await call(context, "read_file", path="../secret")
    assert "leads out" in result.response["error"]


async def test_an_artifact_is_written_by_the_run(context: ToolContext) -> None:
    result = await call(context, "write_artifact", path="out/./a.md", text="hello")
    assert result.effects == (WriteArtifact("out/a.md", "hello"),)
    assert context.workspace.list() == ()


async def test_an_artifact_outside_the_workspace_is_refused(context: ToolContext) -> None:
    result = await call(context, "write_artifact", path="../a.md", text="hello")
    assert result.failed
    assert result.effects == ()


@pytest.mark.parametrize(
    ("expression", "value"), [("0.1 + 0.2", 0.3), ("2 ** 64", "18446744073709551616"), ("6 / 2", 3.0)]
)
async def test_results_are_fit_for_json(context: ToolContext, expression: str, value: object) -> None:
    assert (await call(context, "calculate", expression=expression)).response["result"] == value
