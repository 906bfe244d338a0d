"""What is remembered of a person, and the tools that keep it."""

from dataclasses import replace
from typing import Any

import pytest
from django.db import transaction

from sessions_app.errors import NotKept
from sessions_app.models import Memory, Session
from sessions_app.panels import TOOLBOX
from sessions_app.panels.kinds.memories import EditMemory, Forget, MemoryRow, Remember
from sessions_app.tools import ToolContext, ToolResult
from tests.beside import beside
from tests.factories import make_session


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


@pytest.mark.django_db
def test_a_fact_that_is_there_twice_is_not_added_again(session: Session) -> None:
    for _ in range(2):
        Memory.objects.create(owner=session.owner, text="likes rye")
    Remember(text="likes rye", importance="high").carry_out(session)
    assert [memory.importance for memory in Memory.objects.all()] == ["high", "high"]


@pytest.mark.django_db(transaction=True)
def test_two_sessions_that_remember_a_fact_at_once_keep_it_once(session: Session) -> None:
    fact = Remember(text="likes rye")
    with beside() as begin:
        with transaction.atomic():
            fact.carry_out(session)
            second = begin(lambda: fact.carry_out(make_session(session.owner)))
        second.result(60)
    assert Memory.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_memory_is_not_changed_into_one_that_comes_at_the_same_moment(session: Session) -> None:
    Remember(text="likes bread").carry_out(session)
    change = EditMemory(memory=Memory.objects.get().pk, text="likes rye")
    with beside() as begin:
        with transaction.atomic():
            Remember(text="likes rye").carry_out(session)
            second = begin(lambda: change.carry_out(session))
        assert isinstance(second.exception(60), NotKept)
