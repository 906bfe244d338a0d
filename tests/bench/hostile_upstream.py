"""A fake Gemini with answers that no provider should give, for `bench hostile`.

`python -m tests.bench.hostile_upstream` serves on a free port of 127.0.0.1. The newest `poison=NAME` in a
request orders one of `POISONS`; every other request is answered as `fake_upstream` does.
"""

import asyncio
import re
import time
import zlib
from collections.abc import Awaitable, Callable
from functools import cache

from tests.bench.fake_upstream import STREAM, STREAM_HEAD, answer_request, framed, serve, text_event

EVENT_SIZE = 100_000_000
BOMB_SIZE = 300_000_000
ITEM = rb"- a\n"
"""An item of a list, as JSON; the text has four characters."""
ITEMS, ITEM_EVENTS = 1_000, 250
"""Of one event, and events of one answer."""

DEPTH = 900
"""Nesting of a call's arguments."""

PIECE = b"a" * 65_536

_POISON = re.compile(rb"poison=(\w+)")
_BEGIN = b'data: {"candidates": [{"content": {"parts": [{"text": "'
_STOP = b'"finishReason": "STOP",'
_END = b'"}],"role": "model"},%b"index": 0}]}\r\n\r\n' % _STOP
_CALL = (
    b'data: {"candidates": [{"content": {"parts": [{"functionCall": {"name": "%b","args": %b},'
    b'"thoughtSignature": "c2lnbmF0dXJl"}],"role": "model"},"finishReason": "STOP","index": 0}]}\r\n\r\n'
)
_LAST = b"0\r\n\r\n"


async def answer(writer: asyncio.StreamWriter, target: bytes, body: bytes) -> None:
    ordered = _POISON.findall(body)
    if STREAM in target and ordered:
        await POISONS[ordered[-1].decode()](writer)
    else:
        await answer_request(writer, target, body)


async def send_event(writer: asyncio.StreamWriter) -> None:
    """One event of 100 MB."""
    writer.write(STREAM_HEAD + framed(_BEGIN))
    await _send_pieces(writer, EVENT_SIZE)
    writer.write(framed(_END) + _LAST)


async def send_line(writer: asyncio.StreamWriter) -> None:
    """A gigabyte without a line end."""
    writer.write(STREAM_HEAD)
    await _send_pieces(writer, 10 * EVENT_SIZE)
    writer.write(_LAST)


async def send_bomb(writer: asyncio.StreamWriter) -> None:
    """300 kB that unpack to 300 MB."""
    packed = bomb()
    writer.write(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n"
        b"Content-Length: %d\r\n\r\n%b" % (len(packed), packed)
    )
    await writer.drain()


async def send_endless(writer: asyncio.StreamWriter) -> None:
    """Chunks of text as fast as they are read, until the reader has enough."""
    writer.write(STREAM_HEAD)
    number = 0
    while not writer.is_closing():
        writer.write(framed(text_event(number, time.monotonic_ns())))
        number += 1
        await writer.drain()
        await asyncio.sleep(0)


async def send_list(writer: asyncio.StreamWriter) -> None:
    """One list of a megabyte, in events of 4 kB."""
    writer.write(STREAM_HEAD)
    for _ in range(ITEM_EVENTS):
        writer.write(framed(_BEGIN + ITEM * ITEMS + _END.replace(_STOP, b"")))
        await writer.drain()
    writer.write(framed(_BEGIN + _END) + _LAST)


async def send_deep_call(writer: asyncio.StreamWriter) -> None:
    arguments = b'{"a":' * DEPTH + b"1" + b"}" * DEPTH
    writer.write(STREAM_HEAD + framed(_CALL % (b"add_todo", arguments)) + _LAST)


async def send_call(writer: asyncio.StreamWriter) -> None:
    """A call of a tool, whatever the history says: an endless loop of rounds."""
    writer.write(STREAM_HEAD + framed(_CALL % (b"current_time", b"{}")) + _LAST)


async def _send_pieces(writer: asyncio.StreamWriter, size: int) -> None:
    piece = framed(PIECE)
    for _ in range(size // len(PIECE)):
        if writer.is_closing():
            return
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(0)


@cache
def bomb() -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    pieces = [packer.compress(_BEGIN)]
    pieces += [packer.compress(PIECE) for _ in range(BOMB_SIZE // len(PIECE))]
    return b"".join([*pieces, packer.compress(_END), packer.flush()])


POISONS: dict[str, Callable[[asyncio.StreamWriter], Awaitable[None]]] = {
    "event": send_event,
    "line": send_line,
    "bomb": send_bomb,
    "endless": send_endless,
    "list": send_list,
    "deep": send_deep_call,
    "calls": send_call,
}

if __name__ == "__main__":
    bomb()
    asyncio.run(serve(answer))
