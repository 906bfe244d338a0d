"""Child processes of a benchmark: started and ended here, and what the kernel says they used."""

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from sessions_app.errors import PipewebError

ROOT = Path(__file__).resolve().parents[2]
START_LIMIT = 240.0
END_LIMIT = 15.0
"""Seconds."""

CPUCLOCK_SCHED = 2
"""The clock of all threads of a process, user and system, in ns; /proc/PID/stat counts in steps of 10 ms."""

ERROR = re.compile(r'.*("level": ?"(?:error|critical)"|\[(?:error|critical) *\]).*')
"""A line of either form of Pipeweb's log."""


def environment(**variables: str) -> dict[str, str]:
    """Nothing of the caller's shell but PATH: keys and databases stay out of a benchmark."""
    return {"PATH": os.environ.get("PATH", os.defpath), **variables}


def run_module(name: str, *arguments: str, given: bytes = b"", limit: float, **variables: str) -> bytes:
    """Runs a module of this package with `given` as its input; returns its output.

    Raises PipewebError when it fails or takes longer than `limit` seconds.
    """
    return _finish(name, ("-m", f"tests.bench.{name}", *arguments), given, limit, variables)


@contextmanager
def empty_database(**variables: str) -> Iterator[str]:
    """A temporary folder for PIPEWEB_DATA, with a migrated database there or where `variables` say.

    Raises PipewebError.
    """
    with temporary_folder() as folder:
        run_module("database", given=b"", limit=START_LIMIT, PIPEWEB_DATA=str(folder), **variables)
        yield str(folder)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="pipeweb-bench-") as folder:
        yield Path(folder)


def set_up_django() -> None:
    """Makes models importable in a child process; PIPEWEB_DATA names its database."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "pipeweb.settings")
    django.setup()


def lift_limits() -> None:
    """Lets the people of a benchmark send more than people do; after `set_up_django`."""
    from sessions_app.models import PersonalLimits

    many = 1_000_000
    PersonalLimits.objects.update_or_create(
        everybody=True, defaults={"sends_per_minute": many, "runs_at_once": many}
    )


class Server:
    """A server process for as long as the block lasts, ready when it greets; the pattern's group is the port.

    One that greets nobody is given the port that it was told to listen on, and is ready when it does.
    Its output goes into a file of `folder`: a pipe that nobody reads fills up and stops it.
    """

    def __init__(
        self, name: str, command: Sequence[str], greeting: str | int, folder: Path, **variables: str
    ) -> None:
        self._name = name
        self._command = [sys.executable, *command]
        self._greeting = greeting
        self._output = folder / f"{name}.log"
        self._variables = variables
        self._told = 0

    def __enter__(self) -> Self:
        with self._output.open("wb") as output:
            self._process = subprocess.Popen(
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

    def new_errors(self) -> list[str]:
        """Lines that the server logged as errors since the last call."""
        found = [match[0] for match in ERROR.finditer(self._printed())]
        new, self._told = found[self._told :], len(found)
        return new

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
            if port := self._greeted():
                return port
            time.sleep(0.02)
        raise PipewebError(f"bench: {self._name} did not start: {last_line(self._printed())}")

    def _greeted(self) -> int | None:
        if isinstance(self._greeting, str):
            match = re.search(self._greeting, self._printed())
            return int(match[1]) if match else None
        with socket.socket() as probe:
            return None if probe.connect_ex(("127.0.0.1", self._greeting)) else self._greeting

    def _printed(self) -> str:
        return self._output.read_text(errors="replace")


@contextmanager
def ended_by_sigterm() -> Iterator[None]:
    """SIGTERM ends the block as Ctrl-C does, so that its processes and files are gone after it."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def process_tree(pid: int) -> list[int]:
    """The process and every living descendant."""
    found = [pid]
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += [one for child in children.read_text().split() for one in process_tree(int(child))]
    return found


def cpu_seconds(pid: int) -> float:
    """User and system time of the process tree so far."""
    return sum(time.clock_gettime((~one << 3) | CPUCLOCK_SCHED) for one in process_tree(pid))


def resident_bytes(pid: int) -> int:
    """Memory of the process tree that is in RAM now."""
    pages = sum(int(Path(f"/proc/{one}/statm").read_text().split()[1]) for one in process_tree(pid))
    return pages * os.sysconf("SC_PAGE_SIZE")


def last_line(output: str) -> str:
    lines = output.strip().splitlines()
    return lines[-1] if lines else "it printed nothing"


def _finish(
    name: str, command: Sequence[str], given: bytes, limit: float, variables: dict[str, str]
) -> bytes:
    try:
        done = subprocess.run(
            [sys.executable, *command],
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
