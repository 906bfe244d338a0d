"""Puts a backup in the place of what an installation has; that is set aside, not deleted."""

import shutil
import tempfile
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

from sessions_app.backups.archive import (
    DATABASE,
    FORMAT,
    SECRETS,
    WORKSPACES,
    Manifest,
    room_in,
    unpack,
)
from sessions_app.backups.databases import check_copy, is_in_use, replace_database
from sessions_app.errors import BackupError
from sessions_app.runs.processes import living_processes

LOST_AND_FOUND = "lost+found"


def restore(path: Path, *, force: bool) -> str:
    """Everything is unpacked and checked before anything is moved; says where the old data is.

    Raises BackupError. The database keeps the version of the backup: migrate it afterwards.
    """
    _refuse_while_serving()
    data = Path(settings.PIPEWEB_DATA)
    if not force and (is_in_use() or any(Path(settings.PIPEWEB_WORKSPACES).glob("*/*"))):
        raise BackupError(
            "This installation has data.", hint="Say --force to set it aside and restore the backup."
        )
    with room_in(data), tempfile.TemporaryDirectory(prefix="restoring-", dir=data) as folder:
        unpacked = Path(folder)
        manifest = unpack(path, unpacked)
        _check_version(manifest)
        check_copy(unpacked / DATABASE)
        return put_in_place(unpacked, data)


def _refuse_while_serving() -> None:
    if living_processes(Path(settings.PIPEWEB_DATA) / "processes"):
        raise BackupError("A Pipeweb server is running on this data.", hint="Stop it, then restore.")


def _check_version(manifest: Manifest) -> None:
    known = {name for app, name in MigrationLoader(None).disk_migrations if app == "sessions_app"}
    newer = sorted(set(manifest.migrations) - known)
    if manifest.format > FORMAT or newer:
        raise BackupError(
            f"The backup is of a newer version (Pipeweb {manifest.pipeweb}{', ' if newer else ''}"
            f"{newer[0] if newer else ''}).",
            hint="Install that version or a later one, then restore.",
        )
    if manifest.vendor != connection.vendor:
        raise BackupError(
            f"The backup is of {manifest.vendor}, and this installation uses {connection.vendor}.",
            hint="Restore it where DATABASE_URL names the same kind.",
        )


def put_in_place(unpacked: Path, data: Path) -> str:
    """The database last: until then what was moved is moved back when something fails."""
    aside = data / f"before-restore-{timezone.now():%Y%m%d-%H%M%S}"
    workspaces = Path(settings.PIPEWEB_WORKSPACES)
    moved: list[tuple[Path, Path]] = []

    def move(one: Path, place: Path) -> None:
        place.parent.mkdir(0o700, parents=True, exist_ok=True)
        shutil.move(one, place)
        moved.append((place, one))

    try:
        # One by one: the folder itself may be where a file system is mounted.
        for folder in entries(workspaces):
            move(folder, aside / WORKSPACES / folder.name)
        for folder in entries(unpacked / WORKSPACES):
            move(folder, workspaces / folder.name)
        for secret in entries(unpacked / SECRETS):
            place = data / secret.name
            if place.exists():
                move(place, aside / secret.name)
            move(secret, place)
        aside.mkdir(0o700, exist_ok=True)
        return replace_database(unpacked / DATABASE, aside)
    except BaseException:
        for now, before in reversed(moved):
            shutil.move(now, before)
        raise


def entries(folder: Path) -> list[Path]:
    """What is in a folder, or nothing; not what the file system keeps at its root."""
    return sorted(path for path in folder.glob("*") if path.name != LOST_AND_FOUND)
