"""The server's end of one worker process."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from time import monotonic
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from sessions_app.prompt.templates import Rendered
from sessions_app.rendering.frames import read_frame

START_SECONDS = 10.0
"""For a worker to start; it takes a tenth of a second on a calm machine."""

_COMMAND = (sys.executable, "-E", "-s", "-m", "sessions_app.rendering.worker")
_ROOT = Path(__file__).resolve().parents[2]


class WorkerGone(Exception):
    """The worker ended, or sent what is no result."""


class _Ready(BaseModel):
    """`cpu` are the seconds that the worker has computed since its start."""

    cpu: float


class _Answer(_Ready):
    rendered: Rendered


_READY, _ANSWER = TypeAdapter(_Ready), TypeAdapter(_Answer)


class WorkerProcess:
    """Starts at once and is awaited at its first use. One thread uses it at a time."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 (argv is ours)
                _COMMAND,
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=_ROOT,
                env={},
            )
        self.pid = self._process.pid
        self._is_ready = False
        self._cpu = 0.0

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def await_start(self) -> None:
        """Raises TimeoutError, WorkerGone."""
        if not self._is_ready:
            ready: _Ready = self._read(_READY, monotonic() + START_SECONDS)
            self._cpu, self._is_ready = ready.cpu, True

    def send(self, request: bytes, deadline: float) -> None:
        """Raises TimeoutError, WorkerGone."""
        self._socket.settimeout(_left(deadline))
        try:
            self._socket.sendall(request)
        except TimeoutError:
            raise
        except OSError as error:
            raise WorkerGone from error

    def receive(self, deadline: float) -> Rendered:
        """The result of the next text of the request. Raises TimeoutError, WorkerGone."""
        answer: _Answer = self._read(_ANSWER, deadline)
        self._cpu = answer.cpu
        return answer.rendered

    def end(self) -> float:
        """Kills the process; returns the seconds it has computed since its last answer."""
        self._socket.close()
        if self._process.returncode is None:
            os.kill(self.pid, signal.SIGKILL)
            _, status, usage = os.wait4(self.pid, 0)
            self._process.returncode = os.waitstatus_to_exitcode(status)
            return usage.ru_utime + usage.ru_stime - self._cpu
        return 0.0

    def _read(self, adapter: TypeAdapter[Any], deadline: float) -> Any:
        try:
            return adapter.validate_python(read_frame(lambda length: self._receive(length, deadline)))
        except TimeoutError:
            raise
        except (OSError, EOFError, ValueError, ValidationError, RecursionError) as error:
            raise WorkerGone from error

    def _receive(self, length: int, deadline: float) -> bytes:
        self._socket.settimeout(_left(deadline))
        return self._socket.recv(min(length, 1 << 20))


def _left(deadline: float) -> float:
    """Seconds until the deadline. Raises TimeoutError when it has passed."""
    left = deadline - monotonic()
    if left <= 0:
        raise TimeoutError
    return left
