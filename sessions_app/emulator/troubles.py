"""What can happen to an answer between the model and the client: every row of gemini-wire §3.

The pieces of a stream are changed before they are sent; the connection is cut, closed or left
silent by the body. `WIRE` is the table of the former, by the word people type.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sessions_app.emulator import framing
from sessions_app.emulator.refusals import internal, overloaded

Pieces = list[bytes]

CUT_AFTER = 2


@dataclass(frozen=True, slots=True)
class Trouble:
    """`wire` names a change of `WIRE`; `cut_after` ends the connection after so many pieces, by a
    reset or, when `clean`, by an ordinary close; 0 ends it before any answer. `stall` is seconds of
    silence after the second piece. `page` answers with a proxy's error page instead."""

    wire: str = ""
    cut_after: int | None = None
    clean: bool = False
    stall: float = 0
    page: bool = False

    def apply(self, pieces: Pieces) -> Pieces:
        return WIRE[self.wire].change(pieces) if self.wire else pieces


NO_TROUBLE = Trouble()


@dataclass(frozen=True, slots=True)
class WireTrouble:
    """`meaning` is what a person reads; `change` turns the pieces of a stream into others."""

    meaning: str
    change: Callable[[Pieces], Pieces]


PROXY_PAGE = b"<html><head><title>502 Bad Gateway</title></head><body>Bad Gateway</body></html>\n"


def _comment(pieces: Pieces) -> Pieces:
    return [*pieces[:1], b": keep-alive\r\n\r\n", *pieces[1:]]


def _named(pieces: Pieces) -> Pieces:
    return [b"event: message\r\nid: 1\r\n" + piece for piece in pieces]


def _tight(pieces: Pieces) -> Pieces:
    return [piece.replace(b"data: ", b"data:", 1) for piece in pieces]


def _joined(pieces: Pieces) -> Pieces:
    return [piece.removesuffix(b"\r\n") for piece in pieces]


def _done(pieces: Pieces) -> Pieces:
    return [*pieces, b"data: [DONE]\r\n\r\n"]


def _torn(pieces: Pieces) -> Pieces:
    last = pieces[-1] if pieces else b""
    return [*pieces[:-1], last[: len(last) // 2]]


def _array(pieces: Pieces) -> Pieces:
    bodies = [piece.removeprefix(b"data: ").rstrip() for piece in pieces]
    return [b"[" + b",".join(bodies) + b"]"]


def _feeds(pieces: Pieces) -> Pieces:
    return [piece.replace(b"\r\n", b"\n") for piece in pieces]


def _single_bytes(pieces: Pieces) -> Pieces:
    return [bytes((byte,)) for piece in pieces for byte in piece]


def _silent(_: Pieces) -> Pieces:
    return []


def _error_event(pieces: Pieces) -> Pieces:
    return [*pieces[:CUT_AFTER], b"data: " + framing.line(internal().payload()) + b"\r\n\r\n"]


def _error_lines(pieces: Pieces) -> Pieces:
    return [*pieces[:CUT_AFTER], framing.pretty(overloaded().payload())]


def _error_first(_: Pieces) -> Pieces:
    return [b"data: " + framing.line(overloaded().payload()) + b"\r\n\r\n"]


WIRE: dict[str, WireTrouble] = {
    "comment": WireTrouble("a comment line between events", _comment),
    "named": WireTrouble("`event:` and `id:` lines", _named),
    "tight": WireTrouble("no space after `data:`", _tight),
    "joined": WireTrouble("events without a blank line between them", _joined),
    "done": WireTrouble("`[DONE]` at the end", _done),
    "torn": WireTrouble("the last event cut in the middle", _torn),
    "array": WireTrouble("a JSON array where events were asked for", _array),
    "feeds": WireTrouble("line feeds without carriage returns", _feeds),
    "bytes": WireTrouble("one byte at a time", _single_bytes),
    "silent": WireTrouble("no events at all", _silent),
    "failing": WireTrouble("an error event in mid-stream", _error_event),
    "bare": WireTrouble("an error in mid-stream without `data:`", _error_lines),
    "first": WireTrouble("an error as the first event, under status 200", _error_first),
}


def promised_length(pieces: Sequence[bytes]) -> dict[str, str]:
    """Headers of an answer that will break off: a server that cannot cut a connection then still
    leaves the client waiting for the rest."""
    return {"content-length": str(sum(map(len, pieces))), "connection": "close"}
