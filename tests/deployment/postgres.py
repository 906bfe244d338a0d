"""A database for the deployment: on the PostgreSQL that is there, else on one started for the tests."""

import os
import shutil
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, LiteralString

import psycopg
from psycopg import sql

from tests.deployment.programs import Program, found, free_port

ADMIN = "postgres"

START_LIMIT = 60.0
"""Seconds until a server of the tests takes connections, on a busy machine."""

TERMINATE = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""

TERMINATE_OTHER = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"


def server_url() -> str:
    """The server that DATABASE_URL names, or the one of this machine."""
    url = os.environ.get("DATABASE_URL", "")
    return url if url.startswith("postgres") else f"postgres://{ADMIN}@127.0.0.1:5432/postgres"


def answers(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=3).close()
    except psycopg.OperationalError:
        return False
    return True


def programs() -> Path | None:
    """The folder of initdb and postgres; Debian keeps them outside every PATH."""
    initdb = found("initdb")
    if initdb is not None:
        return Path(initdb).parent
    return max((path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")), default=None)


def is_possible() -> bool:
    return answers(server_url()) or programs() is not None


class Cluster:
    """A PostgreSQL of its own, in a folder that goes with it."""

    def __init__(self, binaries: Path) -> None:
        self._user = ADMIN if os.geteuid() == 0 else None
        # PostgreSQL refuses to work as root, and the folder of the tests is closed to anybody else.
        self._folder = Path(tempfile.mkdtemp(prefix="pipeweb-postgres-"))
        if self._user is not None:
            shutil.chown(self._folder, self._user)
        data = str(self._folder / "data")
        self._initialise(str(binaries / "initdb"), data)
        port = free_port()
        options = ("listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off")
        command = [str(binaries / "postgres"), "-D", data, "-p", str(port)]
        command += [word for option in options for word in ("-c", option)]
        self._program = Program(command, port, self._folder, user=self._user)
        self.url = f"postgres://{ADMIN}@127.0.0.1:{port}/postgres"

    def start(self) -> None:
        """Its port is open before it takes connections."""
        self._program.start()
        deadline = time.monotonic() + START_LIMIT
        while not answers(self.url) and time.monotonic() < deadline:
            time.sleep(0.1)

    def end(self) -> None:
        self._program.stop()
        shutil.rmtree(self._folder)

    def _initialise(self, initdb: str, data: str) -> None:
        command = [initdb, "-D", data, "--auth", "trust", "--username", ADMIN, "--no-sync"]
        subprocess.run(command, check=True, capture_output=True, cwd=self._folder, user=self._user)


class Database:
    """A new database with a name of its own, dropped at the end.

    A `fast` one is of a server of its own where that can be started: nothing of it needs to survive.
    """

    def __init__(self, *, fast: bool = False) -> None:
        self._server = server_url()
        self._cluster: Cluster | None = None
        binaries = programs()
        if binaries is not None and (fast or not answers(self._server)):
            self._cluster = Cluster(binaries)
            self._server = self._cluster.url
        self.name = f"pipeweb_deployment_{uuid.uuid4().hex}"
        self.url = f"{self._server.rpartition('/')[0]}/{self.name}"

    def create(self) -> None:
        if self._cluster is not None:
            self._cluster.start()
        self._run("CREATE DATABASE {}")

    def drop(self) -> None:
        self._run("DROP DATABASE IF EXISTS {} WITH (FORCE)")
        if self._cluster is not None:
            self._cluster.end()

    def rows(self, statement: LiteralString, *values: object) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.url, autocommit=True) as connection:
            return connection.execute(statement, values).fetchall()

    def terminate_connections(self) -> int:
        """Ends all connections to the database, as a restart does; how many there were."""
        return len(self.rows(TERMINATE))

    @contextmanager
    def gone(self) -> Iterator[None]:
        """Nobody is connected, and nobody gets in, for as long as the block lasts."""
        self._run("ALTER DATABASE {} WITH ALLOW_CONNECTIONS false")
        try:
            with psycopg.connect(self._server, autocommit=True) as connection:
                connection.execute(TERMINATE_OTHER, [self.name])
            yield
        finally:
            self._run("ALTER DATABASE {} WITH ALLOW_CONNECTIONS true")

    @contextmanager
    def read_only(self) -> Iterator[None]:
        """New connections, and all old ones have ended, take no changes for as long as the block lasts."""
        self._run("ALTER DATABASE {} SET default_transaction_read_only = on")
        try:
            self.terminate_connections()
            yield
        finally:
            self._run("ALTER DATABASE {} RESET default_transaction_read_only")
            self.terminate_connections()

    def _run(self, statement: str) -> None:
        with psycopg.connect(self._server, autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(sql.Identifier(self.name)))
