"""Tools that write down what should be known later."""

from dataclasses import replace
from typing import Any

import pytest

from sessions_app.tools import TOOLBOX, MemoryView, ToolContext, ToolResult
from sessions_app.tools.effects import AddLog, ClearNote, Forget, Remember, WriteNote


async def call(context: ToolContext, name: str, **args: Any) -> ToolResult:
    return await TOOLBOX.run(name, args, context, enabled=TOOLBOX.names)


@pytest.fixture
def context(context: ToolContext) -> ToolContext:
    return replace(context, memories=(MemoryView(7, "likes rye", "low"),), notes=(1,))


async def test_a_fact_is_remembered_for_all_sessions(context: ToolContext) -> None:
    result = await call(context, "remember", text="likes rye", importance="high")
    assert result.effects == (Remember("likes rye", "high"),)


async def test_an_importance_is_one_of_four(context: ToolContext) -> None:
    assert (await call(context, "remember", text="likes rye", importance="huge")).failed


async def test_a_memory_is_forgotten_by_its_number(context: ToolContext) -> None:
    result = await call(context, "forget", memory=7)
    assert result.effects == (Forget(7),) and result.response == {"forgotten": "likes rye"}


async def test_an_unknown_memory_names_the_known_ones(context: ToolContext) -> None:
    result = await call(context, "forget", memory=8)
    assert result.response == {"error": "There is no memory 8.", "hint": "Memories: 7."}


async def test_memories_are_listed(context: ToolContext) -> None:
    result = await call(context, "list_memories")
    assert result.response == {"memories": [{"id": 7, "text": "likes rye", "importance": "low"}]}


@pytest.mark.parametrize(
    ("args", "effect"),
    [
        ({}, WriteNote("flour")),
        ({"position": 1}, WriteNote("flour", 1)),
        ({"position": 1, "append": True}, WriteNote("flour", 1, append=True)),
    ],
)
async def test_a_note_is_new_replaced_or_added_to(
    context: ToolContext, args: dict[str, Any], effect: WriteNote
) -> None:
    assert (await call(context, "write_note", text="flour", **args)).effects == (effect,)


async def test_a_note_is_cleared(context: ToolContext) -> None:
    assert (await call(context, "clear_note", position=1)).effects == (ClearNote(1),)


@pytest.mark.parametrize(("name", "rest"), [("write_note", {"text": "x"}), ("clear_note", {})])
async def test_an_unknown_note_names_the_known_ones(
    context: ToolContext, name: str, rest: dict[str, Any]
) -> None:
    result = await call(context, name, position=2, **rest)
    assert result.response == {"error": "There is no note 2.", "hint": "Notes: 1."}


async def test_a_line_is_added_to_the_log(context: ToolContext) -> None:
    assert (await call(context, "add_log", text="chose rye")).effects == (AddLog("chose rye"),)
