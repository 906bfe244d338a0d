"""Running a program outside: no shell, no secrets, never for long, never without end."""

import os
import selectors
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

OUTPUT_LIMIT = 1_000_000
"""Bytes that are read of what a program prints."""

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/homebrew/bin"

BARE = {"PATH": PATH, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "HOME": "/nonexistent", "TERM": "dumb"}
"""The whole environment of a program: this process's own holds keys and passwords."""


@dataclass(frozen=True, slots=True)
class Printed:
    """What a program printed to both its outputs, in the order it came, and whether it failed."""

    text: str
    failed: bool = False


def run_program(
    argv: Sequence[str],
    folder: Path,
    *,
    timeout: float,
    extra: Mapping[str, str] | None = None,
    limit: int = OUTPUT_LIMIT,
) -> Printed:
    """Runs a program in a folder for at most `timeout` seconds; blocks as long as it runs.

    It gets no input, the bare environment with `extra`, and a process group of its own, all of which
    dies with it. What goes wrong is said in the text; nothing is raised.
    """
    try:
        process = subprocess.Popen(  # noqa: S603 (argv is a list of ours or an admin's; no shell reads it)
            list(argv),
            cwd=folder,
            env={**BARE, **(extra or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return Printed(f"“{argv[0]}” cannot be started: {reason}.", failed=True)
    with process:
        try:
            data, end = _read(process, monotonic() + timeout, limit)
        finally:
            _end_group(process)
    text = data.decode(errors="replace").replace("\0", "�")
    if end:
        return Printed(f"{text}\n[{end.format(timeout=timeout, limit=limit)}]".lstrip(), failed=True)
    return Printed(text.rstrip(), failed=process.returncode != 0)


def _read(process: "subprocess.Popen[bytes]", deadline: float, limit: int) -> tuple[bytes, str]:
    """What it prints until it ends, and why it was not listened to any longer."""
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
    """A program can close its outputs and go on."""
    try:
        process.wait(max(0.0, deadline - monotonic()))
    except subprocess.TimeoutExpired:
        return "stopped after {timeout:g} seconds"
    return ""


def _end_group(process: "subprocess.Popen[bytes]") -> None:
    """Ends what is left of it, children that it started included."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
