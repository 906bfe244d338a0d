"""Request and response as they travelled, with the proof that the request was rebuilt exactly."""

import hashlib
from dataclasses import dataclass

from sessions_app.inspector import texts
from sessions_app.inspector.parts import Reading, ShownPart
from sessions_app.inspector.programs import Program, programs_of
from sessions_app.inspector.tabs.base import Tab
from sessions_app.models import Exchange

CHUNKS = 300
"""Chunks shown on the page; the download has all of them."""


@dataclass(frozen=True, slots=True)
class ShownChunk:
    seq: int
    ms: float
    size: int
    parts: tuple[ShownPart, ...]

    @property
    def rest(self) -> int:
        return sum(part.rest for part in self.parts)


@dataclass(frozen=True, slots=True)
class ShownWire:
    """`sha256` is of the rebuilt body that travelled; `is_faithful` says whether `noted`, taken before
    the call, equals it."""

    request: tuple[ShownPart, ...]
    rest: int
    size: int
    sha256: str
    noted: str
    is_faithful: bool
    programs: list[Program]
    chunks: list[ShownChunk]
    chunk_count: int
    is_translated: bool
    """Sent as a chat completion, made from the prepared body."""


class WireTab(Tab):
    id = "wire"
    title = "Wire"
    has_raw = True

    def context(self, exchange: Exchange, *, raw: bool) -> ShownWire:
        body, reading = exchange.sent_body(), Reading()
        sha256 = hashlib.sha256(body).hexdigest()
        request = reading.part("raw", "", texts.decoded(body) if raw else texts.pretty(body))
        return ShownWire(
            request=(request,),
            rest=request.rest,
            size=len(body),
            sha256=sha256,
            noted=exchange.noted_sha256,
            is_faithful=sha256 == exchange.noted_sha256,
            programs=programs_of(exchange),
            chunks=shown_chunks(exchange, reading, raw=raw),
            chunk_count=exchange.chunks.count(),
            is_translated=exchange.is_translated,
        )


def shown_chunks(exchange: Exchange, reading: Reading, *, raw: bool) -> list[ShownChunk]:
    show = texts.decoded if raw else texts.pretty
    rows = exchange.chunks.all()[:CHUNKS]
    bodies = ((row, bytes(row.body)) for row in rows)
    return [
        ShownChunk(row.seq, row.ms, len(body), (reading.part("raw", "", show(body)),)) for row, body in bodies
    ]


def response_name(exchange: Exchange) -> str:
    return f"exchange-{exchange.number}-response.ndjson"
