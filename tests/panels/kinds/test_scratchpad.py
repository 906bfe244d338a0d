"""Notes, and the tools that write them."""

from dataclasses import replace
from typing import Any

import pytest
from django.db import transaction

from sessions_app.models import Session
from sessions_app.panels import TOOLBOX
from sessions_app.panels.kinds.scratchpad import ClearNote, NoteRow, WriteNote
from sessions_app.tools import ToolContext, ToolResult
from tests.beside import beside


async def call(context: ToolContext, name: str, **args: Any) -> ToolResult:
    return await TOOLBOX.run(name, args, context, enabled=TOOLBOX.names)


@pytest.fixture
def context(context: ToolContext) -> ToolContext:
    return replace(context, rows={"scratchpad": (NoteRow(position=1),)})


@pytest.mark.parametrize(
    ("args", "effect"),
    [
        ({}, WriteNote(text="flour")),
        ({"position": 1}, WriteNote(text="flour", position=1)),
        ({"position": 1, "append": True}, WriteNote(text="flour", position=1, append=True)),
    ],
)
async def test_a_note_is_new_replaced_or_added_to(
    context: ToolContext, args: dict[str, Any], effect: WriteNote
) -> None:
    assert (await call(context, "write_note", text="flour", **args)).effects == (effect,)


async def test_a_note_is_cleared(context: ToolContext) -> None:
    assert (await call(context, "clear_note", position=1)).effects == (ClearNote(position=1),)


@pytest.mark.parametrize(("name", "rest"), [("write_note", {"text": "x"}), ("clear_note", {})])
async def test_an_unknown_note_names_the_known_ones(
    context: ToolContext, name: str, rest: dict[str, Any]
) -> None:
    result = await call(context, name, position=2, **rest)
    assert result.response == {"error": "There is no note 2.", "hint": "Notes: 1."}


@pytest.mark.django_db(transaction=True)
def test_two_that_add_to_a_note_at_once_both_have_their_line(session: Session) -> None:
    WriteNote(text="flour").carry_out(session)
    add = [WriteNote(text=text, position=1, append=True) for text in ("salt", "yeast")]
    with beside() as begin:
        with transaction.atomic():
            add[0].carry_out(session)
            second = begin(lambda: add[1].carry_out(session))
        second.result(60)
    assert session.notes.get().text == "flour\nsalt\nyeast"
