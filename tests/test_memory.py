"""Free pages go back to the system: again and again, and also those between pages in use."""

import asyncio
import platform
import subprocess
import sys

import pytest

from pipeweb import memory
from pipeweb.memory import memory_release

HOLES = """
from pathlib import Path
from pipeweb.memory import release_free_memory

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

pieces = [bytes([n % 256]) * 8_000 for n in range(5_000)]
kept, pieces[:] = pieces[::100], []
before = resident()
release_free_memory()
print(before - resident())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library keeps other pages")
def test_pages_between_those_in_use_are_given_back() -> None:
    ran = subprocess.run([sys.executable, "-c", HOLES], capture_output=True, text=True, check=True)
    assert int(ran.stdout) > 20_000_000


async def test_it_is_done_again_and_again_until_it_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    done: asyncio.Queue[None] = asyncio.Queue()
    loop, before = asyncio.get_running_loop(), asyncio.all_tasks()
    monkeypatch.setattr(memory, "INTERVAL", 0.001)
    monkeypatch.setattr(
        memory, "release_free_memory", lambda: loop.call_soon_threadsafe(done.put_nowait, None)
    )
    release = memory_release()
    release.start()
    for _ in range(3):
        await done.get()
    await release.stop()
    assert asyncio.all_tasks() == before
