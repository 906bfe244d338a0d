"""A provider on a socket of its own: keeps what arrives byte for byte, and answers what a test says."""

import socket
import threading
from types import TracebackType
from typing import Self

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


class UpstreamServer:
    """`chunks` are sent one by one; without the last one (empty) the connection stays open, or `breaks`."""

    def __init__(self) -> None:
        self.requests: list[bytes] = []
        self.chunks: list[bytes] = []
        self.has_end = True
        self.breaks = False
        self.head = HEAD
        self.is_left = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

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

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=[connection], daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            while request := _read(connection):
                self.requests.append(request)
                connection.sendall(self.head)
                for chunk in self.chunks:
                    connection.sendall(b"%x\r\n%b\r\n" % (len(chunk), chunk))
                if self.breaks:
                    return
                if not self.has_end:
                    break
                connection.sendall(b"0\r\n\r\n")
            if not self.has_end and not connection.recv(1):
                self.is_left.set()


def _read(connection: socket.socket) -> bytes:
    """Head and body of a request with a Content-Length."""
    received = b""
    while b"\r\n\r\n" not in received:
        if not (packet := connection.recv(65_536)):
            return b""
        received += packet
    head, _, body = received.partition(b"\r\n\r\n")
    lengths = [
        line.partition(b":")[2] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")
    ]
    while len(body) < int(lengths[0] if lengths else 0):
        body += connection.recv(65_536)
    return head + b"\r\n\r\n" + body
