"""Backup and restore: while others write, into an empty folder, and never over what is there by mistake."""

import asyncio
import errno
import gzip
import io
import json
import os
import subprocess
import tarfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from pytest_django import Settings

from sessions_app.backups import archive, databases, restoring
from sessions_app.backups.archive import MANIFEST, Manifest, unpack
from sessions_app.backups.making import make_backup
from sessions_app.backups.restoring import restore as restore_backup
from sessions_app.context.workspaces import workspace_of
from sessions_app.errors import BackupError
from sessions_app.models import Exchange, Session
from sessions_app.runs.processes import ProcessLock
from tests.deployment.postgres import Database
from tests.runs.patient_person import PatientPerson
from tests.server import manage

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

Restore = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(autouse=True)
def own_folders(settings: Settings, tmp_path: Path) -> None:
    settings.PIPEWEB_WORKSPACES = tmp_path / "workspaces"
    settings.PIPEWEB_DATA = tmp_path / "data"
    settings.PIPEWEB_DATA.mkdir()


@pytest.fixture
def person(alice: User) -> Iterator[PatientPerson]:
    """Before a kind provider."""
    person = PatientPerson(1, alice)
    person.provider.be_kind(True)
    yield person
    person.process.end()


@pytest.fixture
def restore(tmp_path: Path) -> Iterator[Restore]:
    """`manage.py restore` for another installation, which is empty at first."""
    other, database = tmp_path / "other", None
    variables: dict[str, str] = {}
    if connection.vendor == "postgresql":
        database = Database()
        database.create()
        variables["DATABASE_URL"] = database.url

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return manage(other, *arguments, **variables)

    yield run
    if database is not None:
        database.drop()


def test_a_backup_made_while_people_chat_is_restored_and_sound(
    person: PatientPerson, restore: Restore, tmp_path: Path
) -> None:
    person.send(0, 1)
    before = Exchange.objects.count()
    workspace_of(person.session.owner_id).write_text("notes/plan.md", "Bread")
    path = tmp_path / "backup.tar.gz"
    writing = person.process.call(begun(person))
    make_backup(path, with_secrets=False)
    person.process.call(finished(writing))
    person.process.drain()
    assert path.stat().st_mode & 0o777 == 0o600
    done = restore("restore", str(path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 session audited, 0 differences" in done.stdout
    packed = unpack(path, tmp_path / "unpacked")
    assert before > 0 and packed.vendor == connection.vendor and "database" in packed.files
    plan = tmp_path / "other" / "workspaces" / str(person.session.owner_id) / "notes" / "plan.md"
    assert plan.read_text() == "Bread"
    assert restore("migrate", "--check").returncode == 0
    again = restore("restore", str(path))
    assert again.returncode == 1 and "--force" in again.stderr
    forced = restore("restore", str(path), "--force")
    assert forced.returncode == 0 and "before-restore-" in forced.stdout.replace("_", "-")


async def begun(person: PatientPerson) -> "asyncio.Task[bool]":
    return asyncio.create_task(
        person.process.runner.send(person.session.pk, uuid.uuid4(), "task=t9 rounds=2 calls=1")
    )


async def finished(task: "asyncio.Task[bool]") -> None:
    await task


@pytest.fixture
def backup(tmp_path: Path, alice: object) -> Path:
    path = tmp_path / "small.tar.gz"
    make_backup(path, with_secrets=False)
    return path


def damage_the_middle(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)


def cut_the_end(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-200])


def rewritten(path: Path, change: Callable[[str, bytes], tuple[str, bytes]]) -> None:
    members = []
    with tarfile.open(path) as tar:
        for member in tar:
            file = tar.extractfile(member)
            assert file is not None
            members.append(change(member.name, file.read()))
    with tarfile.open(path, "w:gz") as tar:
        for name, body in members:
            info = tarfile.TarInfo(name)
            info.size = len(body)
            tar.addfile(info, io.BytesIO(body))


def change_the_database(path: Path) -> None:
    rewritten(path, lambda name, body: (name, body[:-1] + b"x" if name == "database" else body))


def lead_out(path: Path) -> None:
    rewritten(path, lambda name, body: ("../database" if name == "database" else name, body))


def name_the_folder(path: Path) -> None:
    rewritten(path, lambda name, body: ("." if name == "database" else name, body))


def no_archive(path: Path) -> None:
    path.write_bytes(gzip.compress(b"no tar file"))


@pytest.mark.parametrize(
    "damage", [damage_the_middle, cut_the_end, change_the_database, lead_out, name_the_folder, no_archive]
)
def test_a_damaged_backup_is_refused_and_changes_nothing(
    backup: Path, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    damage(backup)
    count = Session.objects.count()
    with pytest.raises(CommandError, match="is damaged"):
        call_command("restore", str(backup), "--force")
    assert Session.objects.count() == count
    assert not list((tmp_path / "data").glob("*-restore-*")) and not (tmp_path / "database").exists()


def names_replaced(name: str, body: bytes) -> tuple[str, bytes]:
    """A manifest as it was written until November 2026."""
    return name, body.replace(rb"\udcff", "\ufffd\ufffd\ufffd".encode()) if name == MANIFEST else body


@pytest.mark.parametrize("is_old", [False, True])
def test_a_file_whose_name_is_not_utf8_comes_back(
    settings: Settings, tmp_path: Path, alice: object, is_old: bool
) -> None:
    name = os.fsdecode(b"na\xff.txt")
    folder = Path(settings.PIPEWEB_WORKSPACES) / "7"
    folder.mkdir(parents=True)
    (folder / name).write_text("Bread")
    path = tmp_path / "backup.tar.gz"
    make_backup(path, with_secrets=False)
    if is_old:
        rewritten(path, names_replaced)
    unpack(path, tmp_path / "unpacked")
    assert (tmp_path / "unpacked" / "workspaces" / "7" / name).read_text() == "Bread"


def test_a_full_disk_is_not_taken_for_a_damaged_backup(backup: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(archive, "copied", full)
    with pytest.raises(BackupError, match="full") as refused:
        restore_backup(backup, force=True)
    assert "room" in refused.value.hint
    with pytest.raises(BackupError, match="full"):
        make_backup(backup.with_name("other.tar.gz"), with_secrets=False)
    assert not list(backup.parent.glob("*other*"))


@pytest.mark.skipif(connection.vendor != "sqlite", reason="pg_dump says it itself")
def test_a_database_that_cannot_be_copied_is_one_line(
    tmp_path: Path, alice: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "sqlite_path", lambda: tmp_path / "nowhere" / "rows")
    with pytest.raises(BackupError, match="cannot be copied"):
        make_backup(tmp_path / "backup.tar.gz", with_secrets=False)


def test_a_secret_that_cannot_be_read_is_one_line(tmp_path: Path, alice: object, settings: Settings) -> None:
    (Path(settings.PIPEWEB_DATA) / "gemini_key").mkdir()
    with pytest.raises(BackupError, match="gemini_key cannot be read"):
        make_backup(tmp_path / "backup.tar.gz", with_secrets=True)


def test_a_path_that_is_no_file_is_not_called_damaged(tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="cannot be read"):
        unpack(tmp_path, tmp_path / "unpacked")


def test_workspaces_stay_in_the_folder_that_a_file_system_is_mounted_at(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspaces, unpacked = Path(settings.PIPEWEB_WORKSPACES), tmp_path / "unpacked"
    for folder, text in ((workspaces, "before"), (unpacked / "workspaces", "restored")):
        (folder / "7").mkdir(parents=True)
        (folder / "7" / "plan.md").write_text(text)
    (workspaces / "lost+found").mkdir()
    inode = workspaces.stat().st_ino
    monkeypatch.setattr(restoring, "replace_database", lambda _, aside: str(aside))
    aside = Path(restoring.put_in_place(unpacked, Path(settings.PIPEWEB_DATA)))
    assert workspaces.stat().st_ino == inode and (workspaces / "lost+found").is_dir()
    assert (workspaces / "7" / "plan.md").read_text() == "restored"
    assert (aside / "workspaces" / "7" / "plan.md").read_text() == "before"


def test_what_was_moved_is_moved_back_where_the_database_is_not_replaced(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = Path(settings.PIPEWEB_WORKSPACES) / "7" / "plan.md"
    new = tmp_path / "unpacked" / "workspaces" / "8" / "plan.md"
    for file in (plan, new):
        file.parent.mkdir(parents=True)
        file.touch()

    def fail(*_: object) -> str:
        raise BackupError("psql failed")

    monkeypatch.setattr(restoring, "replace_database", fail)
    with pytest.raises(BackupError):
        restoring.put_in_place(tmp_path / "unpacked", Path(settings.PIPEWEB_DATA))
    assert plan.exists() and new.exists()


@pytest.mark.skipif(connection.vendor != "postgresql", reason="schemas")
def test_what_a_restore_set_aside_is_in_no_later_backup(
    backup: Path, restore: Restore, tmp_path: Path
) -> None:
    later = tmp_path / "later.tar.gz"
    for command in (
        ["restore", str(backup), "--no-audit"],
        ["restore", str(backup), "--no-audit", "--force"],
        ["backup", str(later)],
        ["restore", str(later), "--no-audit", "--force"],
    ):
        done = restore(*command)
        assert done.returncode == 0, done.stderr


def test_a_backup_of_a_newer_version_is_refused(backup: Path) -> None:
    def of_tomorrow(name: str, body: bytes) -> tuple[str, bytes]:
        if name != MANIFEST:
            return name, body
        manifest = Manifest.model_validate_json(body)
        return name, json.dumps(
            json.loads(body) | {"migrations": [*manifest.migrations, "9999_tomorrow"]}
        ).encode()

    rewritten(backup, of_tomorrow)
    with pytest.raises(CommandError, match="newer version"):
        call_command("restore", str(backup), "--force")


def test_nothing_is_restored_under_a_running_server(backup: Path, settings: Settings) -> None:
    lock = ProcessLock(Path(settings.PIPEWEB_DATA) / "processes")
    with pytest.raises(CommandError, match="running"):
        call_command("restore", str(backup), "--force")
    lock.release()


def test_secrets_are_packed_only_when_they_are_asked_for(tmp_path: Path, settings: Settings) -> None:
    (Path(settings.PIPEWEB_DATA) / "secret_key").write_text("a secret")
    without, with_them = (
        make_backup(tmp_path / name, with_secrets=chosen) for name, chosen in (("a", False), ("b", True))
    )
    assert not [name for name in without.files if name.startswith("secrets/")]
    assert "secrets/secret_key" in with_them.files


def test_no_file_is_overwritten_and_none_is_left_half(backup: Path, tmp_path: Path) -> None:
    whole = backup.read_bytes()
    with pytest.raises(BackupError, match="exists"):
        make_backup(backup, with_secrets=False)
    assert backup.read_bytes() == whole
    with pytest.raises(BackupError):
        make_backup(tmp_path / "nowhere" / "a.tar.gz", with_secrets=False)
    assert not list(tmp_path.glob(".*.part"))
    assert not list((tmp_path / "data").iterdir())
