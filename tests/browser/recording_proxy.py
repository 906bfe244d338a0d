"""Stands between Pipeweb and a provider, passes everything on and keeps the bodies of requests."""

import http.client
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

PER_HOP = {"connection", "transfer-encoding", "content-length", "host", "accept-encoding"}


class RecordingProxy:
    """`bodies` are those of streamed answers, in the order in which they arrived."""

    def __init__(self, provider: str) -> None:
        self.bodies: list[str] = []
        self._provider = urlsplit(provider).netloc
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                proxy.pass_on(self)

            do_POST = do_PATCH = do_DELETE = do_GET  # noqa: N815

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                """Says nothing."""

        return Handler

    def pass_on(self, request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        if ":streamGenerateContent" in request.path:
            self.bodies.append(body.decode())
        headers = {name: value for name, value in request.headers.items() if name.lower() not in PER_HOP}
        provider = http.client.HTTPConnection(self._provider, timeout=60)
        provider.request(request.command, request.path, body or None, headers)
        answer = provider.getresponse()
        received = answer.read()
        provider.close()
        request.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in PER_HOP:
                request.send_header(name, value)
        request.send_header("Content-Length", str(len(received)))
        request.end_headers()
        request.wfile.write(received)
