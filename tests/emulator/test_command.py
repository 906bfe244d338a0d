"""`manage.py emulator` as people start it: a process of its own."""

import asyncio
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from django.core.management.base import CommandError
from google import genai
from google.genai import types

from sessions_app.emulator.faults import unkind
from sessions_app.emulator.slash_commands import parse_faults
from sessions_app.management.commands.emulator import build
from tests.emulator.helpers import FLASH, OPENING, user

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
    greeting = (await asyncio.wait_for(process.stdout.readline(), 120)).decode()
    yield greeting.split()[3].rstrip(";"), process
    if process.returncode is None:
        process.kill()
    await process.communicate()


async def test_it_greets_streams_and_ends_cleanly(server: tuple[str, Process]) -> None:
    base, process = server
    await _talk(base)
    await _be_dropped(base)
    process.send_signal(signal.SIGINT)
    _, complaints = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0 and not complaints


async def test_a_taken_port_is_one_clear_line(server: tuple[str, Process]) -> None:
    second = await start("--port", server[0].rpartition(":")[2])
    _, complaints = await asyncio.wait_for(second.communicate(), 120)
    assert second.returncode == 1
    assert b"cannot be listened on: Address already in use." in complaints and b"Traceback" not in complaints


async def test_faults_and_recordings_come_from_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_bytes(b'{"exchanges": []}')
    process = await start("--port", "0", "--fault", "error 503", "--replay", str(tmp_path))
    assert process.stdout
    base = (await asyncio.wait_for(process.stdout.readline(), 120)).decode().split()[3].rstrip(";")
    async with httpx2.AsyncClient(base_url=base, trust_env=False, timeout=60) as http:
        assert (await http.post(PATH, json={"contents": [user("hello")]})).status_code == 503
        assert (await http.get("/_emulator")).status_code == 200
    process.send_signal(signal.SIGINT)
    await asyncio.wait_for(process.communicate(), 60)


@pytest.mark.parametrize(
    ("faults", "folder", "named"),
    [(["thunder"], None, "thunder"), ([], Path("nowhere"), "nowhere")],
)
def test_what_the_command_line_gets_wrong_is_said(faults: list[str], folder: Path | None, named: str) -> None:
    with pytest.raises(CommandError, match=named):
        build(0, faults, folder)


def test_unkind_takes_a_seed() -> None:
    assert build(0, ["error 503"], None, "seed=4").faults.configured == (
        *parse_faults("error 503"),
        *unkind(4),
    )
    with pytest.raises(CommandError, match="seed=N"):
        build(0, [], None, "seed=often")


def test_a_file_that_is_no_recording_is_said(tmp_path: Path) -> None:
    (tmp_path / "torn.json").write_text('{"exchanges": [')
    with pytest.raises(CommandError, match=tmp_path.name):
        build(0, [], tmp_path)


async def _talk(base: str) -> None:
    # Without a transport the SDK would take aiohttp, where it is installed.
    transport = httpx2.AsyncHTTPTransport(trust_env=False)
    options = types.HttpOptions(
        api_version="v1beta", base_url=base, async_client_args={"transport": transport}
    )
    sdk = genai.Client(api_key="emulator", vertexai=False, http_options=options).aio
    chunks = await sdk.models.generate_content_stream(model=FLASH, contents="hello")
    texts = [chunk.text or "" async for chunk in chunks]
    await sdk.aclose()
    assert len(texts) > 3 and OPENING in "".join(texts)


async def _be_dropped(base: str) -> None:
    async with httpx2.AsyncClient(base_url=base, trust_env=False, timeout=60) as http:
        for word in ("/drop", "/close", "/hangup"):
            with pytest.raises((httpx2.ReadError, httpx2.RemoteProtocolError)):
                await http.post(PATH, json={"contents": [user(word)]})
