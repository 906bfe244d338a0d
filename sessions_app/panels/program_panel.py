"""Base of panels that show the last stored output of a program."""

import os
import selectors
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import Any

from django.db.models import QuerySet

from sessions_app.models import Reading, Session
from sessions_app.panels.base import DueReading, PanelInputs, PanelKind, PanelValue, ProgramOutput
from sessions_app.panels.rows import Moment, PanelRow

OUTPUT_LIMIT = 1_000_000
"""Bytes that are read of the output of a program."""

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/homebrew/bin"

BASE_ENVIRONMENT = {
    "PATH": PATH,
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "HOME": "/nonexistent",
    "TERM": "dumb",
}
"""The environment of a program; that of this process has keys and passwords."""


def run_program(
    argv: Sequence[str],
    folder: Path,
    *,
    timeout: float,
    extra: Mapping[str, str] | None = None,
    limit: int = OUTPUT_LIMIT,
) -> ProgramOutput:
    """Runs a program in a folder for at most `timeout` seconds, and blocks until it ends.

    It has no input, BASE_ENVIRONMENT with `extra`, and its own process group, which is killed at the end.
    Raises nothing: a failure is described in the text.
    """
    try:
        process = subprocess.Popen(  # noqa: S603 (argv is a list of ours or an admin's; no shell reads it)
            list(argv),
            cwd=folder,
            env={**BASE_ENVIRONMENT, **(extra or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return ProgramOutput(f"“{argv[0]}” cannot be started: {reason}.", failed=True)
    with process:
        try:
            data, end = _read(process, monotonic() + timeout, limit)
        finally:
            _end_group(process)
    text = data.decode(errors="replace").replace("\0", "�")
    if end:
        return ProgramOutput(f"{text}\n[{end.format(timeout=timeout, limit=limit)}]".lstrip(), failed=True)
    return ProgramOutput(text.rstrip(), failed=process.returncode != 0)


def _read(process: "subprocess.Popen[bytes]", deadline: float, limit: int) -> tuple[bytes, str]:
    """The output, and why reading stopped before the end of it; empty at the end."""
    assert process.stdout is not None
    descriptor, data = process.stdout.fileno(), bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while (left := deadline - monotonic()) > 0:
            if not selector.select(left):
                continue
            chunk = os.read(descriptor, 65_536)
            if not chunk:
                return bytes(data), _wait(process, deadline)
            data += chunk
            if len(data) > limit:
                return bytes(data[:limit]), "cut here: it printed more than {limit:,} bytes"
    return bytes(data), "stopped after {timeout:g} seconds"


def _wait(process: "subprocess.Popen[bytes]", deadline: float) -> str:
    """Waits for the end: a program can close its outputs and continue."""
    try:
        process.wait(max(0.0, deadline - monotonic()))
    except subprocess.TimeoutExpired:
        return "stopped after {timeout:g} seconds"
    return ""


def _end_group(process: "subprocess.Popen[bytes]") -> None:
    """Kills the process and its children."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


EVERY = 120
"""Seconds between two readings of git and GitHub."""


class ReadingRow(PanelRow):
    text: str
    failed: bool
    read_at: Moment


class ProgramPanel(PanelKind[ReadingRow]):
    """A panel with the output of one program about the workspace, run again every two minutes."""

    template = "program"
    model = Reading
    row = ReadingRow
    runs_programs = True
    is_transferred = False
    transfer_reason = "The output belongs to a place and a time; the copy runs the program again."

    def queryset(self, session: Any, owner: Any) -> "QuerySet[Any]":
        return Reading.objects.filter(session=session, key=self.key)

    def program(self, session: Session) -> Callable[[], ProgramOutput]:
        """Returns a function that runs the program; the function uses no database."""
        raise NotImplementedError

    def value(self, inputs: PanelInputs) -> PanelValue:
        if not (rows := self.of(inputs)):
            return PanelValue(problem="Not read yet; it is when the next message is sent.")
        (row,) = rows
        return PanelValue(problem=row.text) if row.failed else PanelValue(output_of(row, inputs.now))

    def template_context(self, session: Session, read: Any) -> dict[str, Any]:
        reading = session.readings.filter(key=self.key).first()
        return {"reading": reading, "every": EVERY // 60, **super().template_context(session, read)}

    def due(self, session: Session, read: Mapping[str, datetime], now: datetime) -> list[DueReading]:
        if is_due(read.get(self.key), EVERY, now):
            return [DueReading(session.pk, self.key, self.program(session))]
        return []


def is_due(read_at: datetime | None, every: int, now: datetime) -> bool:
    return read_at is None or now - read_at >= timedelta(seconds=every)


def output_of(row: ReadingRow, now: datetime, every: int = EVERY) -> dict[str, Any]:
    """The output as it is sent; with its time only when it is old, since the time changes at every run."""
    is_old = now - row.read_at > timedelta(seconds=2 * every)
    return {
        "output": row.text,
        **({"failed": True} if row.failed else {}),
        **({"as_of": row.read_at.isoformat(timespec="seconds")} if is_old else {}),
    }
