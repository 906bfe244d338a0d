"""The console panel: output of the commands that an administrator allowed."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.db.models import CharField, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Concat

from sessions_app.context.workspaces import workspace_of
from sessions_app.models import AllowedCommand, Reading, Session
from sessions_app.panels.base import DueReading, PanelInputs, PanelKind, PanelValue, ProgramOutput
from sessions_app.panels.program_panel import ProgramPanel, ReadingRow, is_due, output_of, run_program

LONGEST = 10
"""Seconds that an allowed command may take, whatever its row says."""

PREFIX = "console:"


class CommandRow(ReadingRow):
    """`every` is the seconds between two readings."""

    key: str
    every: int

    @property
    def name(self) -> str:
        return self.key.removeprefix(PREFIX)


@dataclass(frozen=True, slots=True)
class ListedCommand:
    """An allowed command and its last output."""

    command: AllowedCommand
    reading: Reading | None


class Console(PanelKind[CommandRow]):
    position = 150
    key = "console"
    title = "Console"
    description = "Output of commands that an administrator allowed: it runs programs."
    model = Reading
    row = CommandRow
    runs_programs = True
    is_transferred = False
    transfer_reason = ProgramPanel.transfer_reason

    def queryset(self, session: Any, owner: Any) -> "QuerySet[Any]":
        keyed = AllowedCommand.objects.filter(enabled=True).annotate(
            reading=Concat(Value(PREFIX), "name", output_field=CharField())
        )
        every = keyed.filter(reading=OuterRef("key")).values("every")
        return Reading.objects.filter(session=session).annotate(every=Subquery(every)).exclude(every=None)

    def value(self, inputs: PanelInputs) -> PanelValue:
        outputs = [{"command": row.name, **output_of(row, inputs.now, row.every)} for row in self.of(inputs)]
        return PanelValue(outputs, "" if outputs else "No command has been read yet, or none is allowed.")

    def template_context(self, session: Session, read: object) -> dict[str, Any]:
        last = {one.key: one for one in session.readings.filter(key__startswith=PREFIX)}
        allowed = AllowedCommand.objects.filter(enabled=True)
        return {"commands": [ListedCommand(one, last.get(f"{PREFIX}{one.name}")) for one in allowed]}

    def due(self, session: Session, read: Mapping[str, datetime], now: datetime) -> list[DueReading]:
        return [
            DueReading(session.pk, key, partial(_run, command, session.owner_id))
            for command in AllowedCommand.objects.filter(enabled=True)
            if is_due(read.get(key := f"{PREFIX}{command.name}"), command.every, now)
        ]


def _run(command: AllowedCommand, owner_id: int) -> ProgramOutput:
    if not command.is_runnable:
        return ProgramOutput(f"The command “{command.name}” has no list of words to run.", failed=True)
    folder = workspace_of(owner_id).root
    return run_program(command.argv, folder, timeout=min(command.timeout, LONGEST))
