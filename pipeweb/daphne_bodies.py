"""Daphne's HTTP protocol, with request bodies handed to the application as they arrive, and room for answers.

Daphne itself calls the application only after the whole body, which Twisted has parsed on the event loop by
then. Here the application is called once the headers are there, decides from them, and reads at its own pace.
"""

# mypy: disallow-untyped-calls=False

import asyncio
from functools import partial
from http import HTTPStatus
from io import BytesIO
from typing import Any

import daphne.server
from daphne.http_protocol import HTTPFactory, WebRequest

from pipeweb.daphne_room import PATIENCE, ChannelWithRoom
from pipeweb.daphne_sockets import FrameQueue, Socket
from pipeweb.daphne_writes import write_now
from sessions_app.capture.paths import BREAK_OFF, is_relayed
from sessions_app.chat.handshake import session_key_in
from sessions_app.chat.sockets import WRITE_NOW

AHEAD = 256 * 1024
"""Bytes of a body that wait for the application before the connection is paused."""

LINGER = 2.0
"""Seconds for which the rest of a body is dropped after an early response, which a reset would lose."""

DROP_PAUSE = 0.02
"""Seconds between two packets that are dropped."""

REASONS = {status.value: status.phrase.encode() for status in HTTPStatus}
"""What clients read behind a status and show; Twisted has words for some only, 429 not among them."""


class BodyQueue(asyncio.Queue[dict[str, Any]]):
    """The messages of one request. The first `get` asks the client for the body, each makes room for more."""

    def __init__(self, request: "StreamedRequest") -> None:
        super().__init__()
        self._request = request
        self._waiting = 0

    def add(self, body: bytes, *, more_body: bool) -> None:
        self.put_nowait({"type": "http.request", "body": body, "more_body": more_body})
        self._waiting += len(body)
        if self._waiting > AHEAD:
            self._request.pause()

    async def get(self) -> dict[str, Any]:
        self._request.expect()
        message = await super().get()
        self._waiting -= len(message.get("body", b""))
        if self._waiting <= AHEAD:
            self._request.resume()
        return message


class Unread(BytesIO):
    """Stands for a body that Daphne must not read: it puts nothing of a closed one into the queue."""

    closed = True


class StreamedRequest(WebRequest):  # type: ignore[misc]
    """A request whose body, if it has one, is read by the application while it arrives."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args, parsePOSTFormSubmission=False)
        self._is_streamed = False
        self._is_complete = False
        self._is_expected = False
        self._upgrade_key: str | None = None  # of a handshake that waits

    def gotLength(self, length: int | None) -> None:
        """Called after the headers; `length` is None for a chunked body."""
        self._is_streamed = length != 0
        if not self._is_streamed:
            super().gotLength(length)
            return
        self.content = Unread()
        self.method, self.uri, self.clientproto = self.channel.request_line
        self.path = self.uri.partition(b"?")[0]
        # The channel would ask for the body at once; `expect` asks when the application reads.
        self._is_expected = b"100-continue" in self.requestHeaders.getRawHeaders(b"Expect", [b""])[0].lower()
        self.requestHeaders.removeHeader(b"Expect")
        if self.requestHeaders.hasHeader(b"Upgrade"):
            self.basic_error(400, b"Bad Request", "An upgrade has no body.")
        else:
            self.process()

    def process(self) -> None:
        """Handshakes of sockets wait for their turn (`upgrade_queue`); no other program opens one."""
        if not self.requestHeaders.hasHeader(b"Upgrade"):
            super().process()
            return
        if is_relayed(self.path):
            # No socket: the relay refuses it, and records that.
            self.requestHeaders.removeHeader(b"Upgrade")
            super().process()
            return
        self._upgrade_key = session_key_in(b"; ".join(self.requestHeaders.getRawHeaders(b"Cookie", [])))
        if not self.server.ws_factory.upgrades.add(self._upgrade_key, self._upgrade):
            self.basic_error(503, b"Service Unavailable", "Too many sockets are being opened.")

    def setResponseCode(self, code: int, message: bytes | None = None) -> None:
        super().setResponseCode(code, message or REASONS.get(code))

    def break_off(self) -> None:
        """Ends the connection in the middle of a response, behind what was written of it.

        One that no length or chunk ends would seem whole then: its connection is reset.
        """
        if self.channel is None:
            return
        if self.startedWriting and (self.chunked or self.responseHeaders.hasHeader(b"Content-Length")):
            self.channel.loseConnection()
        else:
            self.channel.transport.abortConnection()

    def pass_on(self, piece: bytes) -> bool:
        """Writes a piece of a chunked response; False where that takes the usual way."""
        if not (piece and self.startedWriting and self.chunked) or self.finished or self._disconnected:
            return False
        if not write_now(self.channel.transport, b"%x\r\n%b\r\n" % (len(piece), piece)):
            return False
        self.sentLength += len(piece)
        return True

    def _upgrade(self) -> None:
        self._upgrade_key = None
        super().process()

    def connectionLost(self, reason: Any) -> None:
        if self._upgrade_key is not None:
            self.server.ws_factory.upgrades.remove(self._upgrade_key, self._upgrade)
        super().connectionLost(reason)

    def handleContentChunk(self, data: bytes) -> None:
        if self.application_queue is not None and not self.finished:
            self.application_queue.add(data, more_body=True)

    def requestReceived(self, command: bytes, path: bytes, version: bytes) -> None:
        if not self._is_streamed:
            super().requestReceived(command, path, version)
            return
        self._is_complete = True
        if self.application_queue is not None and not self.finished:
            self.application_queue.add(b"", more_body=False)

    def handle_reply(self, message: dict[str, Any]) -> None:
        is_open = not self.finished and self.channel is not None
        if (
            is_open
            and message["type"] == "http.response.start"
            and self._is_streamed
            and not self._is_complete
        ):
            # What still arrives would be taken for the next request.
            self.channel.cut()
            message = {**message, "headers": [*message.get("headers", ()), (b"Connection", b"close")]}
        super().handle_reply(message)

    def expect(self) -> None:
        if self._is_expected and not self._is_complete and self.channel is not None:
            self._is_expected = False
            self.channel._send100Continue()

    def pause(self) -> None:
        self.transport.pauseProducing()

    def resume(self) -> None:
        if self._is_streamed and not self._is_complete and not self.finished and self.channel is not None:
            self.transport.resumeProducing()


class Channel(ChannelWithRoom):
    """A connection. After a response that came before the end of the body it drops the rest, then closes."""

    requestFactory: Any = StreamedRequest
    _path: Any  # Twisted's annotation is that of a request.

    def __init__(self) -> None:
        super().__init__()
        self._is_cut = False
        self._is_lingering = False

    @property
    def request_line(self) -> tuple[bytes, bytes, bytes]:
        return self._command, self._path, self._version

    def cut(self) -> None:
        self.persistent = False
        self._is_cut = True

    def rawDataReceived(self, data: bytes) -> None:
        if not self._is_lingering:
            super().rawDataReceived(data)
            return
        # Slowly: who goes on sending must not keep the loop busy.
        self.transport.pauseProducing()
        self.callLater(DROP_PAUSE, self.transport.resumeProducing)

    def loseConnection(self) -> None:
        if not self._is_cut:
            super().loseConnection()
        elif not self._is_lingering:
            self._linger()

    def _linger(self) -> None:
        self._is_lingering = True
        self.setTimeout(None)
        self._networkProducer.unregisterProducer()
        self.transport.loseWriteConnection()
        self.callLater(LINGER, self.transport.abortConnection)


class BodyFactory(HTTPFactory):  # type: ignore[misc]
    """Makes such connections, and has the server call applications with queues that hold clients back."""

    protocol = Channel

    def __init__(self, server: Any) -> None:
        super().__init__(server)
        server.create_application = partial(_create_application, server)

    def buildProtocol(self, addr: Any) -> Any:
        protocol = super().buildProtocol(addr)
        protocol.requestFactory = StreamedRequest
        return protocol


def _create_application(server: Any, protocol: Any, scope: dict[str, Any]) -> Any:
    """As `daphne.server.Server.create_application`, with a queue that holds the client back."""
    queue: BodyQueue | FrameQueue
    if isinstance(protocol, StreamedRequest):
        queue, send = BodyQueue(protocol), partial(_send, server, protocol)
        scope[BREAK_OFF] = protocol.break_off
    elif isinstance(protocol, Socket):
        queue, send = FrameQueue(protocol), partial(server.handle_reply, protocol)
        scope[WRITE_NOW] = protocol.write_now
    else:
        return daphne.server.Server.create_application(server, protocol, scope)
    scope.setdefault("asgi", {"version": "3.0"})
    called = server.application(scope=scope, receive=queue.get, send=send)
    server.connections[protocol]["application_instance"] = asyncio.ensure_future(called)
    return queue


async def _send(server: Any, request: StreamedRequest, message: dict[str, Any]) -> None:
    more = message.get("more_body")
    if not (more and request.pass_on(message.get("body", b""))):
        await server.handle_reply(request, message)
    if more and request.channel is not None:
        # A program that is relayed may stop, in a debugger, as long as it likes: the provider waits with it.
        await request.channel.room(None if is_relayed(request.path) else PATIENCE)


def install() -> None:
    """Has every Daphne of this process use it, whichever command starts one."""
    daphne.server.HTTPFactory = BodyFactory
