"""Texts that people attach: they become files of the workspace, open in the context."""

from sessions_app.context.workspaces import workspace_of
from sessions_app.models import Reference, Session


def keep_text(session: Session, name: str, text: str) -> Reference:
    """Raises WorkspaceError, StorageFull."""
    workspace = workspace_of(session.owner_id)
    stored = workspace.store_upload(f"{name}.md", [text.encode(errors="replace")])
    return session.references.open_in(session, workspace.relative(stored))
