"""The memories panel: facts about a person that all their sessions share."""

from typing import Annotated, Any, Literal

from django.db import transaction
from django.db.models import QuerySet
from pydantic import Field, StringConstraints

from sessions_app.errors import NotKept, ToolError
from sessions_app.models import Memory, PersonalUsage, Session
from sessions_app.models.panel_items import MEMORY_LIMIT
from sessions_app.panels.base import Action, PanelKind, existing
from sessions_app.panels.rows import PanelRow
from sessions_app.tools.tool_context import ToolContext
from sessions_app.tools.toolbox import tool

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MEMORY_LIMIT)]
Importance = Literal["low", "medium", "high", "critical"]


class MemoryRow(PanelRow):
    id: int
    text: str
    importance: str


class Remember(Action):
    """Keeps a fact about the user for all their sessions."""

    tool_title = "Remember"
    text: Annotated[Text, Field(description="One fact")]
    importance: Importance = "medium"

    def answer(self, context: ToolContext) -> dict[str, Any]:
        return {"remembered": self.text}

    @transaction.atomic
    def carry_out(self, session: Session) -> str:
        """A fact is stored once, with the importance given last."""
        PersonalUsage.objects.hold(session.owner_id)
        Memory.objects.remember(session.owner_id, self.text, self.importance, session=session)
        return "It will be remembered in every session of yours."


class EditMemory(Action):
    memory: int
    text: Text
    importance: Importance = "medium"

    @transaction.atomic
    def carry_out(self, session: Session) -> str:
        PersonalUsage.objects.hold(session.owner_id)
        memories = _stored(session, self.memory)
        # The model deletes by id: of two equal memories, one would remain.
        if Memory.objects.filter(owner=session.owner_id, text=self.text).exclude(pk=self.memory).exists():
            raise NotKept("This is remembered already.", hint="Change the memory that is there.")
        memories.reword(self.text, self.importance)
        return "The memory is changed."


class Forget(Action):
    """Deletes a memory."""

    tool_title = "Forget"
    memory: Annotated[int, Field(description="Id of the memory")]

    def answer(self, context: ToolContext) -> dict[str, Any]:
        memories = {memory.id: memory.text for memory in Memories.of(context)}
        if self.memory in memories:
            return {"forgotten": memories[self.memory]}
        known = ", ".join(map(str, memories))
        raise ToolError(f"There is no memory {self.memory}.", hint=f"Memories: {known or 'none'}.")

    def carry_out(self, session: Session) -> str:
        _stored(session, self.memory).delete()
        return "It is forgotten."


def list_memories(context: ToolContext) -> dict[str, Any]:
    """Lists the memories."""
    return {"memories": [memory.value for memory in Memories.of(context)]}


class Memories(PanelKind[MemoryRow]):
    position = 80
    key = "memories"
    title = "Memories"
    description = "What to know in every session of yours."
    default_on = True
    model = Memory
    row = MemoryRow
    is_transferred = False
    transfer_reason = (
        "They are the person's, not the session's: a fork has them anyway, they outlive a session that is "
        "erased, and a file that is handed on must not tell what is known of its owner."
    )
    actions = (Remember, EditMemory, Forget)
    tool_group = "memories"
    importances = Memory.Importance.choices
    reading_tools = (tool(list_memories, "memories", "List memories", standard=False),)

    def queryset(self, session: Any, owner: Any) -> "QuerySet[Any]":
        return Memory.objects.filter(owner=owner)


def _stored(session: Session, number: int) -> Any:
    rows = Memory.objects.filter(owner=session.owner_id, pk=number)
    return existing(rows, f"There is no memory {number} any more.")
