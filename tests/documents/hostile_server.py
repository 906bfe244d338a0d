"""A web server on loopback whose pages misbehave."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SENTENCE = "<p>Bees are <b>insects</b> that live in hives and make honey, wax and more.</p>"
ARTICLE = (
    "<html><head><title>About bees</title><script>alert(1)</script></head><body><nav>Home Shop</nav>"
    f"<article><h1>About bees</h1>{SENTENCE * 8}</article></body></html>"
)


class Pages(BaseHTTPRequestHandler):
    """`/redirect?TO` redirects; the other paths are methods."""

    released = threading.Event()
    seen: list[dict[str, str]] = []

    def do_GET(self) -> None:
        self.seen.append(dict(self.headers))
        path, _, query = self.path.partition("?")
        if path == "/redirect":
            self.answer(302, {"Location": query}, b"")
        else:
            getattr(self, path.strip("/"))()

    def article(self) -> None:
        self.answer(200, {"Content-Type": "text/html; charset=utf-8"}, ARTICLE.encode())

    def plain(self) -> None:
        self.answer(200, {"Content-Type": "text/plain; charset=latin-1", "Set-Cookie": "a=b"}, b"caf\xe9")

    def picture(self) -> None:
        self.answer(200, {"Content-Type": "image/png"}, b"\x89PNG")

    def missing(self) -> None:
        self.answer(404, {}, b"gone")

    def loop(self) -> None:
        self.answer(301, {"Location": "/loop"}, b"")

    def large(self) -> None:
        self.answer(200, {"Content-Type": "text/plain"}, b"x" * 5_000_001)

    def bomb(self) -> None:
        body = gzip.compress(bytes(50_000_000))
        self.answer(200, {"Content-Type": "text/plain", "Content-Encoding": "gzip"}, body)

    def packed(self) -> None:
        body = gzip.compress(b"unpacked all the same")
        self.answer(200, {"Content-Type": "text/plain", "Content-Encoding": "gzip"}, body)

    def drip(self) -> None:
        """A header line, and then one byte whenever somebody looks away."""
        self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        while not self.released.wait(0.05):
            self.wfile.write(b"x")

    def answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def handle(self) -> None:
        with suppress(ConnectionError):  # the client had enough
            super().handle()

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 (the name of the library)
        pass


@contextmanager
def serving() -> Iterator[str]:
    """The address of the server."""
    Pages.released.clear()
    Pages.seen.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        Pages.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
