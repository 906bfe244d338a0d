"""The bytes of a response, as Google frames them and as a broken connection or proxy leaves them.

An event is one line with a space after colons and none after commas; a whole response is indented
by two (recorded-traffic "Streams"). Text is raw UTF-8 and only `<` and `>` are escaped.
`BROKEN_FRAMINGS` and `StreamFault` cover the rows of gemini-wire §3.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sessions_app.emulator.api_errors import internal, overloaded

JSON_TYPE = "application/json; charset=UTF-8"
EVENT_TYPE = "text/event-stream"
FAULT_POSITION = 2
"""Pieces of a stream that arrive before a fault in mid-stream."""

PROXY_PAGE = b"<html><head><title>502 Bad Gateway</title></head><body>Bad Gateway</body></html>\n"

Pieces = list[bytes]


def line(value: Any) -> bytes:
    return _escape(json.dumps(value, ensure_ascii=False, separators=(",", ": ")))


def pretty(value: Any) -> bytes:
    return _escape(json.dumps(value, ensure_ascii=False, indent=2)) + b"\n"


def event(value: Any) -> bytes:
    return b"data: " + line(value) + b"\r\n\r\n"


def events(chunks: Sequence[Any]) -> Pieces:
    """Server-sent events: what `alt=sse` asks for."""
    return [event(chunk) for chunk in chunks]


def array(chunks: Sequence[Any]) -> Pieces:
    """One indented JSON array, an element at a time: a stream without `alt=sse`.

    Elements end with a line feed, and a comma and CRLF stand between them.
    """
    leads = [b"[", *[b",\r\n"] * len(chunks)]
    pieces = [lead + pretty(chunk) for lead, chunk in zip(leads, chunks, strict=False)]
    return [*pieces, b"]" if pieces else b"[]"]


def _escape(text: str) -> bytes:
    return text.replace("<", "\\u003c").replace(">", "\\u003e").encode()


def _cut_last(pieces: Pieces) -> Pieces:
    last = pieces[-1] if pieces else b""
    return [*pieces[:-1], last[: len(last) // 2]]


def _as_array(pieces: Pieces) -> Pieces:
    bodies = [piece.removeprefix(b"data: ").rstrip() for piece in pieces]
    return [b"[" + b",".join(bodies) + b"]"]


BROKEN_FRAMINGS: dict[str, Callable[[Pieces], Pieces]] = {
    "comment": lambda pieces: [*pieces[:1], b": keep-alive\r\n\r\n", *pieces[1:]],
    "named": lambda pieces: [b"event: message\r\nid: 1\r\n" + piece for piece in pieces],
    "tight": lambda pieces: [piece.replace(b"data: ", b"data:", 1) for piece in pieces],
    "joined": lambda pieces: [piece.removesuffix(b"\r\n") for piece in pieces],
    "done": lambda pieces: [*pieces, b"data: [DONE]\r\n\r\n"],
    "torn": _cut_last,
    "array": _as_array,
    "feeds": lambda pieces: [piece.replace(b"\r\n", b"\n") for piece in pieces],
    "bytes": lambda pieces: [bytes((byte,)) for piece in pieces for byte in piece],
    "silent": lambda _: [],
    "failing": lambda pieces: [*pieces[:FAULT_POSITION], event(internal().payload())],
    "bare": lambda pieces: [*pieces[:FAULT_POSITION], pretty(overloaded().payload())],
    "first": lambda _: [event(overloaded().payload())],
}
"""Changes of an event stream by the name that `/wire` takes: an event that is torn, an error in
mid-stream (`failing`), without `data:` (`bare`) or as the first event, under status 200, and so on."""


@dataclass(frozen=True, slots=True)
class StreamFault:
    """`framing` is a key of BROKEN_FRAMINGS. `cut_after` ends the connection after so many pieces, by
    a reset or, when `is_clean`, by an ordinary close; 0 ends it before any response. `stall` is
    seconds of silence at FAULT_POSITION, `first_delay` before the first piece. `proxy_page` answers with
    a proxy's error page instead."""

    framing: str = ""
    cut_after: int | None = None
    is_clean: bool = False
    stall: float = 0
    first_delay: float = 0
    proxy_page: bool = False

    def apply(self, pieces: Pieces) -> Pieces:
        return BROKEN_FRAMINGS[self.framing](pieces) if self.framing else pieces


NO_FAULT = StreamFault()
