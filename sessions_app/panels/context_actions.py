"""Actions by which the model keeps its own context: switching panels, and letting old messages go.

Each answers with what it costs, from the gauge of the last request, or refuses with the reason.
"""

from collections.abc import Collection
from secrets import token_hex
from typing import Annotated, Any

from django.db import transaction
from pydantic import Field, PrivateAttr

from sessions_app.errors import RowGone, ToolError
from sessions_app.models import HistoryChunk, HistoryDrop, Note, Session, SessionSettings
from sessions_app.models.panel_items import NOTE_LIMIT
from sessions_app.panels.base import Action, PanelKind
from sessions_app.prompt.gauge import Gauge
from sessions_app.tools.tool_context import ToolContext

SCRATCHPAD = "scratchpad"
"""The panel that shows notes."""


def cost_of(gauge: Gauge | None, gone: Collection[str], changed: Collection[str] = ()) -> dict[str, int]:
    """What leaves every request, and what the next one has to send again; empty where it is not known."""
    if gauge is None or not gauge.items:
        return {}
    return {"frees_tokens": gauge.tokens_of(gone), "resends_tokens": gauge.behind(gone, changed)}


def note_sources(note: str) -> frozenset[str]:
    """What a note changes besides."""
    return frozenset({f"panel:{SCRATCHPAD}"}) if note.strip() else frozenset()


def check_note(context: ToolContext, note: str) -> None:
    """Refuses a note that nobody would read."""
    if note.strip() and SCRATCHPAD in context.off:
        raise ToolError(
            f"The panel {SCRATCHPAD} is off: the note would not be read.",
            hint="Switch it on first, or write down what matters in your answer.",
        )


def lock_of(kind: PanelKind[Any], options: SessionSettings) -> str:
    """Why the model may not switch a panel; empty where it may."""
    if options.model_panels == "none":
        return "The settings of this session let only the user switch panels."
    if kind.key in options.panels:
        return f"The user switched this panel {'on' if options.panels[kind.key] else 'off'}."
    if kind.runs_programs and options.model_panels != "all":
        return "This panel runs programs; only the user switches it here."
    return ""


class SwitchPanel(Action):
    """Shows a panel in every request from now on, or stops showing it."""

    tool_title = "Change what it reads"
    reads_gauge = True
    panel: Annotated[str, Field(description="Its key, for example tree, git_status or statistics")]
    on: bool

    def answer(self, context: ToolContext) -> dict[str, Any]:
        if self.panel not in context.locks:
            raise ToolError(f"There is no panel “{self.panel}”.", hint=f"Panels: {', '.join(context.locks)}.")
        if lock := context.locks[self.panel]:
            raise ToolError(lock, hint="Ask the user to switch it beside the chat.")
        if (self.panel not in context.off) == self.on:
            raise ToolError(f"The panel {self.panel} is {'on' if self.on else 'off'} already.")
        answer: dict[str, Any] = {"panel": self.panel, "on": self.on}
        gauge = context.gauge
        if gauge is None or not gauge.items:
            return answer
        if self.on:
            return answer | {"resends_tokens": gauge.behind_panels(), "note": "Its own content comes on top."}
        return answer | cost_of(gauge, gauge.of_panel(self.panel))

    def carry_out(self, session: Session) -> str:
        session.switch_panel(self.panel, self.on, "panels_of_model")
        return f"{self.panel} is {'on' if self.on else 'off'}."


class DropHistory(Action):
    """Lets one part of cached_history go when this answer is over, and keeps your note of it instead. The
    user can put it back."""

    tool_title = "Let old messages go"
    is_standard_tool = False
    reads_gauge = True
    part: Annotated[int, Field(description="Its place in cached_history, from 1", ge=1)]
    note: Annotated[str, Field(description="What must be kept of it", min_length=1, max_length=NOTE_LIMIT)]

    _key: str = PrivateAttr(default_factory=lambda: token_hex(4))

    def answer(self, context: ToolContext) -> dict[str, Any]:
        if not self.note.strip():
            raise ToolError("Write down first what must be kept of it.")
        check_note(context, self.note)
        chunks = context.gauge.chunks if context.gauge else ()
        if self.part > len(chunks):
            hint = f"It has {len(chunks)}." if chunks else "No part of the history was put away yet."
            raise ToolError(f"There is no part {self.part} of cached_history.", hint=hint)
        cost = cost_of(context.gauge, {chunks[self.part - 1].source}, note_sources(self.note))
        return {"dropped_part": self.part, "when": "this answer is over", "drop": self._key} | cost

    @transaction.atomic
    def carry_out(self, session: Session) -> str:
        chunks = HistoryChunk.objects.on_branch(session.head_id)
        if self.part > len(chunks):
            raise RowGone(f"There is no part {self.part} of cached_history any more.")
        chunk = chunks[self.part - 1]
        if session.history_drops.waiting().filter(chunk=chunk).exists():
            raise ToolError(f"Part {self.part} goes already when this answer is over.")
        HistoryDrop.objects.create(
            session=session, key=self._key, chunk=chunk, name=chunk.name, messages=chunk.messages
        )
        Note.objects.add_to(session, self.note, chunk.name)
        return f"{chunk.name} goes when this answer is over."


DROPPING_TOOL = DropHistory.action_name()
