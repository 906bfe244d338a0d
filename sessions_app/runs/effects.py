"""What tools ask for becomes rows and files here: a tool returns, the run writes."""

from collections.abc import Iterable

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from sessions_app.context.workspaces import workspace_of
from sessions_app.models import Artifact, Run, Session, Todo
from sessions_app.tools import AddTodo, CompleteTodo, Effect, TodoView, ToolContext, WriteArtifact


def tool_context(run: Run) -> ToolContext:
    """What the tools of a round may see: one state for all parallel calls."""
    session = Session.objects.get(pk=run.session_id)
    return ToolContext(
        now=run.now,
        workspace=workspace_of(session.owner_id),
        todos=tuple(TodoView(todo.position, todo.title, todo.done) for todo in session.todos.all()),
        references=tuple(session.references.values_list("path", flat=True)),
        timezone=session.options.time_zone,
    )


@transaction.atomic
def apply(run: Run, effects: Iterable[Effect]) -> None:
    """Carries the effects out in call order, all or none."""
    session = Session.objects.get(pk=run.session_id)
    for effect in effects:
        match effect:
            case AddTodo(title=title):
                _add_todo(session, title)
            case CompleteTodo(position=position):
                session.todos.filter(position=position).update(done=True, changed_at=timezone.now())
            case WriteArtifact(path=path, text=text):
                _write_artifact(session, path, text)


def _add_todo(session: Session, title: str) -> None:
    last = session.todos.aggregate(last=Max("position"))["last"] or 0
    Todo.objects.create(session=session, position=last + 1, title=title[:300])


def _write_artifact(session: Session, path: str, text: str) -> None:
    workspace_of(session.owner_id).write_text(path, text)
    Artifact.objects.update_or_create(session=session, path=path, defaults={"changed_at": timezone.now()})
