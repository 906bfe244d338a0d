"""What a first `manage.py up` keeps in RAM, at rest and with 100 streams."""

import time
from dataclasses import dataclass

from tests.bench.base import Say
from tests.bench.processes import Server, resident_bytes, temporary_folder
from tests.bench.relay_load import Load
from tests.bench.relay_pipeweb import GREETING, MANAGE, Pipeweb

REST = 5.0
"""Seconds after the start: the workers of templates are there, and what the start needed is given back."""

FULL = Load(streams=100, pace=100, chunks=60)


@dataclass(frozen=True, slots=True)
class Memory:
    """MB (10⁶ bytes) of all processes of `up`."""

    idle: float
    full: float


def memory_of_up(upstream: str, say: Say) -> Memory:
    """On a new folder, so that the process that serves has also migrated."""
    with temporary_folder() as folder:
        variables = {"PIPEWEB_DATA": str(folder / "data")}
        provider = {"GEMINI_API_KEY": "bench", "GOOGLE_GEMINI_BASE_URL": upstream}
        with Server("server", MANAGE, GREETING, folder, **provider, **variables) as server:
            time.sleep(REST)
            idle = resident_bytes(server.pid)
            full = Pipeweb("Pipeweb", [server], variables).measure(FULL).rss
    say(f"  memory: {idle / 1e6:.0f} MB at rest, {full / 1e6:.0f} MB with {FULL.streams} streams")
    return Memory(idle / 1e6, full / 1e6)
