"""What is remembered of a person, and the tools that keep it."""

from dataclasses import replace
from typing import Any

import pytest

from sessions_app.panels import TOOLBOX
from sessions_app.panels.kinds.memories import Forget, MemoryRow, Remember
from sessions_app.tools import ToolContext, ToolResult


async def call(context: ToolContext, name: str, **args: Any) -> ToolResult:
    return await TOOLBOX.run(name, args, context, enabled=TOOLBOX.names)


@pytest.fixture
def context(context: ToolContext) -> ToolContext:
    return replace(context, rows={"memories": (MemoryRow(id=7, text="likes rye", importance="low"),)})


async def test_a_fact_is_remembered_for_all_sessions(context: ToolContext) -> None:
    result = await call(context, "remember", text="likes rye", importance="high")
    assert result.effects == (Remember(text="likes rye", importance="high"),)


async def test_an_importance_is_one_of_four(context: ToolContext) -> None:
    assert (await call(context, "remember", text="likes rye", importance="huge")).failed


async def test_a_memory_is_forgotten_by_its_number(context: ToolContext) -> None:
    result = await call(context, "forget", memory=7)
    assert result.effects == (Forget(memory=7),) and result.response == {"forgotten": "likes rye"}


async def test_an_unknown_memory_names_the_known_ones(context: ToolContext) -> None:
    result = await call(context, "forget", memory=8)
    assert result.response == {"error": "There is no memory 8.", "hint": "Memories: 7."}


async def test_memories_are_listed(context: ToolContext) -> None:
    result = await call(context, "list_memories")
    assert result.response == {"memories": [{"id": 7, "text": "likes rye", "importance": "low"}]}
