"""Backup and restore: while others write, into an empty folder, and never over what is there by mistake."""

import asyncio
import gzip
import io
import json
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

from sessions_app.backups.archive import MANIFEST, Manifest, unpack
from sessions_app.backups.making import make_backup
from sessions_app.context.workspaces import workspace_of
from sessions_app.errors import BackupError
from sessions_app.models import Exchange, Session
from sessions_app.runs.processes import ProcessLock
from tests.deployment.postgres import Database
from tests.runs.test_unkind_sessions import PatientPerson
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
    assert "1 sessions audited, 0 differences" in done.stdout
    packed = unpack(path, tmp_path / "unpacked")
    assert before > 0 and packed.vendor == connection.vendor and "database" in packed.files
    plan = tmp_path / "other" / "workspaces" / str(person.session.owner_id) / "notes" / "plan.md"
    assert plan.read_text() == "Bread"
    assert restore("migrate", "--check").returncode == 0
    again = restore("restore", str(path))
    assert again.returncode == 1 and "--force" in again.stderr
    forced = restore("restore", str(path), "--force")
    assert forced.returncode == 0 and "before-restore-" in forced.stdout.replace("_", "-")


async def begun(person: PatientPerson) -> "asyncio.Task[None]":
    return asyncio.create_task(
        person.process.runner.send(person.session.pk, uuid.uuid4(), "task=t9 rounds=2 calls=1")
    )


async def finished(task: "asyncio.Task[None]") -> None:
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


def no_archive(path: Path) -> None:
    path.write_bytes(gzip.compress(b"no tar file"))


@pytest.mark.parametrize(
    "damage", [damage_the_middle, cut_the_end, change_the_database, lead_out, no_archive]
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
