"""The scratchpad panel: numbered notes of the person and the model, and their actions."""

from typing import Annotated, Any

from django.db import transaction
from django.utils import timezone
from pydantic import Field

from sessions_app.errors import ToolError
from sessions_app.models import Note, Session
from sessions_app.models.columns import storable
from sessions_app.models.panel_items import NOTE_LIMIT, NOTE_TITLE_LIMIT
from sessions_app.panels.base import Action, PanelKind, existing
from sessions_app.panels.rows import Moment, PanelRow
from sessions_app.tools.tool_context import ToolContext


class NoteRow(PanelRow):
    position: int
    title: str = ""
    text: str = ""
    changed_at: Moment = Field(default_factory=timezone.now)

    @property
    def value(self) -> dict[str, Any]:
        return self.model_dump(include={"position", "text", *(("title",) if self.title else ())})


class WriteNote(Action):
    """Writes a note on the session's scratchpad."""

    tool_title = "Write a note"
    is_standard_tool = False
    text: Annotated[str, Field(max_length=NOTE_LIMIT)]
    position: Annotated[int, Field(description="An existing note; 0: a new one", ge=0)] = 0
    append: Annotated[bool, Field(description="Add to the note instead of replacing it")] = False

    def answer(self, context: ToolContext) -> dict[str, Any]:
        if self.position:
            _check(context, self.position)
        return {"written": len(self.text)}

    def carry_out(self, session: Session) -> str:
        return f"Note {self._write(session)} is written."

    def _write(self, session: Session) -> int:
        """Returns the position of the note."""
        if not self.position:
            return Note.objects.add_to(session, self.text).position
        _stored(session, self.position).rewrite(self.text, append=self.append)
        return self.position


class WriteTitledNote(WriteNote):
    """The person's form: with a title, and without empty notes."""

    tool_title = ""
    text: Annotated[str, Field(min_length=1, max_length=NOTE_LIMIT)]
    title: Annotated[str, Field(max_length=NOTE_TITLE_LIMIT)] = ""

    @transaction.atomic
    def carry_out(self, session: Session) -> str:
        position = self._write(session)
        session.notes.filter(position=position).update(title=storable(self.title.strip()))
        return f"Note {position} is written."


class ClearNote(Action):
    """Removes a note; the others keep their positions."""

    tool_title = "Clear a note"
    is_standard_tool = False
    position: int

    def answer(self, context: ToolContext) -> dict[str, Any]:
        _check(context, self.position)
        return {"cleared": self.position}

    def carry_out(self, session: Session) -> str:
        _stored(session, self.position).delete()
        return f"Note {self.position} is cleared."


class Scratchpad(PanelKind[NoteRow]):
    position = 110
    key = "scratchpad"
    title = "Scratchpad"
    description = "Notes that you and the model keep."
    default_on = True
    model = Note
    row = NoteRow
    order = "position"
    is_transferred = True
    transfer_reason = "The conversation speaks of them by their numbers."
    actions = (WriteNote, WriteTitledNote, ClearNote)
    tool_group = "notes"


def _check(context: ToolContext, position: int) -> None:
    positions = [note.position for note in Scratchpad.of(context)]
    if position not in positions:
        known = ", ".join(map(str, positions))
        raise ToolError(f"There is no note {position}.", hint=f"Notes: {known or 'none'}.")


def _stored(session: Session, position: int) -> Any:
    return existing(session.notes.filter(position=position), f"There is no note {position} any more.")
