"""The workspace folder of each user."""

import shutil
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from sessions_app.workspace import Workspace


def workspace_of(owner_id: int) -> Workspace:
    """The user's folder under PIPEWEB_WORKSPACES; created when missing."""
    root = _folder_of(owner_id)
    root.mkdir(parents=True, exist_ok=True)
    return Workspace(root)


def remove_workspace(owner_id: int) -> None:
    """Deletes the user's folder; of a symlink only the link. Raises OSError."""
    folder = _folder_of(owner_id)
    if folder.is_symlink():
        folder.unlink()
    elif folder.exists():
        shutil.rmtree(folder)


def remove_with_user(instance: Any, using: str, **_: Any) -> None:
    """Receiver of `post_delete` of users: deletes the folder on commit; Django logs an error."""
    owner_id = instance.pk  # Django empties it before the commit.
    transaction.on_commit(lambda: remove_workspace(owner_id), using=using, robust=True)


def _folder_of(owner_id: int) -> Path:
    return Path(settings.PIPEWEB_WORKSPACES) / str(owner_id)
