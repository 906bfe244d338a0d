"""A proxy that passes bytes on unread and keeps them: what a client and a server said to each other."""

import socket
import threading
from collections import Counter
from collections.abc import Iterator
from types import TracebackType
from typing import NamedTuple, Self
from urllib.parse import urlsplit

import h11

PACKET = 65_536


class HttpExchange(NamedTuple):
    """A request and its answer; bodies without the framing of their connection."""

    method: str
    target: str
    body: bytes
    status: int
    answer: bytes


class Tap:
    """Listens on a port of its own. Everything goes on to `url`, whose path is not used."""

    def __init__(self, url: str) -> None:
        place = urlsplit(url)
        self._there = (place.hostname, place.port)
        self._connections: list[_Connection] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(10)
        for connection in self._connections:
            connection.close()

    def exchanges(self) -> Counter[HttpExchange]:
        """Those that are complete."""
        return Counter(found for connection in list(self._connections) for found in connection.exchanges())

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(self._there)
            self._connections.append(_Connection(client, server))


class _Connection:
    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self._sockets = (client, server)
        self._said, self._answered = bytearray(), bytearray()
        pumps = ((client, server, self._said), (server, client, self._answered))
        self._threads = [threading.Thread(target=_pump, args=pump, daemon=True) for pump in pumps]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        for end in self._sockets:
            _shut(end, socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(10)
        for end in self._sockets:
            end.close()

    def exchanges(self) -> Iterator[HttpExchange]:
        said, answered = bytes(self._said), bytes(self._answered)
        while said:
            server = h11.Connection(h11.SERVER)
            request, body, said = _read(server, said)
            if not isinstance(request, h11.Request):
                return
            client = h11.Connection(h11.CLIENT)
            # The form of an answer depends on what was asked; its head is enough for that.
            client.send(h11.Request(method=request.method, target=request.target, headers=[("Host", "tap")]))
            client.send(h11.EndOfMessage())
            response, answer, answered = _read(client, answered)
            if not isinstance(response, h11.Response):
                return
            method, target = request.method.decode(), request.target.decode("latin-1")
            yield HttpExchange(method, target, body, response.status_code, answer)


def _read(reader: h11.Connection, stream: bytes) -> tuple[h11.Event | None, bytes, bytes]:
    """The head and the body of the first message, and what follows it; no head where it is not complete."""
    reader.receive_data(stream)
    head, body = None, b""
    while not isinstance(event := reader.next_event(), h11.EndOfMessage):
        if event in (h11.NEED_DATA, h11.PAUSED) or isinstance(event, h11.ConnectionClosed):
            return None, b"", b""
        if isinstance(event, h11.Data):
            body += bytes(event.data)
        elif isinstance(event, (h11.Request, h11.Response)):
            head = event
    return head, body, reader.trailing_data[0]


def _pump(source: socket.socket, target: socket.socket, kept: bytearray) -> None:
    """Keeps a packet before it goes on, so that whoever has it finds it here."""
    try:
        while packet := source.recv(PACKET):
            kept += packet
            target.sendall(packet)
    except OSError:
        _shut(source, socket.SHUT_RD)
    _shut(target, socket.SHUT_WR)


def _shut(end: socket.socket, how: int) -> None:
    try:
        end.shutdown(how)
    except OSError:
        return  # It is closed already.
