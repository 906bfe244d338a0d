"""The wire tab: request and response as bytes, their HTTP attempts, and whether the rebuilt request has the
noted hash.
"""

import hashlib
from dataclasses import dataclass

from sessions_app.inspector import formatting
from sessions_app.inspector.attempts import ShownAttempt, shown_attempts
from sessions_app.inspector.code_samples import CodeSample, code_samples_of
from sessions_app.inspector.part_views import PartReader, ShownPart
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
    """`sha256` is of the rebuilt body; `is_faithful` compares it with `noted`, taken before the call."""

    request: tuple[ShownPart, ...]
    rest: int
    size: int
    sha256: str
    noted: str
    is_faithful: bool
    programs: list[CodeSample]
    chunks: list[ShownChunk]
    chunk_count: int
    attempts: list[ShownAttempt]
    """Of the whole series of an exchange that was sent again."""
    is_translated: bool
    """Sent as a chat completion, made from the prepared body."""


class WireTab(Tab):
    id = "wire"
    title = "Wire"
    has_raw = True

    def context(self, exchange: Exchange, *, raw: bool) -> ShownWire:
        body, reader = exchange.sent_body(), PartReader()
        sha256 = hashlib.sha256(body).hexdigest()
        request = reader.part("raw", "", formatting.decoded(body) if raw else formatting.pretty(body))
        return ShownWire(
            request=(request,),
            rest=request.rest,
            size=len(body),
            sha256=sha256,
            noted=exchange.recorded_sha256,
            is_faithful=sha256 == exchange.recorded_sha256,
            programs=code_samples_of(exchange),
            chunks=shown_chunks(exchange, reader, raw=raw),
            chunk_count=exchange.chunks.count(),
            attempts=shown_attempts(exchange, PartReader(), raw=raw),
            is_translated=exchange.is_translated,
        )


def shown_chunks(exchange: Exchange, reader: PartReader, *, raw: bool) -> list[ShownChunk]:
    show = formatting.decoded if raw else formatting.pretty
    rows = exchange.chunks.all()[:CHUNKS]
    bodies = ((row, bytes(row.body)) for row in rows)
    return [
        ShownChunk(row.seq, row.ms, len(body), (reader.part("raw", "", show(body)),)) for row, body in bodies
    ]


def response_name(exchange: Exchange) -> str:
    return f"exchange-{exchange.number}-response.ndjson"
