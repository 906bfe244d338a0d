"""Where a person's files lie."""

from pathlib import Path

from django.conf import settings

from sessions_app.workspace import Workspace


def workspace_of(owner_id: int) -> Workspace:
    """The folder of one user under the configured root, made on first use."""
    root = Path(settings.PIPEWEB_WORKSPACES) / str(owner_id)
    root.mkdir(parents=True, exist_ok=True)
    return Workspace(root)
