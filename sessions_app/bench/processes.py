"""Processes of a bench: every one is started here, and ended here by its id."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from sessions_app.errors import PipewebError

ROOT = Path(__file__).resolve().parents[2]
START_LIMIT = 60.0
END_LIMIT = 15.0
"""Seconds."""


def environment(**variables: str) -> dict[str, str]:
    """Nothing of the caller's shell but the path to programs: keys and databases stay out of a bench."""
    return {"PATH": os.environ.get("PATH", os.defpath), **variables}


def run_module(name: str, *arguments: str, given: bytes = b"", limit: float, **variables: str) -> bytes:
    """Runs a module of this package to its end; returns what it printed. Raises PipewebError."""
    command = [sys.executable, "-m", f"sessions_app.bench.{name}", *arguments]
    try:
        done = subprocess.run(  # noqa: S603  no word of it comes from outside
            command,
            cwd=ROOT,
            env=environment(**variables),
            input=given,
            capture_output=True,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise PipewebError(f"bench: {name} was not done within {limit:.0f} s.") from error
    if done.returncode:
        raise PipewebError(f"bench: {name} failed: {last_line(done.stderr.decode(errors='replace'))}")
    return done.stdout


def migrated(folder: str) -> None:
    """Makes an empty database in a data folder. Raises PipewebError."""
    done = subprocess.run(
        [sys.executable, "manage.py", "migrate", "--verbosity", "0"],
        cwd=ROOT,
        env=environment(PIPEWEB_DATA=folder),
        capture_output=True,
        timeout=START_LIMIT,
        check=False,
    )
    if done.returncode:
        raise PipewebError(f"bench: no database: {last_line(done.stderr.decode(errors='replace'))}")


def last_line(output: str) -> str:
    lines = output.strip().splitlines()
    return lines[-1] if lines else "it said nothing"


class Child:
    """A server for as long as the block lasts, ready when it greets; the pattern's group is the port.

    Its output goes into a file of `folder`: a pipe that nobody reads fills up and stops it.
    """

    def __init__(
        self, name: str, command: Sequence[str], greeting: str, folder: Path, **variables: str
    ) -> None:
        self._name = name
        self._command = [sys.executable, *command]
        self._greeting = re.compile(greeting)
        self._output = folder / f"{name}.log"
        self._variables = variables

    def __enter__(self) -> Self:
        with self._output.open("wb") as output:
            self._process = subprocess.Popen(  # noqa: S603  no word of it comes from outside
                self._command,
                cwd=ROOT,
                env=environment(**self._variables),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            self.port = self._await_greeting()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def said(self) -> str:
        return self._output.read_text(errors="replace")

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def end(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(END_LIMIT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _await_greeting(self) -> int:
        deadline = time.monotonic() + START_LIMIT
        while time.monotonic() < deadline and self._process.poll() is None:
            if match := self._greeting.search(self.said):
                return int(match[1])
            time.sleep(0.02)
        raise PipewebError(f"bench: {self._name} did not start: {last_line(self.said)}")
