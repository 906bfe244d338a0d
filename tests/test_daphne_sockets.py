"""Texts written to a socket at once: the frames, and their order with what waits."""

import socket
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from twisted.internet.tcp import Connection
from websockets.frames import Frame, Opcode

from pipeweb.daphne_bodies import _create_application
from pipeweb.daphne_sockets import FRAMES_AHEAD, FrameQueue, Socket, text_frame
from pipeweb.daphne_writes import write_now
from sessions_app.chat.sockets import WRITE_NOW

BIG = 8 * 2**20
"""Bytes that no buffer of the kernel takes at once."""


class NoReactor:
    """Notes nothing: the test says when there is room."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_: None


@pytest.fixture
def ends() -> Iterator[tuple[Any, socket.socket]]:
    """A connection of Twisted, and its other end."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        protocol: Any = SimpleNamespace()
        reactor: Any = NoReactor()
        connection: Any = Connection(ours, protocol, reactor)
        connection.connected = 1
        yield connection, theirs


def received(connection: Any, theirs: socket.socket, size: int) -> bytes:
    got = bytearray()
    while len(got) < size:
        connection.doWrite()
        got += theirs.recv(2**20)
    return bytes(got)


@pytest.mark.parametrize("size", [0, 1, 125, 126, 127, 65_535, 65_536, 70_000])
def test_a_frame_is_that_of_the_protocol(size: int) -> None:
    payload = ("é" * size).encode()[:size]
    assert text_frame(payload) == Frame(Opcode.TEXT, payload).serialize(mask=False)


def test_what_is_written_at_once_stays_behind_what_waits(ends: tuple[Any, socket.socket]) -> None:
    connection, theirs = ends
    for data in (b"a" * 10, b"b" * BIG, b"c" * 10):
        assert write_now(connection, data)
    assert received(connection, theirs, BIG + 20) == b"a" * 10 + b"b" * BIG + b"c" * 10


def test_only_an_open_plain_connection_is_written_to_at_once(ends: tuple[Any, socket.socket]) -> None:
    connection, _ = ends
    assert not write_now(SimpleNamespace(write=lambda data: None), b"a")
    connection.disconnecting = True
    assert not write_now(connection, b"a")


@pytest.mark.parametrize("state", ["STATE_CONNECTING", "STATE_CLOSING"])
def test_a_socket_that_is_not_open_takes_nothing_at_once(ends: tuple[Any, socket.socket], state: str) -> None:
    opened: Any = Socket()
    opened.transport, opened.send_queue, opened._perMessageCompress = ends[0], [], None
    opened.state = Socket.STATE_OPEN
    assert opened.write_now(["a", "é"]) and ends[1].recv(100) == b"\x81\x01a\x81\x02\xc3\xa9"
    opened.state = getattr(Socket, state)
    assert not opened.write_now(["a"])


async def test_the_application_is_told_of_it() -> None:
    opened, scopes = Socket(), list[dict[str, Any]]()

    async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
        scopes.append(scope)

    server = SimpleNamespace(application=application, connections={opened: {}}, handle_reply=print)
    _create_application(server, opened, {"type": "websocket"})
    await server.connections[opened]["application_instance"]
    assert scopes[0][WRITE_NOW] == opened.write_now


def frame(text: str) -> dict[str, Any]:
    return {"type": "websocket.receive", "text": text}


@pytest.mark.parametrize("text", ["x" * 1_000_000, "x" * 10_000, ""])
async def test_frames_are_read_as_fast_as_the_application_takes_them(text: str) -> None:
    opened, asked, count = Socket(), list[str](), 0
    opened.transport = SimpleNamespace(
        pauseProducing=lambda: asked.append("pause"), resumeProducing=lambda: asked.append("resume")
    )
    queue = FrameQueue(opened)
    while not asked:
        queue.put_nowait(frame(text))
        count += 1
    assert (count - 1) * len(text) <= FRAMES_AHEAD and count < FRAMES_AHEAD
    taken = [await queue.get()]
    while not queue.empty():
        taken.append(await queue.get())
    assert asked == ["pause", "resume"] and taken == [frame(text)] * count


async def test_an_ordinary_frame_changes_nothing_of_a_connection() -> None:
    opened = Socket()
    opened.transport = None  # Nothing is asked of it.
    queue = FrameQueue(opened)
    for message in ({"type": "websocket.connect"}, frame("a"), {"type": "websocket.disconnect", "code": 1}):
        queue.put_nowait(message)
        assert await queue.get() == message


async def test_the_frames_of_a_socket_wait_in_such_a_queue() -> None:
    opened, heard = Socket(), list[dict[str, Any]]()

    async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
        heard.append(await receive())

    server = SimpleNamespace(application=application, connections={opened: {}}, handle_reply=print)
    queue = _create_application(server, opened, {"type": "websocket"})
    queue.put_nowait(frame("a"))
    await server.connections[opened]["application_instance"]
    assert isinstance(queue, FrameQueue) and heard == [frame("a")]
