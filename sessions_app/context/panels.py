"""The panels of the dynamic layer: todos, referenced files, artifacts."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from django.db.models import Value

from sessions_app.errors import WorkspaceError
from sessions_app.models import Session
from sessions_app.prompt.panels import Panel
from sessions_app.workspace import Workspace


def collect_panels(session: Session, workspace: Workspace) -> list[Panel]:
    """Panels that have something to say; a file that cannot be sent is named with the reason."""
    paths = _paths(session)
    found = [
        _files("file_references", "Referenced files", paths["file_references"], workspace),
        _files("artifacts", "Artifacts", paths["artifacts"], workspace),
        _todos(session),
    ]
    return [panel for panel in found if panel is not None]


def _paths(session: Session) -> dict[str, dict[str, datetime]]:
    """Per panel, path → when it was added or changed, oldest first: one query for both."""
    references = session.references.filter(enabled=True).order_by()
    artifacts = session.artifacts.order_by()
    both = references.values_list(Value("file_references"), "added_at", "path").union(
        artifacts.values_list(Value("artifacts"), "changed_at", "path"), all=True
    )
    paths: dict[str, dict[str, datetime]] = {"file_references": {}, "artifacts": {}}
    for panel, stamp, path in sorted(both):
        paths[panel][path] = stamp
    return paths


def _todos(session: Session) -> Panel | None:
    todos = list(session.todos.all())
    if not todos:
        return None
    value = [{"position": todo.position, "title": todo.title, "done": todo.done} for todo in todos]
    return Panel(key="todos", title="Todos", value=value, changed=max(todo.changed_at for todo in todos))


def _files(key: str, title: str, paths: Mapping[str, datetime], workspace: Workspace) -> Panel | None:
    if not paths:
        return None
    value = [_file(path, workspace) for path in paths]
    return Panel(key=key, title=title, value=value, changed=max(_changes(paths, workspace)))


def _file(path: str, workspace: Workspace) -> dict[str, str]:
    try:
        return {"path": path, "content": workspace.read_text(path)}
    except WorkspaceError as error:
        return {"path": path, "not_sent": error.message}


def _changes(paths: Mapping[str, datetime], workspace: Workspace) -> Iterable[datetime]:
    """When each file was added or last written, whichever is later."""
    for path, added in paths.items():
        try:
            written = datetime.fromtimestamp(workspace.resolve(path).stat().st_mtime, UTC)
        except (OSError, WorkspaceError):
            written = added
        yield max(added, written)
