"""`manage.py emulator` as people start it: a process of its own."""

import asyncio
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from google import genai
from google.genai import types

from tests.emulator.wire import FLASH, user

ROOT = Path(__file__).resolve().parents[2]
PATH = f"/v1beta/models/{FLASH}:streamGenerateContent?alt=sse&key=emulator"
pytestmark = pytest.mark.slow


async def start(*arguments: str) -> Process:
    command = (sys.executable, "manage.py", "emulator", *arguments)
    return await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdout=PIPE, stderr=PIPE)


@pytest.fixture
async def server() -> AsyncIterator[tuple[str, Process]]:
    process = await start("--port", "0", "--delay", "0")
    assert process.stdout
    greeting = (await asyncio.wait_for(process.stdout.readline(), 30)).decode()
    yield greeting.split()[3].rstrip(";"), process
    if process.returncode is None:
        process.kill()
    await process.communicate()


async def test_it_greets_streams_and_ends_cleanly(server: tuple[str, Process]) -> None:
    base, process = server
    await _talk(base)
    await _be_dropped(base)
    process.send_signal(signal.SIGINT)
    _, complaints = await asyncio.wait_for(process.communicate(), 10)
    assert process.returncode == 0 and not complaints


async def test_a_taken_port_is_one_clear_line(server: tuple[str, Process]) -> None:
    second = await start("--port", server[0].rpartition(":")[2])
    _, complaints = await asyncio.wait_for(second.communicate(), 30)
    assert second.returncode == 1
    assert b"is not free" in complaints and b"Traceback" not in complaints


async def _talk(base: str) -> None:
    options = types.HttpOptions(api_version="v1beta", base_url=base, async_client_args={"trust_env": False})
    sdk = genai.Client(api_key="emulator", vertexai=False, http_options=options).aio
    chunks = await sdk.models.generate_content_stream(model=FLASH, contents="hello")
    texts = [chunk.text or "" async for chunk in chunks]
    await sdk.aclose()
    assert len(texts) > 3 and "".join(texts).startswith("You said")


async def _be_dropped(base: str) -> None:
    async with httpx2.AsyncClient(base_url=base, trust_env=False, timeout=10) as door:
        with pytest.raises((httpx2.ReadError, httpx2.RemoteProtocolError)):
            await door.post(PATH, json={"contents": [user("/drop")]})
