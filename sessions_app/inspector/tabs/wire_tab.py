"""The wire tab: request and response as bytes, their HTTP attempts, and whether the rebuilt request has the
noted hash.
"""

import hashlib
from dataclasses import dataclass
from typing import Self

from sessions_app.hosts import public_address
from sessions_app.inspector import formatting
from sessions_app.inspector.attempts import ShownAttempt, shown_attempts
from sessions_app.inspector.chunk_times import has_times
from sessions_app.inspector.code_samples import CodeSample, code_samples_of, request_line
from sessions_app.inspector.originals import names_cache
from sessions_app.inspector.part_views import PartReader, ShownPart
from sessions_app.inspector.tabs.base import Tab
from sessions_app.models import Exchange
from sessions_app.prompt.logical_prompt import CONTEXT_LENGTH
from sessions_app.wording import break_lines

CHUNKS = 300
"""Chunks shown on the page; the download has all of them."""


@dataclass(frozen=True, slots=True)
class ShownChunk:
    seq: int
    ms: float | None
    """None where nothing tells when it arrived."""
    size: int
    parts: tuple[ShownPart, ...]

    @property
    def rest(self) -> int:
        return sum(part.rest for part in self.parts)


EXCERPT = 400
"""Bytes shown before and after the place where the request leaves the one before it."""


@dataclass(frozen=True, slots=True)
class ShownPlace:
    """The bytes around a place of the body; `marked` begins at it."""

    name: str
    before: str
    marked: str
    after: str

    @classmethod
    def of(cls, exchange: Exchange, body: bytes) -> Self | None:
        """None without a break, and where this body does not have its place."""
        found = exchange.found_break
        if found is None or found.at is None or found.at.body_byte is None or exchange.is_translated:
            return None
        at = found.at.body_byte
        around = (
            body[max(0, at - EXCERPT) : at],
            body[at : at + CONTEXT_LENGTH],
            body[at + CONTEXT_LENGTH :],
        )
        before, marked, after = (formatting.decoded(piece[:EXCERPT]) for piece in around)
        return cls(break_lines.place_in_body(found.at), before, marked, after)


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
    broken: ShownPlace | None
    attempts: list[ShownAttempt]
    """The attempts of the whole series where the exchange was sent again."""
    is_translated: bool
    """Sent as a chat completion, made from the prepared body."""
    names_cache: bool
    """A copy as sent is answered only while the cache lives."""
    line: str
    """Method and path."""
    address: str
    """Where a copy goes unless it is told otherwise; empty where nobody else can reach it."""


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
            broken=ShownPlace.of(exchange, body),
            attempts=shown_attempts(exchange, PartReader(), raw=raw),
            is_translated=exchange.is_translated,
            names_cache=names_cache(exchange),
            line=request_line(exchange),
            address=public_address(exchange.base_url),
        )


def shown_chunks(exchange: Exchange, reader: PartReader, *, raw: bool) -> list[ShownChunk]:
    show = formatting.decoded if raw else formatting.pretty
    rows, is_timed = exchange.chunks.all()[:CHUNKS], has_times(exchange)
    bodies = ((row, row.ms if is_timed else None, bytes(row.body)) for row in rows)
    return [
        ShownChunk(row.seq, ms, len(body), (reader.part("raw", "", show(body)),)) for row, ms, body in bodies
    ]


def response_name(exchange: Exchange) -> str:
    return f"exchange-{exchange.number}-response.ndjson"
