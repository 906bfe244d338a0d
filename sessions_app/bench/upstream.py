"""A fake Gemini for measurements: server-sent events in the real shape, for as little CPU as Python allows.

`python -m sessions_app.bench.upstream` serves on a free port of 127.0.0.1 until it is ended. The newest
`chunks=N pace=P` in a request says how many chunks the answer has and how many ms lie between them. Every
text begins with the moment at which it was written, so that a reader on the same machine knows how long it
was on its way. The shape is what recordings show (recorded-traffic "Streams"): usageMetadata in every
chunk, an empty signed part with finishReason at the end.
"""

import asyncio
import base64
import re
import time

TEXT_LENGTH = 44
STAMP = re.compile(rb"@(\d{16})")
"""CLOCK_MONOTONIC in ns: one clock for every process of a machine."""

PARAGRAPH = 10
"""A blank line after this many chunks: prose has paragraphs, and a page renders each one when it closes."""

SIGNATURE = base64.b64encode(bytes(n * 7 % 256 for n in range(2048)))

_FILLER = " and the river carries it on to the sea"[: TEXT_LENGTH - 17].encode()
_BREAK = _FILLER[:-2] + rb"\n\n"
_USAGE = (
    b'"usageMetadata": {"promptTokenCount": 512,"candidatesTokenCount": 9,"totalTokenCount": 521,'
    b'"promptTokensDetails": [{"modality": "TEXT","tokenCount": 512}]},'
    b'"modelVersion": "gemini-3-flash-preview","responseId": "bench"}'
)
_TEXT = (
    b'data: {"candidates": [{"content": {"parts": [{"text": "@%016d%b"}],"role": "model"},'
    b'"index": 0}],%b\r\n\r\n'
)
_LAST = (
    b'data: {"candidates": [{"content": {"parts": [{"text": "","thoughtSignature": "%b"}],"role": "model"},'
    b'"finishReason": "STOP","index": 0}],%b\r\n\r\n' % (SIGNATURE, _USAGE)
)
_STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
_REFUSAL_HEAD = b"HTTP/1.1 %d No\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
_REFUSAL = b'{"error": {"code": %d,"message": "%b","status": "%b"}}'
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.I)
_ORDERS = re.compile(rb"chunks=(\d+) pace=([\d.]+)")


def text_event(number: int, stamp: int) -> bytes:
    """The event of one text chunk; `number` counts from 0."""
    filler = _BREAK if number % PARAGRAPH == PARAGRAPH - 1 else _FILLER
    return _TEXT % (stamp, filler, _USAGE)


def framed(event: bytes) -> bytes:
    """One chunk of HTTP's chunked transfer coding."""
    return b"%x\r\n%b\r\n" % (len(event), event)


def refusal(target: bytes) -> bytes:
    """The answer to everything that is not a stream."""
    if b"cachedContents" in target:
        words = b"Cached content is too small. total_token_count=512, min_total_token_count=4096"
        body = _REFUSAL % (400, words, b"INVALID_ARGUMENT")
        return _REFUSAL_HEAD % (400, len(body)) + body
    body = _REFUSAL % (404, b"Not here.", b"NOT_FOUND")
    return _REFUSAL_HEAD % (404, len(body)) + body


class Connection(asyncio.Protocol):
    """One connection: requests one after the other, kept alive between them."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, blank, body = self._received.partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        if blank and len(body) >= (int(length[1]) if length else 0):
            self._received = b""
            self._answer(head.split(b" ", 2)[1], body)

    def _answer(self, target: bytes, body: bytes) -> None:
        orders = _ORDERS.findall(body)
        if b":streamGenerateContent" not in target or not orders:
            self._transport.write(refusal(target))
            return
        chunks, pace = orders[-1]
        self._transport.write(_STREAM_HEAD)
        self._write(0, int(chunks), float(pace) / 1000, self._loop.time())

    def _write(self, number: int, chunks: int, pace: float, begin: float) -> None:
        if self._transport.is_closing():
            return
        if number == chunks:
            self._transport.write(framed(_LAST) + b"0\r\n\r\n")
            return
        self._transport.write(framed(text_event(number, time.monotonic_ns())))
        # Counted from the beginning: a late timer must not make the whole stream slower than asked.
        due = begin + (number + 1) * pace
        self._loop.call_at(due, self._write, number + 1, chunks, pace, begin)


async def serve() -> None:
    server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", 0, backlog=1024)
    print(f"upstream on port {server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve())
