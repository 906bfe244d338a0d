"""A program in a terminal, with somebody who types."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
SIZE = (40, 120)
"""Lines and columns."""

PAUSE = 1.0
"""Seconds."""


class Terminal:
    """Entering starts the program; leaving ends it, and what it has started."""

    def __init__(self, command: Sequence[str], cwd: Path, variables: dict[str, str]) -> None:
        self._command, self._cwd = command, cwd
        self._variables = {**variables, "TERM": "xterm-256color"}
        self._written = ""

    def __enter__(self) -> Self:
        self._person, program = pty.openpty()
        fcntl.ioctl(program, termios.TIOCSWINSZ, struct.pack("HHHH", *SIZE, 0, 0))
        self._process = subprocess.Popen(
            self._command,
            cwd=self._cwd,
            env=self._variables,
            stdin=program,
            stdout=program,
            stderr=program,
            start_new_session=True,
        )
        os.close(program)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._person)

    def wait_for(self, text: str, seconds: float = 90.0) -> None:
        """Until the program has written this, since it was waited for last."""
        until = time.monotonic() + seconds
        while text not in ESCAPES.sub("", self._written):
            assert time.monotonic() < until, f"no {text!r} in:\n{ESCAPES.sub('', self._written)}"
            if select.select([self._person], [], [], 1)[0]:
                self._written += os.read(self._person, 65_536).decode(errors="replace")
        self._written = ""

    def type(self, keys: str) -> None:
        """After a pause: programs take an Enter that follows at once for a part of pasted text."""
        time.sleep(PAUSE)
        os.write(self._person, keys.encode())
