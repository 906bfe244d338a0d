"""Sockets and addresses in front of a real server: who may connect, and what a frame may be."""

import asyncio
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx2
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from sessions_app.chat.consumers import UNSUPPORTED
from tests.deployment.visitor import is_gapless
from tests.server import Server
from tests.visitors import Watcher, cookie_of, new_session, signed_in

pytestmark = pytest.mark.slow

TOO_BIG = 1009
MEGABYTE = 2**20
GROWTH_LIMIT = 6 * MEGABYTE
"""Bytes by which the memory of a server may grow for frames that it refuses."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("data")) as running:
        yield running


@pytest.fixture(scope="module")
def person(server: Server) -> Iterator[httpx2.Client]:
    with signed_in(server) as client:
        yield client


@pytest.fixture
def session(person: httpx2.Client) -> str:
    return new_session(person)


def opened(server: Server, person: httpx2.Client, session: str, origin: str | None = None) -> connect:
    """A socket of the person."""
    return connect(
        f"{server.url.replace('http', 'ws', 1)}/ws/s/{session}/",
        additional_headers={"Cookie": cookie_of(person)} | ({"Origin": origin} if origin else {}),
        max_size=None,
    )


def foreign(server: Server) -> list[str | None]:
    """Origins of other pages: another site, port, scheme or name, a sandboxed one, and none."""
    port = int(server.url.rpartition(":")[2])
    own = ("http://evil.example", f"http://127.0.0.1:{port + 1}", f"https://127.0.0.1:{port}")
    return [*own, f"http://localhost:{port}", f"http://127.0.0.1.evil.example:{port}", "null", None]


async def test_only_a_page_of_ours_opens_a_socket(
    server: Server, person: httpx2.Client, session: str
) -> None:
    for origin in foreign(server):
        with pytest.raises(InvalidStatus) as refused:
            await opened(server, person, session, origin)
        assert refused.value.response.status_code == 403, origin
    async with opened(server, person, session, server.url) as socket:
        assert '"hello"' in str(await socket.recv())


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example"])
def test_the_server_answers_to_its_own_names_only(server: Server, host: str) -> None:
    for path in ("/sign-in", "/"):
        assert httpx2.get(server.url + path, headers={"Host": host}).status_code == 400


FRAMES = (("x" * 2 * MEGABYTE, TOO_BIG), ("x" * 20 * MEGABYTE, TOO_BIG), (b"{}", UNSUPPORTED))


async def test_a_frame_that_no_page_sends_ends_its_socket_and_nothing_else(
    server: Server, person: httpx2.Client, session: str
) -> None:
    async with Watcher(server, person, session) as reader:
        await reader.send("/slow please")
        run = str((await reader.hear("started"))["run"])
        await reader.hear("delta", 3)
        before = restart_peak(server)
        for frame, code in FRAMES:
            async with opened(server, person, session, server.url) as socket:
                assert await code_after(socket, frame) == code
        assert peak(server) - before < GROWTH_LIMIT
        assert (await reader.hear("finished"))["status"] == "completed"
        assert is_gapless(reader.told_of(run), first=0) and reader.text_of(run)


async def code_after(socket: ClientConnection, frame: str | bytes) -> int | None:
    """The code by which the server closes after a frame."""
    with suppress(ConnectionClosed):  # While it is being sent.
        await socket.send(frame)
    async with asyncio.timeout(120):
        await socket.wait_closed()
    return socket.close_code


def restart_peak(server: Server) -> int:
    """Bytes of memory that the server has now, from which its peak is counted anew."""
    Path(f"/proc/{server.process.pid}/clear_refs").write_text("5")
    return peak(server)


def peak(server: Server) -> int:
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found
    return int(found[1]) * 1024
