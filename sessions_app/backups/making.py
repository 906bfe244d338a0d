"""Makes a backup while the installation serves people."""

import tempfile
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from sessions_app.backups.archive import DATABASE, FORMAT, SECRETS, WORKSPACES, Manifest, room_in, written
from sessions_app.backups.databases import copy_database
from sessions_app.context.mcp_secrets import FOLDER as MCP_SECRETS
from sessions_app.health.middleware import version

SECRET_FILES = ("secret_key", "gemini_key")
"""Files of the data folder with which somebody could sign cookies or spend money."""


def make_backup(path: Path, *, with_secrets: bool) -> Manifest:
    """First the database, then the files, which may be newer. Raises BackupError."""
    with room_in(path.parent), written(path) as packer:
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            copy = Path(folder, DATABASE)
            copy_database(copy)
            packer.add(DATABASE, copy)
        packer.add_tree(WORKSPACES, Path(settings.PIPEWEB_WORKSPACES))
        for name in SECRET_FILES if with_secrets else ():
            packer.add(f"{SECRETS}/{name}", Path(settings.PIPEWEB_DATA) / name)
        if with_secrets:
            packer.add_tree(f"{SECRETS}/{MCP_SECRETS}", Path(settings.PIPEWEB_DATA) / MCP_SECRETS)
        manifest = Manifest(
            format=FORMAT,
            made_at=timezone.now(),
            pipeweb=version(),
            vendor=connection.vendor,
            migrations=applied_migrations(),
            files=packer.files,
        )
        packer.finish(manifest)
    return manifest


def applied_migrations() -> list[str]:
    applied = MigrationRecorder(connection).applied_migrations()
    return sorted(name for app, name in applied if app == "sessions_app")
