"""The worker process: renders templates under limits of the kernel, until its socket closes.

Run as `python -m sessions_app.rendering.worker` with a socket as its standard input. It imports the
sandbox and nothing else of ours, has no environment, and can open no file and start no process.
"""

import os
import resource
from dataclasses import asdict
from pathlib import Path
from time import process_time
from typing import Any

from sessions_app.prompt.templates import render
from sessions_app.rendering.frames import frame, read_frame

MEMORY = 64_000_000
"""Bytes beyond what the idle worker has."""

_SOCKET = 0

_WARM_UP = (
    "{% for a in [1]|map('string') %}{{ a|upper|title|json ~ nothing }}{% endfor %}{{ 1 / 0 }}",
    "{% a",
)
"""Causes the imports that rendering does late; afterwards no file can be opened."""


def main() -> None:
    for text in _WARM_UP:
        render(text, {})
    _limit_resources()
    _send({"cpu": process_time()})
    while True:
        try:
            request = read_frame(_receive)
        except EOFError:
            return
        for text, defaults in request["texts"]:
            _allow_seconds(1)
            # A MemoryError ends the process: what it left behind is not worth keeping.
            rendered = render(text, request["values"], defaults)
            _send({"rendered": asdict(rendered), "cpu": process_time()})


def _limit_resources() -> None:
    # macOS has no /proc and does not enforce RLIMIT_AS; steps and the clock limit a template there.
    status = Path("/proc/self/statm")
    if status.exists():
        held = int(status.read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (held + MEMORY, held + MEMORY))
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
    for limit in (resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
        resource.setrlimit(limit, (0, 0))


def _allow_seconds(seconds: int) -> None:
    """Ends the process when it computes for longer, should the server be gone."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(process_time()) + 1 + seconds, hard))


def _receive(length: int) -> bytes:
    return os.read(_SOCKET, length)


def _send(value: Any) -> None:
    data = memoryview(frame(value))
    while data:
        data = data[os.write(_SOCKET, data) :]


if __name__ == "__main__":
    main()
