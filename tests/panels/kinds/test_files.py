"""Tools for the files of the workspace."""

from dataclasses import replace
from typing import Any

import pytest

from sessions_app.panels import TOOLBOX
from sessions_app.panels.kinds.files import PANEL_OFF, CloseFile, FileRow, NextPage, OpenFile
from sessions_app.tools import ToolContext, ToolResult


async def call(context: ToolContext, name: str, **args: Any) -> ToolResult:
    return await TOOLBOX.run(name, args, context)


def opened(context: ToolContext, path: str) -> ToolContext:
    return replace(context, rows={"file_references": (FileRow(path=path),)})


async def test_a_file_is_read(context: ToolContext) -> None:
    context.workspace.write_text("notes/a.md", "hello")
    assert (await call(context, "read_file", path="notes/a.md")).response["text"] == "hello"


async def test_a_missing_file_names_the_ones_that_exist(context: ToolContext) -> None:
    context.workspace.write_text("a.md", "hello")
    assert (await call(context, "read_file", path="b.md")).response["hint"] == "Files: a.md."


async def test_references_are_named_first(context: ToolContext) -> None:
    context.workspace.write_text("a.md", "hello")
    result = await call(opened(context, "ref.md"), "read_file", path="b.md")
    assert result.response["hint"] == "Files: ref.md."


async def test_nothing_outside_the_workspace_is_read(context: ToolContext) -> None:
    result = await call(context, "read_file", path="../secret")
    assert "leads out" in result.response["error"]


async def test_a_file_is_opened_for_every_request_from_now_on(context: ToolContext) -> None:
    context.workspace.write_text("notes/a.md", "hello")
    result = await call(context, "open_file", path="notes/./a.md")
    assert result.effects == (OpenFile(path="notes/./a.md"),)
    assert result.response["opened"] == "notes/a.md"


async def test_a_file_can_be_opened_for_a_few_messages(context: ToolContext) -> None:
    context.workspace.write_text("a.md", "hello")
    assert (await call(context, "open_file", path="a.md", messages=3)).effects == (
        OpenFile(path="a.md", messages=3),
    )


@pytest.mark.parametrize("path", ["missing.md", "../secret", "folder", "picture.png"])
async def test_what_cannot_be_shown_is_not_opened(context: ToolContext, path: str) -> None:
    context.workspace.write_text("folder/a.md", "hello")
    (context.workspace.root / "picture.png").write_bytes(b"\x89PNG\x00\xff")
    result = await call(context, "open_file", path=path)
    assert result.failed and result.effects == ()


async def test_an_open_file_is_closed(context: ToolContext) -> None:
    result = await call(opened(context, "a.md"), "close_file", path="a.md")
    assert result.effects == (CloseFile(path="a.md"),)


async def test_closing_what_is_not_open_names_what_is(context: ToolContext) -> None:
    result = await call(opened(context, "a.md"), "close_file", path="b.md")
    assert result.response == {"error": "“b.md” is not open.", "hint": "Open files: a.md."}


async def test_a_page_is_turned_by_the_run(context: ToolContext) -> None:
    result = await call(context, "next_page", panel="tree", page=2)
    assert result.effects == (NextPage(panel="tree", page=2),)


async def test_a_file_opened_while_its_panel_is_off_is_not_told_as_shown(context: ToolContext) -> None:
    context.workspace.write_text("a.md", "hello")
    shown = (await call(context, "open_file", path="a.md")).response
    hidden = (
        await call(replace(context, off=frozenset({"file_references"})), "open_file", path="a.md")
    ).response
    assert "see" in shown and "note" not in shown
    assert hidden == {"opened": "a.md", "note": PANEL_OFF}
