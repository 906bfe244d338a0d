"""Puts a backup in the place of what an installation has; that is set aside, not deleted."""

import shutil
import tempfile
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

from sessions_app.backups.archive import DATABASE, FORMAT, SECRETS, WORKSPACES, Manifest, unpack
from sessions_app.backups.databases import check_copy, is_in_use, replace_database
from sessions_app.errors import BackupError
from sessions_app.runs.processes import living_processes


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
    with tempfile.TemporaryDirectory(prefix="restoring-", dir=data) as folder:
        unpacked = Path(folder)
        manifest = unpack(path, unpacked)
        _check_version(manifest)
        check_copy(unpacked / DATABASE)
        return _move(unpacked, data)


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


def _move(unpacked: Path, data: Path) -> str:
    """The database last: until then what was moved is moved back when something fails."""
    aside = data / f"before-restore-{timezone.now():%Y%m%d-%H%M%S}"
    aside.mkdir(0o700)
    moved: list[tuple[Path, Path]] = []

    def replace(new: Path, place: Path) -> None:
        if place.exists():
            shutil.move(place, aside / place.name)
            moved.append((aside / place.name, place))
        if new.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(new, place)
            moved.append((place, new))

    try:
        replace(unpacked / WORKSPACES, Path(settings.PIPEWEB_WORKSPACES))
        for secret in sorted((unpacked / SECRETS).glob("*")):
            replace(secret, data / secret.name)
        return replace_database(unpacked / DATABASE, aside)
    except BaseException:
        for now, before in reversed(moved):
            shutil.move(now, before)
        raise
