"""Copies of the database, made while others write; and the database replaced by one."""

import os
import shutil
import sqlite3
import subprocess
import tempfile
from contextlib import closing
from pathlib import Path

from django.db import connection
from django.db.backends.postgresql.client import DatabaseClient

from sessions_app.errors import BackupError

BESIDE_SQLITE = ("", "-wal", "-shm")
"""Endings of the files of one SQLite database."""

SCHEMA = "public"
ASIDE = "ALTER SCHEMA public RENAME TO {aside}; CREATE SCHEMA public;\n"
"""Schemas that are set aside stay in the database, so dumps and restores name the one that is meant."""


def copy_database(target: Path) -> None:
    """One consistent state, while others write."""
    if connection.vendor == "sqlite":
        _copy_sqlite(target)
    else:
        wanted = ["--format=custom", "--no-owner", "--no-privileges", f"--schema={SCHEMA}"]
        _run(["pg_dump", *wanted, f"--file={target}"])


def sqlite_path() -> Path:
    return Path(connection.settings_dict["NAME"])


def _copy_sqlite(target: Path) -> None:
    try:
        with closing(sqlite3.connect(sqlite_path())) as source, closing(sqlite3.connect(target)) as copy:
            # All pages in one step: in several, each write of others would begin it anew.
            source.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.Error as error:
        raise BackupError(f"The database cannot be copied to {target.parent.parent}: {error}.") from error
    target.chmod(0o600)


def check_copy(copy: Path) -> None:
    """Raises BackupError where the copy is no sound database."""
    if connection.vendor != "sqlite":
        _run(["pg_restore", "--list", str(copy)], connected=False)
        return
    try:
        with closing(sqlite3.connect(copy)) as database:
            found = database.execute("PRAGMA integrity_check").fetchone()[0]
    except sqlite3.DatabaseError as error:
        found = str(error)
    if found != "ok":
        raise BackupError(f"The database in the backup is damaged: {found}.", hint="Take another backup.")


def is_in_use() -> bool:
    """Whether the database of this installation has tables."""
    if connection.vendor == "sqlite":
        path = sqlite_path()
        return path.exists() and _has_tables(path)
    return bool(connection.introspection.table_names())


def _has_tables(path: Path) -> bool:
    """Also of a file that cannot be read: what is in it is not known."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            return database.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None
    except sqlite3.Error:
        return True


def replace_database(copy: Path, aside: Path) -> str:
    """Puts the copy in the place of the database, as a whole or not at all; says where the old one is."""
    connection.close()
    if connection.vendor == "sqlite":
        return _replace_sqlite(copy, aside)
    schema = aside.name.replace("-", "_")
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "restore.sql")
        wanted = ["--no-owner", "--no-privileges", f"--schema={SCHEMA}", f"--file={script}"]
        _run(["pg_restore", *wanted, str(copy)], connected=False)
        script.write_text(ASIDE.format(aside=schema) + script.read_text("utf-8"), "utf-8")
        whole = ["--single-transaction", "--set=ON_ERROR_STOP=1", f"--file={script}"]
        _run(["psql", "--quiet", "--no-psqlrc", *whole])
    return f"schema {schema}"


def _replace_sqlite(copy: Path, aside: Path) -> str:
    path = sqlite_path()
    for ending in BESIDE_SQLITE:
        old = Path(f"{path}{ending}")
        if old.exists():
            shutil.move(old, aside / old.name)
    try:
        shutil.move(copy, path)
    except OSError:
        for ending in BESIDE_SQLITE:
            old = aside / f"{path.name}{ending}"
            if old.exists():
                shutil.move(old, f"{path}{ending}")
        raise
    return str(aside)


def _run(command: list[str], *, connected: bool = True) -> None:
    """Raises BackupError. The password travels in the environment, which other users cannot read."""
    arguments, variables = DatabaseClient.settings_to_cmd_args_env(connection.settings_dict, [])
    # The first is “psql”, the last the name of the database, by which all three programs connect.
    options = [*arguments[1:-1], f"--dbname={arguments[-1]}"] if connected else []
    environment = {**os.environ, **(variables or {})}
    try:
        done = subprocess.run(  # noqa: S603 (our own command)
            [*command, *options], env=environment, capture_output=True, text=True, check=False
        )
    except FileNotFoundError as error:
        raise BackupError(f"{command[0]} is not installed.", hint="apt install postgresql-client") from error
    if done.returncode:
        raise BackupError(f"{command[0]} failed: {done.stderr.strip()[-500:]}")
