"""The sources of a request as rows: new ones are inserted, the keys of the others are kept in memory."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from django.db import transaction

from sessions_app.models.blob import Blob
from sessions_app.models.byte_cache import ByteCache
from sessions_app.models.prepared import insert_values
from sessions_app.models.source import Source
from sessions_app.prompt.payload import Item

if TYPE_CHECKING:
    from sessions_app.models.session import Session

FEW = 8
"""So many sources are inserted without asking which of them are there."""

IDENTITY = ("session", "name", "blob", "role", "kind")
"""What makes two sources of one session the same."""

COLUMNS = ("session", "name", "role", "kind", "blob", "tokens")

SourceIdentity = tuple[bytes, int, str, str, str, str]
"""The session's public id, how often its payloads were purged, name, sha256, role and kind.

A purge deletes the sources, in whatever process; the session is read when a run begins, and none is purged
from then on.
"""

source_keys: ByteCache[SourceIdentity, int] = ByteCache("source_keys")
"""Keys of committed sources: those of a conversation travel with each of its requests. Those of captured
sessions are not among them: moving requests deletes some."""


def store_sources(session: "Session", items: Sequence[Item]) -> list[int]:
    """Primary keys of the items' sources, in order; inserts the new ones."""
    identities = _identities(session, items)
    known = {} if session.is_captured else _remembered(identities)
    found = dict(known)
    fresh = {
        identity: item for identity, item in zip(identities, items, strict=True) if identity not in found
    }
    if len(fresh) > FEW:
        read = _source_keys(session, list(fresh.values()))
        found |= read
        fresh = {identity: item for identity, item in fresh.items() if identity not in read}
    if fresh:
        blobs = Blob.objects.store(session.owner_id, (item.wire for item in fresh.values()))
        rows = [
            (session.pk, item.source, item.role, item.kind, blobs[item.sha256], item.tokens)
            for item in fresh.values()
        ]
        keys = insert_values(Source, COLUMNS, rows, unique=IDENTITY, updated=("tokens",))
        found |= dict(zip(fresh, keys, strict=True))
    if not session.is_captured:
        learnt = {identity: key for identity, key in found.items() if identity not in known}
        transaction.on_commit(partial(_remember, learnt))
    return [found[identity] for identity in identities]


def _remembered(identities: "Sequence[SourceIdentity]") -> "dict[SourceIdentity, int]":
    keys = zip(identities, source_keys.find_all(identities), strict=True)
    return {identity: key for identity, key in keys if key is not None}


def _remember(found: "Mapping[SourceIdentity, int]") -> None:
    for identity, key in found.items():
        source_keys.put(identity, key, 0)


def _identities(session: "Session", items: Sequence[Item]) -> list[SourceIdentity]:
    public, purges = session.public.bytes, session.payload_purges
    return [(public, purges, item.source, item.sha256, item.role, item.kind) for item in items]


def _source_keys(session: "Session", items: Sequence[Item]) -> dict[SourceIdentity, int]:
    found = Source.objects.filter(session=session, blob__sha256__in={item.sha256 for item in items})
    return {
        (session.public.bytes, session.payload_purges, name, sha256, role, kind): pk
        for pk, name, sha256, role, kind in found.values_list("pk", "name", "blob__sha256", "role", "kind")
    }
