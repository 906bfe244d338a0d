"""The programs of a deployment, each started for the tests alone and ended by its own id."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

START_LIMIT = 240.0
"""Seconds a program may take to answer on a busy machine."""

STOP_LIMIT = 20.0


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def found(*names: str) -> str | None:
    """The first of the programs that is installed; daemons are often outside a person's PATH."""
    path = os.pathsep.join((os.environ["PATH"], "/usr/sbin", "/usr/local/sbin"))
    return next((program for name in names if (program := shutil.which(name, path=path))), None)


class Program:
    """One process that listens on a port. What it says goes to a file in `folder`."""

    def __init__(
        self,
        command: Sequence[str],
        port: int,
        folder: Path,
        *,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
        umask: int = -1,
        user: str | None = None,
    ) -> None:
        self.command = list(command)
        self.port = port
        self.output = folder / f"{Path(command[0]).name}-{port}.log"
        self._folder = cwd or folder
        self._environment = environment
        self._umask = umask
        self._user = user
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Returns when the port answers; does nothing when it runs already."""
        if self.is_running:
            return
        with self.output.open("ab") as output:
            self._process = subprocess.Popen(
                self.command,
                cwd=self._folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                umask=self._umask,
                user=self._user,
                start_new_session=True,
            )
        self._await_port()

    def stop(self) -> None:
        """SIGTERM, and SIGKILL when that does not help."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(STOP_LIMIT)
            except subprocess.TimeoutExpired:
                self.kill()

    def kill(self) -> None:
        """SIGKILL: the program gets no chance to put anything in order."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _await_port(self) -> None:
        deadline = time.monotonic() + START_LIMIT
        while time.monotonic() < deadline and self.is_running:
            with socket.socket() as caller:
                if caller.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        self.stop()
        raise AssertionError(f"{self.command[0]} did not come up:\n{self.output.read_text()}")


def redis(folder: Path) -> Program:
    """A Redis that keeps nothing."""
    port = free_port()
    command = [found("redis-server") or "", "--port", str(port), "--bind", "127.0.0.1", "--save", ""]
    return Program(command, port, folder)
