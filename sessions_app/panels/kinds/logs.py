"""The log panel: what was done or decided in a session, line by line."""

from typing import Annotated, Any

from django.db.models import QuerySet
from django.utils import timezone
from pydantic import Field, StringConstraints

from sessions_app.context.arguments import time_zone
from sessions_app.models import LogEntry, Session
from sessions_app.models.panel_items import LINE_LIMIT
from sessions_app.panels.base import Action, PanelInputs, PanelKind, PanelValue, ReadPanel, existing
from sessions_app.panels.rows import Moment, PanelRow
from sessions_app.tools.tool_context import ToolContext

SENT_LINES = 100
"""Newest lines of the log that are sent."""

Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LINE_LIMIT)]


class LogRow(PanelRow):
    text: str
    created_at: Moment = Field(default_factory=timezone.now)


class AddLog(Action):
    """Adds a line to the session's log."""

    tool_title = "Add to the log"
    is_standard_tool = False
    text: Annotated[Line, Field(description="What was done or decided")]

    def answer(self, context: ToolContext) -> dict[str, Any]:
        return {"logged": self.text}

    def carry_out(self, session: Session) -> str:
        LogEntry.objects.add_to(session, self.text)
        return "The line is added."


class RemoveLog(Action):
    line: int

    def carry_out(self, session: Session) -> str:
        existing(session.log_entries.filter(pk=self.line), "There is no such line any more.").delete()
        return "The line is removed."


class Logs(PanelKind[LogRow]):
    position = 100
    key = "logs"
    title = "Log"
    description = "What was done and decided, line by line."
    default_on = True
    model = LogEntry
    row = LogRow
    is_transferred = True
    transfer_reason = "It is the session's own account of itself."
    actions = (AddLog, RemoveLog)
    tool_group = "notes"

    def queryset(self, session: Any, owner: Any) -> "QuerySet[Any]":
        newest = LogEntry.objects.filter(session=session).order_by("-pk").values("pk")[:SENT_LINES]
        return LogEntry.objects.filter(pk__in=newest)

    def template_context(self, session: Session, read: ReadPanel) -> dict[str, Any]:
        older = max(0, LogEntry.objects.filter(session=session).count() - SENT_LINES)
        return {**super().template_context(session, read), "older": older}

    def value(self, inputs: PanelInputs) -> PanelValue:
        local = time_zone(inputs.options.time_zone)
        lines = self.of(inputs)
        return PanelValue(
            [
                {"at": line.created_at.astimezone(local).isoformat(timespec="seconds"), "text": line.text}
                for line in lines
            ]
        )
