"""Signatures as the rows hold them: in raw chunks, where they arrived, and in manifests, where they went."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sessions_app.inspector.parts import title_of
from sessions_app.models import Exchange, RawChunk, SentItem
from sessions_app.prompt import wire
from sessions_app.prompt.renditions.chunks import gemini_chunk
from sessions_app.prompt.signatures import signatures_of
from sessions_app.prompt.turns import parts_of

MARK = b"ignature"
"""Stands in every JSON that carries a signature, in either spelling; what lacks it need not be parsed."""


@dataclass(frozen=True, slots=True)
class Received:
    """A signature in the chunk where it arrived. `part` counts within the chunk."""

    exchange: int
    seq: int
    part: int
    sha256: str
    size: int
    is_dummy: bool
    on: str
    """What the part is, in words."""


@dataclass(frozen=True, slots=True)
class Carried:
    """A signature inside a content that was sent."""

    part: int
    sha256: str
    size: int
    is_dummy: bool
    on: str


def carried_in(content: bytes) -> tuple[Carried, ...]:
    """The signatures of one content's wire JSON, in part order."""
    if MARK not in content:
        return ()
    titles = {view.index: title_of(view) for view in parts_of(content)}
    return tuple(
        Carried(found.part, found.sha256, found.size, found.dummy, titles.get(found.part, ""))
        for found in signatures_of(content)
    )


def received_by(exchanges: Iterable[Exchange]) -> dict[int, list[Received]]:
    """Exchange number → the signatures of its raw chunks, in the order they arrived: one query."""
    numbers = {exchange.pk: exchange.number for exchange in exchanges}
    chunks = RawChunk.objects.filter(exchange__in=numbers).order_by("exchange_id", "seq")
    found: dict[int, list[Received]] = defaultdict(list)
    for pk, seq, body in chunks.values_list("exchange_id", "seq", "body"):
        found[numbers[pk]] += _in_chunk(numbers[pk], seq, bytes(body))
    return found


def _in_chunk(number: int, seq: int, body: bytes) -> list[Received]:
    content = content_of(body) if MARK in body else None
    if content is None:
        return []
    return [
        Received(number, seq, one.part, one.sha256, one.size, one.is_dummy, one.on)
        for one in carried_in(wire.dumps(content))
    ]


def content_of(body: bytes) -> dict[str, Any] | None:
    """The content of a chunk's first candidate; None when there is none."""
    try:
        candidate = gemini_chunk(wire.loads(body))["candidates"][0]
    except (ValueError, LookupError, TypeError, AttributeError):
        return None
    content = candidate.get("content") if isinstance(candidate, dict) else None
    return content if isinstance(content, dict) else None


def turn_key(item: SentItem) -> str:
    """The public id of the turn an item is; empty for items that are no turn."""
    kind, _, key = item.source.name.partition(":")
    return key if kind == "turn" else ""
