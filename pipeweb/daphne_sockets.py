"""Daphne's sockets: a frame that is refused ends them by a close code, which the client can read.

Events are written at once: through Daphne, Autobahn and Twisted each takes longer than it took to make.
Frames are read no faster than the application takes them: Daphne keeps in memory whatever comes.
"""

# mypy: disallow-untyped-calls=False

import asyncio
from collections.abc import Iterable
from typing import Any

import autobahn.twisted.websocket
import autobahn.websocket.protocol
import daphne.server
from daphne.ws_protocol import WebSocketFactory, WebSocketProtocol

from pipeweb.daphne_writes import write_now
from pipeweb.upgrade_queue import UpgradeQueue

FRAMES_AHEAD = 256 * 1024
"""Bytes of frames that wait for the application before the connection is paused."""

FRAME_COST = 500
"""Bytes that a frame counts beside its text: about what its message takes."""


class Socket(WebSocketProtocol):  # type: ignore[misc]
    """A socket to which texts can be written without waiting."""

    def write_now(self, texts: Iterable[str]) -> bool:
        """Sends a frame for each, in one write; False, and nothing is sent, where only Autobahn can send."""
        if self.state != self.STATE_OPEN or self.send_queue or self._perMessageCompress is not None:
            return False
        return write_now(self.transport, b"".join([text_frame(text.encode()) for text in texts]))


class FrameQueue(asyncio.Queue[dict[str, Any]]):
    """The messages of one socket for its application; while too much waits nothing more is read."""

    def __init__(self, socket: Socket) -> None:
        super().__init__()
        self._socket = socket
        self._waiting = 0

    def put_nowait(self, item: dict[str, Any]) -> None:
        super().put_nowait(item)
        self._waiting += _cost(item)
        if self._waiting > FRAMES_AHEAD:
            self._socket.transport.pauseProducing()

    async def get(self) -> dict[str, Any]:
        item = await super().get()
        was_paused = self._waiting > FRAMES_AHEAD
        self._waiting -= _cost(item)
        if was_paused and self._waiting <= FRAMES_AHEAD:
            self._socket.transport.resumeProducing()
        return item


def _cost(message: dict[str, Any]) -> int:
    return FRAME_COST + len(message.get("text") or message.get("bytes") or b"")


class SocketFactory(WebSocketFactory):  # type: ignore[misc]
    """Daphne's limit of a frame is a megabyte; beyond it the connection would be dropped without a word."""

    protocol = Socket

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # What still arrives after the close is discarded, until the client has closed or for a second.
        self.setProtocolOptions(failByDrop=False)
        self.upgrades = UpgradeQueue()


def text_frame(payload: bytes) -> bytes:
    """A whole text message from a server (RFC 6455, 5.2)."""
    size = len(payload)
    if size < 126:
        return b"\x81%c%b" % (size, payload)
    if size < 1 << 16:
        return b"\x81\x7e%b%b" % (size.to_bytes(2, "big"), payload)
    return b"\x81\x7f%b%b" % (size.to_bytes(8, "big"), payload)


def _as_it_is(value: Any, *_: Any, **__: Any) -> Any:
    return value


def install() -> None:
    """Has every Daphne of this process use it, whichever command starts one."""
    # Autobahn colours the values of its debug lines for every frame, and for every connection lays out its
    # options in columns, whether or not anything logs them.
    for module in (autobahn.twisted.websocket, autobahn.websocket.protocol):
        for name in ("hltype", "hlval", "pformat"):
            setattr(module, name, _as_it_is)
    daphne.server.WebSocketFactory = SocketFactory
