"""Stands between Pipeweb and the process of an MCP server: `python -I guard.py KEPT_NAMES COMMAND …`.

It starts the command with a folder and an environment of its own, passes lines on in both directions, none
longer than a megabyte, and keeps the end of what the server writes to stderr. When its standard input ends,
since Pipeweb closed it or died (kill -9 too), or when it is told to end, everything that the server started
goes with it. Standard library only: it begins in about 20 ms.
"""

import contextlib
import ctypes
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import IO

LINE_LIMIT = 1_000_000
"""Bytes of one message."""

STDERR_LIMIT = 64_000
"""Bytes of stderr that are kept."""

GRACE_SECONDS = 1.0
"""Seconds that a server has after the end of its input, before it is killed."""

TOO_LONG, NOT_STARTED = 93, 94
"""Exit codes: a line was too long; the command could not be started."""

_SET_PDEATHSIG, _SET_CHILD_SUBREAPER = 1, 36
_PIECE = 65_536


def main(arguments: list[str]) -> int:
    """`arguments`: names of variables to pass on, comma-separated, and the command."""
    kept, command = arguments[0].split(","), arguments[1:]
    parent = os.getppid()
    _control(_SET_PDEATHSIG, signal.SIGTERM)
    # What the server leaves behind becomes a child of this process, and ends with it.
    _control(_SET_CHILD_SUBREAPER, 1)
    if os.getppid() != parent:
        return 0
    folder = tempfile.mkdtemp(prefix="pipeweb-mcp-")
    try:
        return _serve(command, _environment(kept, folder), folder)
    finally:
        _end_all()
        shutil.rmtree(folder, ignore_errors=True)


def _environment(kept: list[str], folder: str) -> dict[str, str]:
    """The variables that were named, PATH, and a home that is gone afterwards."""
    given = {name: os.environ[name] for name in ("PATH", *kept) if name in os.environ}
    return {"HOME": folder, "TMPDIR": folder, "LANG": "C.UTF-8"} | given


def _serve(command: list[str], environment: dict[str, str], folder: str) -> int:
    try:
        server = subprocess.Popen(  # noqa: S603 (the command is one of a list that the settings allow)
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            cwd=folder,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        os.write(2, f"{command[0]}: {error}\n".encode(errors="replace"))
        return NOT_STARTED
    assert server.stdout is not None
    assert server.stderr is not None
    signal.signal(signal.SIGTERM, lambda *_: _leave(server, folder))
    _in_background(lambda stream: _pass_on(stream, server, folder), sys.stdin.buffer)
    _in_background(_keep_end, server.stderr)
    is_whole = _pass_lines(server.stdout)
    if not is_whole:
        return TOO_LONG
    with contextlib.suppress(subprocess.TimeoutExpired):
        return server.wait(GRACE_SECONDS)
    return 0


def _in_background(work: Callable[[IO[bytes]], None], stream: IO[bytes]) -> None:
    threading.Thread(target=work, args=(stream,), daemon=True).start()


def _pass_on(stream: IO[bytes], server: "subprocess.Popen[bytes]", folder: str) -> None:
    """Copies what Pipeweb writes to the server; at its end the server has GRACE_SECONDS to end by itself."""
    assert server.stdin
    with contextlib.suppress(OSError, ValueError):
        while piece := stream.read1(_PIECE):  # type: ignore[attr-defined]
            server.stdin.write(piece)
            server.stdin.flush()
    with contextlib.suppress(OSError):
        server.stdin.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        server.wait(GRACE_SECONDS)
    _leave(server, folder)


def _pass_lines(stream: IO[bytes]) -> bool:
    """Copies lines of the server to Pipeweb. False after one that is too long."""
    with contextlib.suppress(OSError):
        while line := stream.readline(LINE_LIMIT + 1):
            if len(line) > LINE_LIMIT:
                return False
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
    return True


def _keep_end(stream: IO[bytes]) -> None:
    """The last bytes of stderr, in the file that is this process's own stderr."""
    kept = b""
    while piece := stream.read1(_PIECE):  # type: ignore[attr-defined]
        kept = (kept + piece)[-STDERR_LIMIT:]
        with contextlib.suppress(OSError):
            os.pwrite(2, kept, 0)
            os.ftruncate(2, len(kept))
        # A server that writes without an end is not followed at its pace.
        time.sleep(0.01)


def _leave(server: "subprocess.Popen[bytes]", folder: str) -> None:
    """Kills the server and all that it started, and ends this process; called by any thread or signal."""
    with contextlib.suppress(OSError):
        os.killpg(server.pid, signal.SIGKILL)
    _end_all()
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


def _end_all() -> None:
    """Everything that was started, also what left its group: it is a child of this process or becomes one."""
    for _ in range(50):
        children = _children()
        if not children:
            return
        for child in children:
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGKILL)
            with contextlib.suppress(OSError):
                os.waitpid(child, os.WNOHANG)
        time.sleep(0.01)


def _children() -> list[int]:
    """Linux only; elsewhere the group was all that could be reached."""
    found: list[int] = []
    for file in pathlib.Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += map(int, file.read_text(encoding="ascii").split())
    return found


def _control(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    # At once: the end of the interpreter would wait for the thread that reads the standard input.
    os._exit(main(sys.argv[1:]))
