"""What tools ask for becomes rows and files here: a tool returns, the run writes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from sessions_app.context.files import open_file
from sessions_app.context.kinds import KEYS
from sessions_app.context.rows import read_rows
from sessions_app.context.workspaces import workspace_of
from sessions_app.errors import ToolError
from sessions_app.models import Artifact, LogEntry, Memory, Note, PanelState, Run, Session, Todo
from sessions_app.tools import Effect, MemoryView, TodoView, ToolContext
from sessions_app.tools import effects as asked

SEEN_BY_TOOLS = ("todos", "file_references", "memories", "scratchpad")


def tool_context(run: Run) -> ToolContext:
    """What the tools of a round may see: one state for all parallel calls. One query.

    The run's session is as its last request found it.
    """
    session = run.session
    rows = read_rows(session, SEEN_BY_TOOLS)
    return ToolContext(
        now=run.now,
        workspace=workspace_of(session.owner_id),
        todos=tuple(TodoView(row.number, row.text, row.flag) for row in rows["todos"]),
        references=tuple(row.text for row in rows["file_references"]),
        memories=tuple(MemoryView(row.number, row.text, row.extra) for row in rows["memories"]),
        notes=tuple(row.number for row in rows["scratchpad"]),
        timezone=session.options.time_zone,
    )


def apply(run: Run, effects: Iterable[Effect]) -> None:
    """Carries the effects out in call order, all or none. Raises ToolError, WorkspaceError."""
    if effects := tuple(effects):
        _carry_out(run, effects)


@transaction.atomic
def _carry_out(run: Run, effects: Sequence[Effect]) -> None:
    session = Session.objects.get(pk=run.session_id)
    for effect in effects:
        WRITES[type(effect)](session, effect)


def _add_todo(session: Session, effect: asked.AddTodo) -> None:
    Todo.objects.add_to(session, effect.title)


def _complete_todo(session: Session, effect: asked.CompleteTodo) -> None:
    session.todos.filter(position=effect.position).tick()


def _edit_todo(session: Session, effect: asked.EditTodo) -> None:
    if not session.todos.filter(position=effect.position).reword(effect.title):
        raise ToolError(f"There is no todo at position {effect.position} any more.")


def _remove_todo(session: Session, effect: asked.RemoveTodo) -> None:
    session.todos.filter(position=effect.position).delete()


def _remember(session: Session, effect: asked.Remember) -> None:
    Memory.objects.remember(session.owner_id, effect.text, effect.importance, session=session)


def _forget(session: Session, effect: asked.Forget) -> None:
    Memory.objects.filter(owner_id=session.owner_id, pk=effect.number).delete()


def _write_note(session: Session, effect: asked.WriteNote) -> None:
    if effect.position is None:
        Note.objects.add_to(session, effect.text)
    elif not session.notes.filter(position=effect.position).rewrite(effect.text, append=effect.append):
        raise ToolError(f"There is no note {effect.position} any more.")


def _clear_note(session: Session, effect: asked.ClearNote) -> None:
    session.notes.filter(position=effect.position).delete()


def _add_log(session: Session, effect: asked.AddLog) -> None:
    LogEntry.objects.add_to(session, effect.text)


def _open_file(session: Session, effect: asked.OpenFile) -> None:
    open_file(session, workspace_of(session.owner_id), effect.path, ttl=effect.ttl)


def _close_file(session: Session, effect: asked.CloseFile) -> None:
    session.references.filter(path=effect.path).switch(on=False)


def _turn_page(session: Session, effect: asked.TurnPage) -> None:
    """A panel by its key, else an open file by its path."""
    if effect.panel in KEYS:
        PanelState.objects.turn_to(session, effect.panel, effect.page)
    elif not session.references.filter(path=effect.panel, enabled=True).turn_to(effect.page):
        raise ToolError(
            f"There is no panel and no open file “{effect.panel}”.", hint="Open a file before turning it."
        )


def _write_artifact(session: Session, effect: asked.WriteArtifact) -> None:
    workspace_of(session.owner_id).write_text(effect.path, effect.text)
    now = {"changed_at": timezone.now()}
    Artifact.objects.update_or_create(session=session, path=effect.path, defaults=now)


WRITES: Mapping[type, Callable[[Session, Any], None]] = {
    asked.AddTodo: _add_todo,
    asked.CompleteTodo: _complete_todo,
    asked.EditTodo: _edit_todo,
    asked.RemoveTodo: _remove_todo,
    asked.Remember: _remember,
    asked.Forget: _forget,
    asked.WriteNote: _write_note,
    asked.ClearNote: _clear_note,
    asked.AddLog: _add_log,
    asked.OpenFile: _open_file,
    asked.CloseFile: _close_file,
    asked.TurnPage: _turn_page,
    asked.WriteArtifact: _write_artifact,
}
