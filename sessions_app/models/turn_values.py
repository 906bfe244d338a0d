"""Turns as the prompt core uses them, from rows and from what a process remembers."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from sessions_app.error_codes import RefusalCode
from sessions_app.errors import HistoryGone
from sessions_app.models.blob import Blob
from sessions_app.models.byte_cache import ByteCache
from sessions_app.prompt import turns as prompt_turns

content_cache: ByteCache[str, bytes] = ByteCache("contents")
"""Contents of turns by sha256: those of a conversation travel with each of its requests."""

value_cache: ByteCache[tuple[Any, ...], prompt_turns.Turn] = ByteCache("turns")
"""Turns by the columns that they are made of, the first of `BUFFERED`; the last one names the content."""


def values_of(rows: Sequence[tuple[Any, ...]]) -> tuple[prompt_turns.Turn, ...]:
    """The turns of rows of `BUFFERED`; those of an earlier request are the same objects."""
    columns = [row[:-3] for row in rows]
    found = value_cache.find_all(columns)
    missing = [place for place, value in enumerate(found) if value is None]
    wires = _wires({columns[place][-1]: rows[place][-3] for place in missing})
    for place in missing:
        wire = wires[columns[place][-1]]
        found[place] = value = _value(columns[place], wire)
        value_cache.put(columns[place], value, len(wire))
    return tuple(value for value in found if value is not None)


def language_of(rows: Sequence[tuple[Any, ...]]) -> str:
    """The newest language that was said in rows of `BUFFERED`."""
    return next((row[-2] for row in reversed(rows) if row[-2]), "")


def _wires(blobs: Mapping[str, int]) -> dict[str, bytes]:
    """The contents by sha256, from memory where they are there; `blobs` are the keys of their blobs.

    Raises HistoryGone.
    """
    found = {sha256: content_cache.find(sha256) for sha256 in blobs}
    missing = [blobs[sha256] for sha256, wire in found.items() if wire is None]
    for blob in Blob.objects.in_bulk(missing).values() if missing else ():
        found[blob.sha256] = wire = blob.bytes
        content_cache.put(blob.sha256, wire, len(wire))
    wires = {sha256: wire for sha256, wire in found.items() if wire is not None}
    if len(wires) < len(blobs):
        raise HistoryGone(RefusalCode.CHAT_ERASED)
    return wires


def _value(columns: tuple[Any, ...], wire: bytes) -> prompt_turns.Turn:
    public, kind, route, refused_in, _ = columns
    # SQLite keeps a uuid as hex without dashes.
    key = str(uuid.UUID(str(public)))
    return prompt_turns.Turn(key, prompt_turns.TurnKind(kind), wire, route, refused_in)
