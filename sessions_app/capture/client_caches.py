"""Explicit caches that captured programs make, extend and delete: in the cache's life, as ours are."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from django.db import transaction
from django.db.models import Q
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from sessions_app.capture.cutting import cut
from sessions_app.models import CacheEntry, CapturedRequest
from sessions_app.models.cache_event import CausedBy
from sessions_app.models.columns import storable
from sessions_app.prompt.caching import EntryReason
from sessions_app.prompt.layers import Layer
from sessions_app.prompt.payload import Item
from sessions_app.prompt.pricing import MoneySource
from sessions_app.prompt.prompt_items import CACHED_CONTENT
from sessions_app.prompt.routes import endpoint_of
from sessions_app.prompt.turns import TurnKind
from sessions_app.runs.cache_bookings import KeptCache, book_creation, book_extension, record_end
from sessions_app.runs.money_source import source_of_response

_CACHES = re.compile(
    r"/v1(?:alpha|beta\d?)?/(?:projects/[^/]+/locations/[^/]+/)?(cachedContents(?:/[^/:?]+)?)(?:\?|$)"
)
"""Vertex AI has a project and a location before the caches, in paths and in names."""


class _Usage(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    total_token_count: int = 0


class CacheAnswer(BaseModel):
    """What the provider says of a cache (gemini-wire §7)."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    name: str = Field(
        pattern=r"^(projects/[^/]+/locations/[^/]+/)?cachedContents/[^/]{1,100}$", max_length=120
    )
    model: str = ""
    expire_time: AwareDatetime | None = None
    usage_metadata: _Usage = _Usage()


@dataclass(frozen=True, slots=True)
class NamedCache:
    """A cache that a request names. `items` are what it holds, as far as its making was captured."""

    fingerprint: str = ""
    items: tuple[Item, ...] = ()

    @property
    def has_answers(self) -> bool:
        """Whether it holds part of a conversation; the request then begins behind that."""
        return any(item.kind in _ANSWERS for item in self.items)


_ANSWERS = frozenset(kind.value for kind in TurnKind if kind.is_model)
NO_CACHE = NamedCache()


def named_cache(name: str, captured: CapturedRequest, route: str) -> NamedCache:
    """Empty for a cache that no captured program made: nothing is known of it."""
    entry = _named(captured, route, name).order_by("-pk").first()
    if entry is None:
        return NO_CACHE
    made = entry.captured_request
    body = made.sent_body() if made is not None else b""
    return NamedCache(entry.fingerprint, tuple(_held(body)) if body else ())


def making_of(name: str, owner_id: int) -> bytes:
    """The body with which a program of this person made a cache; empty where that was not captured."""
    made = CacheEntry.objects.filter(is_programs=True, owner=owner_id, captured_request__isnull=False)
    entry = _with_name(made, storable(name)).select_related("captured_request").order_by("-pk").first()
    return entry.captured_request.sent_body() if entry is not None else b""


@transaction.atomic
def note_cache_request(captured: CapturedRequest, route: str, base_url: str, answer: bytes) -> None:
    """What an answered request to `base_url` did to a cache; nothing for any other request."""
    found = _CACHES.search(captured.path)
    if found is None or captured.status != 200:
        return
    if captured.method == "DELETE":
        for entry in _named(captured, route, found[1]).at_provider():
            _delete(entry, _when(captured))
        return
    try:
        said = CacheAnswer.model_validate_json(answer)
    except ValidationError:
        return
    if captured.method == "POST" and found[1] == "cachedContents":
        _make(captured, route, said, _payer(captured, route, base_url))
    elif captured.method == "PATCH":
        _extend(captured, route, said)


def _make(captured: CapturedRequest, route: str, said: CacheAnswer, payer: MoneySource) -> None:
    """The provider gives a name once: the same making in another imported file is no other cache."""
    known = _named(captured, route, said.name).order_by("-pk").first()
    if known is not None:
        if known.captured_request is None:
            CacheEntry.objects.filter(pk=known.pk).update(captured_request=captured)
        return
    fingerprint = sha256(f"{captured.address_id}\n{said.name}".encode()).hexdigest()
    model = said.model.rpartition("/")[2][:80]
    owner_id = captured.address.owner_id
    if said.expire_time is None or not CacheEntry.objects.claim(
        fingerprint, model=model, route=route, owner_id=owner_id, by=_when(captured)
    ):
        return
    tokens = said.usage_metadata.total_token_count
    CacheEntry.objects.remember(
        fingerprint, name=said.name, tokens=tokens, expires=said.expire_time, by=_when(captured)
    )
    CacheEntry.objects.filter(fingerprint=fingerprint).update(is_programs=True, captured_request=captured)
    entry = CacheEntry.objects.get(fingerprint=fingerprint)
    if _is_booked_with(entry):
        cache = KeptCache.of(entry, _when(captured).moment)
        book_creation(cache, None, _rest(said.expire_time, captured), owner_id, source=payer)


def _extend(captured: CapturedRequest, route: str, said: CacheAnswer) -> None:
    entry = _named(captured, route, said.name).at_provider().first()
    if entry is None or said.expire_time is None or entry.expires_at is None:
        return
    by = _when(captured)
    if entry.events.filter(at=by.moment, expires=said.expire_time).exists():
        # The same request, in another imported file.
        return
    gained = said.expire_time - entry.expires_at
    _entries(captured, route).set_expiry(said.name, said.expire_time, by=by)
    if _is_booked_with(entry):
        book_extension(KeptCache.of(entry, by.moment), None, entry.owner_id, gained)


def _delete(entry: CacheEntry, by: CausedBy) -> None:
    CacheEntry.objects.filter(pk=entry.pk).mark_for_deletion(EntryReason.CLIENT, by=by)
    entry.refresh_from_db()
    if _is_booked_with(entry):
        record_end(entry, EntryReason.CLIENT, by=by)
    else:
        entry.drop(EntryReason.CLIENT, by=by)


def _is_booked_with(entry: CacheEntry) -> bool:
    """Whether this is the first entry that its owner has of the cache.

    What it costs is booked once, also where an archive shows it without its key or at another address.
    """
    seen = CacheEntry.objects.filter(is_programs=True, owner=entry.owner_id, name=entry.name)
    return not seen.filter(pk__lt=entry.pk).exists()


def _when(captured: CapturedRequest) -> CausedBy:
    """The events of a cache have the time of the answer, not that of their recording."""
    return CausedBy(at=captured.ended_at or captured.received_at)


def _entries(captured: CapturedRequest, route: str) -> Any:
    """The caches that programs made with this key."""
    made = CacheEntry.objects.filter(is_programs=True, owner=captured.address.owner_id)
    return made.on_endpoint(endpoint_of(route)).select_related("captured_request")


def _named(captured: CapturedRequest, route: str, name: str) -> Any:
    return _with_name(_entries(captured, route), name)


def _with_name(entries: Any, name: str) -> Any:
    """Those of a name; a project stands in it by its id or by its number."""
    name = f"cachedContents/{name.rpartition('/')[2]}"
    return entries.filter(Q(name=name) | Q(name__endswith=f"/{name}"))


def _payer(captured: CapturedRequest, route: str, base_url: str) -> MoneySource:
    source = source_of_response(route, base_url, captured.response_headers)
    is_clients = source is MoneySource.PROVIDER and not captured.uses_server_key
    return MoneySource.CLIENT if is_clients else source


def _rest(expires: datetime, captured: CapturedRequest) -> timedelta:
    return max(expires - (captured.ended_at or captured.received_at), timedelta())


def _held(body: bytes) -> list[Item]:
    """What the body of its making put into a cache; the request that names it does not carry it."""
    found, contents = [], 0
    for item in cut(body).prompt:
        contents += item.content is not None
        source = item.source if item.content is None else f"{CACHED_CONTENT}:{contents}"
        found.append(
            item._replace(layer=Layer.STATIC, source=source, content=None, part=None, start=None, end=None)
        )
    return found
