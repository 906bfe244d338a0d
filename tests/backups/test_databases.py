"""What counts as data of an installation that a restored database would replace."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from django.db import connection

from sessions_app.backups import databases

pytestmark = pytest.mark.skipif(connection.vendor != "sqlite", reason="files of SQLite")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "of 100 %.sqlite3"
    monkeypatch.setattr(databases, "sqlite_path", lambda: path)
    return path


def write(file: Path, *statements: str) -> None:
    with closing(sqlite3.connect(file)) as database:
        for statement in ("PRAGMA journal_mode=WAL", *statements):
            database.execute(statement)


def test_a_file_without_tables_is_no_data(file: Path) -> None:
    assert not databases.is_in_use() and not file.exists()
    write(file)
    assert file.stat().st_size > 0 and not databases.is_in_use()


def test_a_file_with_tables_is_data(file: Path) -> None:
    write(file, "CREATE TABLE anything (one)")
    assert databases.is_in_use()


def test_a_file_that_cannot_be_read_is_taken_for_data(file: Path) -> None:
    file.write_bytes(b"no database" * 1_000)
    assert databases.is_in_use()
