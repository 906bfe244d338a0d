"""A real `manage.py up` in a process of its own, with a data folder of its own."""

import os
import re
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import ClassVar, Self

from tests.conftest import ROOT

START_LIMIT = 240.0
"""Seconds a first start may take on a busy machine."""


def environment(folder: Path, **variables: str) -> dict[str, str]:
    """Nothing of the developer's shell but the path to programs."""
    return {"PATH": os.environ["PATH"], "PIPEWEB_DATA": str(folder), **variables}


def manage(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """One command, run to its end."""
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment(folder, **variables),
        capture_output=True,
        text=True,
        check=False,
        timeout=START_LIMIT,
    )


DATABASE = "pipeweb.sqlite3"
ELSEWHERE = {"DATABASE_URL", "PIPEWEB_ACCOUNTS"}
"""Variables with which a database is another one, or has further tables."""


@cache
def migrated() -> bytes:
    """An empty database with all migrations, which take most of a first start. Made once in a process."""
    with TemporaryDirectory() as folder:
        done = manage(Path(folder), "migrate", "--verbosity=0")
        assert done.returncode == 0, done.stderr
        assert not (Path(folder) / f"{DATABASE}-wal").exists()
        return (Path(folder) / DATABASE).read_bytes()


class Server:
    """Entering starts it and waits for its greeting; leaving ends it.

    A new folder gets a migrated database.
    """

    is_migrated: ClassVar[bool] = True

    def __init__(self, folder: Path, *arguments: str, **variables: str) -> None:
        self.folder = folder
        self.arguments = arguments
        self.variables = variables
        self.output = ""
        self.greeted = threading.Event()

    def __enter__(self) -> Self:
        database = self.folder / DATABASE
        if self.is_migrated and not (self.variables.keys() & ELSEWHERE or database.exists()):
            self.folder.mkdir(mode=0o700, exist_ok=True)
            database.touch(mode=0o600)
            database.write_bytes(migrated())
        command = [sys.executable, "manage.py", "up", "--port", "0", *self.arguments]
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment(self.folder, **self.variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        # A pipe that nobody reads fills up and stops the server.
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        if not self.greeted.wait(START_LIMIT) or self.process.poll() is not None:
            self._end()
            raise AssertionError(f"the server did not come up:\n{self.output}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    @property
    def link(self) -> str:
        """The one-time sign-in link that `up` printed."""
        return self._found(r"is up: (http://\S+/sign-in/\S+)")

    @property
    def url(self) -> str:
        return self._found(r"is up: (http://[^/\s]+)")

    def new_link(self) -> str:
        """Another sign-in link for the owner."""
        return manage(self.folder, "link", "--base", self.url, **self.variables).stdout.strip()

    def get(self, path: str) -> int:
        """Status code of a page."""
        try:
            with urllib.request.urlopen(self.url + path, timeout=60) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            error.close()
            return error.code

    def _found(self, pattern: str) -> str:
        match = re.search(pattern, self.output)
        assert match, f"no {pattern} in:\n{self.output}"
        return match[1]

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.output += line
            if "Ctrl-C" in line:
                self.greeted.set()
        self.process.wait()
        self.greeted.set()

    def _end(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.reader.join(5)
        assert self.process.stdout is not None
        self.process.stdout.close()


class FirstServer(Server):
    """One that makes its database itself."""

    is_migrated = False
