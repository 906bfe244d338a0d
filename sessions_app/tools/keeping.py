"""Tools to write down what should be known later: memories, notes, the log."""

from typing import Annotated, Any, Literal

from pydantic import Field

from sessions_app.errors import ToolError
from sessions_app.tools.context import ToolContext
from sessions_app.tools.effects import AddLog, ClearNote, Forget, Remember, ToolResult, WriteNote
from sessions_app.tools.toolbox import tool

Importance = Literal["low", "medium", "high", "critical"]


def remember(
    text: Annotated[str, Field(description="One fact", min_length=1, max_length=2_000)],
    importance: Importance = "medium",
) -> ToolResult:
    """Keeps a fact about the user for all their sessions."""
    return ToolResult({"remembered": text}, (Remember(text, importance),))


def forget(context: ToolContext, memory: Annotated[int, Field(description="Id of the memory")]) -> ToolResult:
    """Deletes a memory."""
    for view in context.memories:
        if view.number == memory:
            return ToolResult({"forgotten": view.text}, (Forget(memory),))
    known = ", ".join(str(view.number) for view in context.memories)
    raise ToolError(f"There is no memory {memory}.", hint=f"Memories: {known or 'none'}.")


def list_memories(context: ToolContext) -> dict[str, Any]:
    """Lists the memories."""
    return {
        "memories": [
            {"id": view.number, "text": view.text, "importance": view.importance} for view in context.memories
        ]
    }


def write_note(
    context: ToolContext,
    text: Annotated[str, Field(max_length=100_000)],
    position: Annotated[int, Field(description="An existing note; 0: a new one", ge=0)] = 0,
    append: Annotated[bool, Field(description="Add to the note instead of replacing it")] = False,
) -> ToolResult:
    """Writes a note on the session's scratchpad."""
    if position:
        _check_note(context, position)
    return ToolResult({"written": len(text)}, (WriteNote(text, position or None, append),))


def clear_note(context: ToolContext, position: int) -> ToolResult:
    """Removes a note; the others keep their positions."""
    _check_note(context, position)
    return ToolResult({"cleared": position}, (ClearNote(position),))


def add_log(
    text: Annotated[str, Field(description="What was done or decided", min_length=1, max_length=1_000)],
) -> ToolResult:
    """Adds a line to the session's log."""
    return ToolResult({"logged": text}, (AddLog(text),))


def _check_note(context: ToolContext, position: int) -> None:
    if position not in context.notes:
        known = ", ".join(map(str, context.notes))
        raise ToolError(f"There is no note {position}.", hint=f"Notes: {known or 'none'}.")


KEEPING = (
    tool(add_log, "notes", "Add to the log", standard=False),
    tool(clear_note, "notes", "Clear a note", standard=False),
    tool(forget, "memories", "Forget"),
    tool(list_memories, "memories", "List memories", standard=False),
    tool(remember, "memories", "Remember"),
    tool(write_note, "notes", "Write a note", standard=False),
)
