"""Which row stands for each item of a request: stored once, and known to the process from then on."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from django.db import transaction

from sessions_app.models.byte_cache import ByteCache
from sessions_app.models.source import Blob, Source
from sessions_app.prompt.payload import Item

if TYPE_CHECKING:
    from sessions_app.models.session import Session

Identity = tuple[str, str, str, str, str]
"""What a source is known by: the public id of its session, name, sha256, role and kind."""

CACHED_BYTES = 500
"""What a key and its identity are taken to need in memory."""

key_cache: ByteCache[Identity, int] = ByteCache()
"""Keys of committed sources. Those of captured sessions are not among them: moving requests deletes some."""


def store_sources(session: "Session", items: Sequence[Item]) -> list[int]:
    """Primary keys of the items' sources, in order; inserts the new ones.

    No query for those of an earlier request of this process.
    """
    of = session.public.hex
    identities = [(of, item.source, item.sha256, item.role, item.kind) for item in items]
    known = {} if session.is_captured else _kept(identities)
    missing = {one: item for one, item in zip(identities, items, strict=True) if one not in known}
    if missing:
        stored = _stored(session, missing)
        fresh = {one: item for one, item in missing.items() if one not in stored}
        found = stored | (_inserted(session, fresh) if fresh else {})
        if not session.is_captured:
            transaction.on_commit(partial(_keep, found))
        known |= found
    return [known[identity] for identity in identities]


def _kept(identities: Sequence[Identity]) -> dict[Identity, int]:
    found = zip(identities, key_cache.find_all(identities), strict=True)
    return {identity: key for identity, key in found if key is not None}


def _keep(keys: Mapping[Identity, int]) -> None:
    for identity, key in keys.items():
        key_cache.put(identity, key, CACHED_BYTES)


def _stored(session: "Session", items: Mapping[Identity, Item]) -> dict[Identity, int]:
    """The keys of those that have a row."""
    digests = {item.sha256 for item in items.values()}
    rows = Source.objects.filter(session=session, blob__sha256__in=digests)
    columns = rows.values_list("pk", "name", "blob__sha256", "role", "kind")
    found = {(session.public.hex, *identity): key for key, *identity in columns}
    return {identity: found[identity] for identity in items if identity in found}


def _inserted(session: "Session", items: Mapping[Identity, Item]) -> dict[Identity, int]:
    blobs = Blob.objects.store(session.owner_id, (item.wire for item in items.values()))
    rows = Source.objects.bulk_create(Source.of(session, item, blobs[item.sha256]) for item in items.values())
    return {identity: row.pk for identity, row in zip(items, rows, strict=True)}
