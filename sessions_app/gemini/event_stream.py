"""Splits the bytes of a streamed answer into raw chunks: each event's JSON, exactly as it arrived.

The framing is what recordings show (recorded-traffic "Streams", gemini-wire §3): `data: {json}` and a
blank line; one JSON array when `alt=sse` is missing; a bare multi-line JSON object where an error
interrupts the stream. Comments and other fields of server-sent events are tolerated, and so are a byte
order mark and lines that end with CR alone.
"""

from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any

import httpx2

from sessions_app.error_codes import RefusalCode
from sessions_app.errors import AnswerRefused, BrokenStream, GatewayError
from sessions_app.gemini.bounds import EVENT_LIMIT, Keep, check_nesting, forget
from sessions_app.gemini.error_mapping import BROKEN_HINT, error_of_answer, translated
from sessions_app.gemini.json_splitter import OPENERS, JsonSplitter
from sessions_app.gemini.line_buffer import LineBuffer
from sessions_app.prompt import wire
from sessions_app.prompt.chunks import is_failure

_IGNORED_FIELDS = (b"", b"event", b"id", b"retry")
"""A comment is a field without a name."""
_BLANK_LINES = (b"\n", b"\r\n")
_DONE = b"[DONE]"
"""The end marker of an OpenAI-compatible stream; it is not an event."""


# Not frozen: one is made for every chunk, at a quarter of the cost.
@dataclass(slots=True)
class StreamChunk:
    """One event of a stream.

    `seq` counts from 0 within the exchange, `ms` is the time since the request left, `body` the JSON
    of the event byte for byte: valid JSON, an object. It may hold escaped lone surrogates, which
    orjson refuses; `prompt.wire.loads` reads them. `event` is the body as it was parsed to look for an
    error, for a reader that need not parse it again.
    """

    seq: int
    ms: float
    body: bytes
    event: dict[str, Any] | None = field(default=None, compare=False, repr=False)


class EventSplitter:
    """Takes packets of any size and returns the JSON text of each event. Reads every byte once.

    Raises AnswerRefused when an event has more than EVENT_LIMIT bytes, BrokenStream on a line that belongs to
    neither server-sent events nor JSON, and at the end on a bare JSON value that never closed. Events of the
    same packet are returned first: then `check`, and every later call, raises.
    """

    def __init__(self) -> None:
        self._lines = LineBuffer()
        self._data: list[bytes] = []
        self._size = 0
        self._splitter: JsonSplitter | None = None
        self._failure: GatewayError | None = None

    @property
    def unread(self) -> bytes:
        """What arrived and is no event, from its beginning."""
        return self._splitter.unfinished if self._splitter else self._lines.rest

    def feed(self, packet: bytes) -> list[bytes]:
        """Complete events. Counts the bytes since the last one, before they are joined."""
        self.check()
        is_within = self._size or self._data or self._splitter
        if self._lines.is_between_lines and not is_within and (event := _only_event(packet)) is not None:
            return [event]
        events: list[bytes] = []
        try:
            self._take(packet, events)
        except GatewayError as failure:
            if not events:
                raise
            self._failure = failure
        return events

    def check(self) -> None:
        """Raises the error that follows the events which were returned last."""
        if self._failure is not None:
            raise self._failure

    def _take(self, packet: bytes, events: list[bytes]) -> None:
        while len(packet) > EVENT_LIMIT - self._size:
            room = EVENT_LIMIT - self._size
            piece, packet = packet[:room], packet[room:]
            if not self._split(piece, events):
                # At once, not when the traceback that refers to it is collected.
                self._lines.clear()
                self._splitter = None
                raise AnswerRefused(RefusalCode.EVENT_TOO_LARGE, limit=EVENT_LIMIT)
        self._split(packet, events)

    def _split(self, piece: bytes, events: list[bytes]) -> bool:
        """Adds the events of a piece; returns whether there are any."""
        self._size += len(piece)
        self._lines.add(piece)
        known = len(events)
        while self._step(events):
            pass
        if len(events) == known:
            return False
        self._size = 0
        return True

    def close(self) -> list[bytes]:
        """The last event, where the stream ended without its blank line."""
        self.check()
        if self._splitter is not None:
            raise BrokenStream("The answer ended in the middle of a JSON value.", hint=BROKEN_HINT)
        events: list[bytes] = []
        self._read_line(self._lines.rest, events)
        self._read_line(b"", events)
        return events

    def _step(self, events: list[bytes]) -> bool:
        """Reads one line, or what there is of a value without framing; returns whether more may follow."""
        first = self._lines.first()
        if first is None:
            return False
        if self._splitter is None and not self._data and first in OPENERS:
            self._splitter = JsonSplitter(is_array=first == OPENERS[1])
        if self._splitter is not None:
            return self._cut(self._splitter, events)
        line = self._lines.line()
        if line is None:
            return False
        self._read_line(line, events)
        self._lines.drop_line()
        return True

    def _cut(self, splitter: JsonSplitter, events: list[bytes]) -> bool:
        events += splitter.feed(self._lines.rest)
        self._lines.clear()
        if splitter.is_open:
            return False
        self._lines.add(splitter.rest)
        self._splitter = None
        return True

    def _read_line(self, line: bytes, events: list[bytes]) -> None:
        if line.startswith(b"data:") or line == b"data":
            self._data.append(line[6:] if line[5:6] == b" " else line[5:])
        elif not line:
            if self._data and self._data != [_DONE]:
                events.append(b"\n".join(self._data))
            self._data.clear()
        elif line.partition(b":")[0] not in _IGNORED_FIELDS:
            raise BrokenStream(f"The answer is not an event stream: {_excerpt(line)}", hint=BROKEN_HINT)


def _only_event(packet: bytes) -> bytes | None:
    """The JSON of a packet that is one event with its blank line, as nearly all are."""
    end = packet.find(b"\n")
    is_one = (
        packet[end + 1 :] in _BLANK_LINES and packet.startswith(b"data: {") and len(packet) <= EVENT_LIMIT
    )
    event = packet[6:end].removesuffix(b"\r") if is_one else b"\r"
    return None if b"\r" in event else event


async def read_chunks(
    response: httpx2.Response, started: float, secret: str = "", keep: Keep = forget
) -> AsyncGenerator[StreamChunk, None]:
    """The chunks of an open response; `started` is perf_counter() when the request left.

    `keep` gets the bytes that end the stream with an error. Raises GatewayError where an event is an error,
    AnswerRefused beyond our bounds, BrokenStream where it is not a JSON object, and for an error of the
    transport what `translated` makes of it.
    """
    splitter = EventSplitter()
    seq = 0
    # Not `aiter_bytes`: there is nothing to decode (`bounds`), and its layers cost as much as splitting.
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    packets = aiter(response.stream)
    assert isinstance(packets, AsyncGenerator)
    with translated(secret):
        async with aclosing(packets):
            async for packet in packets:
                ms = (perf_counter() - started) * 1000
                for body in _events(splitter, partial(splitter.feed, packet), keep):
                    yield StreamChunk(seq, ms, body, _read(body, secret, keep))
                    seq += 1
    for body in _events(splitter, splitter.close, keep):
        event = _read(body, secret, keep)
        yield StreamChunk(seq, (perf_counter() - started) * 1000, body, event)
        seq += 1


def _events(splitter: EventSplitter, step: Callable[[], list[bytes]], keep: Keep) -> Iterator[bytes]:
    try:
        yield from step()
        splitter.check()
    except GatewayError:
        keep(splitter.unread, is_cut=True)
        raise


def _read(body: bytes, secret: str, keep: Keep) -> dict[str, Any]:
    try:
        return read_event(body, secret)
    except GatewayError:
        keep(body)
        raise


def read_event(body: bytes, secret: str = "") -> dict[str, Any]:
    """The object in `body`, when it is a piece of an answer.

    Raises GatewayError for `{"error": …}` in every form seen (first key or not, alone in a list),
    AnswerRefused for one that is nested too deeply, BrokenStream for anything that is not a JSON object.
    """
    check_nesting(body)
    try:
        event = wire.loads(body)
    except ValueError:
        raise BrokenStream(
            f"An event of the answer is not JSON: {_excerpt(body)}", hint=BROKEN_HINT
        ) from None
    first = event[0] if isinstance(event, list) and event else event
    if is_failure(first):
        raise error_of_answer(None, first, secret=secret)
    if not isinstance(event, dict):
        raise BrokenStream(f"An event of the answer is not a JSON object: {_excerpt(body)}", hint=BROKEN_HINT)
    return event


def _excerpt(text: bytes) -> str:
    return repr(text[:80].decode("utf-8", "replace"))
