"""Memory that was freed goes back to the system.

glibc keeps it, in pages between those in use: after a thousand turns that was a third of its heap.
"""

import asyncio
import ctypes
from contextlib import suppress

from sessions_app.runs.background import BackgroundTask

INTERVAL = 60.0
"""Seconds between two releases; each holds up allocations for some milliseconds."""


def release_free_memory() -> None:
    """Gives back whole free pages, wherever they lie. Does nothing with another C library."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def memory_release() -> BackgroundTask:
    """Releases free memory once in `INTERVAL`. One per process."""
    return BackgroundTask("memory_release_ended", _release_forever)


async def _release_forever() -> None:
    while True:
        await asyncio.sleep(INTERVAL)
        await asyncio.to_thread(release_free_memory)
