"""A fake Gemini for measurements: server-sent events in the real shape, for little CPU.

`python -m tests.bench.fake_upstream [PORT]` serves on 127.0.0.1 until it is ended, by default on a free port.
The newest `chunks=N pace=P` in a request says how many chunks the answer has and how many ms lie between
them. Every text begins with the moment at which it was written, so that a reader on the same machine knows
how long it was on its way. The shape is what recordings show (recorded-traffic "Streams"): usageMetadata in
every chunk, an empty signed part with finishReason at the end.
"""

import asyncio
import base64
import re
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

TEXT_LENGTH = 44
STAMP = re.compile(rb"@(\d{16})")
"""CLOCK_MONOTONIC in ns: one clock for every process of a machine."""

PARAGRAPH = 10
"""A blank line after this many chunks: prose has paragraphs, and a page renders each one when it closes."""

SIGNATURE = base64.b64encode(bytes(n * 7 % 256 for n in range(2048)))

STREAM = b":streamGenerateContent"
"""The end of the path of every request that is answered with a stream."""

Answer = Callable[[asyncio.StreamWriter, bytes, bytes], Awaitable[None]]
"""Writes the answer to a request, given its target and body."""

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
STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
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
    code, message, status = 404, b"Not here.", b"NOT_FOUND"
    if b"cachedContents" in target:
        message = b"Cached content is too small. total_token_count=512, min_total_token_count=4096"
        code, status = 400, b"INVALID_ARGUMENT"
    body = _REFUSAL % (code, message, status)
    return _REFUSAL_HEAD % (code, len(body)) + body


async def answer_request(writer: asyncio.StreamWriter, target: bytes, body: bytes) -> None:
    orders = _ORDERS.findall(body)
    if STREAM in target and orders:
        await stream(writer, int(orders[-1][0]), float(orders[-1][1]) / 1000)
    else:
        writer.write(refusal(target))


async def answer_requests(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, answer: Answer = answer_request
) -> None:
    """One connection: requests one after the other, until the client closes it."""
    with suppress(asyncio.IncompleteReadError, ConnectionError):
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = _LENGTH.search(head)
            body = await reader.readexactly(int(length[1]) if length else 0)
            await answer(writer, head.split(b" ", 2)[1], body)
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()


async def stream(writer: asyncio.StreamWriter, chunks: int, pace: float) -> None:
    """Writes an answer; `pace` is seconds between two chunks."""
    writer.write(STREAM_HEAD)
    begin = time.monotonic()
    for number in range(chunks):
        writer.write(framed(text_event(number, time.monotonic_ns())))
        # Counted from the beginning: a late timer must not make the whole stream slower than asked.
        await asyncio.sleep(begin + (number + 1) * pace - time.monotonic())
        if writer.is_closing():
            return
    writer.write(framed(_LAST) + b"0\r\n\r\n")


async def serve(answer: Answer = answer_request, port: int = 0) -> None:
    connection = partial(answer_requests, answer=answer)
    server = await asyncio.start_server(connection, "127.0.0.1", port, backlog=1024)
    print(f"upstream on port {server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(port=int(sys.argv[1]) if sys.argv[1:] else 0))
