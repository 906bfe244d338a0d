"""Explicit caches: `cachedContents` with expiry and a minimum size.

Sources: gemini-wire §2, §5.3, §7.
"""

from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import ClassVar

from sessions_app.emulator.api_errors import (
    FieldViolation,
    bad_fields,
    cache_gone,
    cache_too_small,
    free_storage,
    invalid,
)
from sessions_app.emulator.catalogue import Model
from sessions_app.emulator.decisions import CacheFinding, CacheState, Rule
from sessions_app.emulator.gemini_requests import Content, GenerateRequest, PromptFields
from sessions_app.emulator.prefix_cache import PrefixBlock, chain_of
from sessions_app.emulator.resource_store import Clock, ResourceStore, resource_name, timestamp
from sessions_app.emulator.tool_declarations import ToolConfig, ToolDeclarations
from sessions_app.emulator.usage import count_tokens, scaled
from sessions_app.emulator.validation import check_cached
from sessions_app.emulator.wire_model import JsonObject, WireModel
from sessions_app.emulator.wire_times import Duration, Timestamp

_DEFAULT_TTL = timedelta(hours=1)
_LATEST = datetime.max.replace(tzinfo=UTC)
_PREFIX = "cachedContents/"

RESOURCE = "cached_content"
"""The field of a request that a body of this resource is."""

_ENDED_KEPT = 1_000


class CachedContentRequest(PromptFields):
    wire_name: ClassVar[str] = "CachedContent"

    name: str = ""
    display_name: str = ""
    ttl: Duration | None = None
    expire_time: Timestamp | None = None


class CacheUpdate(WireModel):
    name: str = ""
    ttl: Duration | None = None
    expire_time: Timestamp | None = None


@dataclass(frozen=True, slots=True)
class CachedContent:
    """`contents`, tools and calling mode are part of each request that names it. All that it holds is counted
    once, in token `counts` by modality. `model` is a name without `models/`; `link` is that of a request's
    block with which a request that begins with the content is past it."""

    name: str
    key: str
    model: str
    display_name: str
    contents: tuple[Content, ...]
    tools: tuple[ToolDeclarations, ...]
    tool_config: ToolConfig | None
    counts: Counter[str]
    link: bytes
    created: datetime
    updated: datetime
    expires: datetime

    @property
    def tokens(self) -> int:
        return self.counts.total()

    def describe(self, now: datetime) -> JsonObject:
        return {
            "name": self.name,
            "model": f"models/{self.model}",
            "createTime": timestamp(self.created),
            "updateTime": timestamp(self.updated),
            "expireTime": timestamp(self.expires, nanoseconds=True),
            "displayName": self.display_name,
            "usageMetadata": {"totalTokenCount": self.tokens},
        }


class CacheStore(ResourceStore[CachedContent]):
    """The explicit caches of every key. Those that ended are remembered, for the journal only."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock, lambda _: cache_gone())
        self._ended: OrderedDict[str, tuple[CachedContent, CacheState, datetime]] = OrderedDict()

    def find(self, name: str, key: str) -> CachedContent:
        """As in ResourceStore; the name may come without `cachedContents/`."""
        return super().find(_full_name(name), key)

    def conversation(self, request: GenerateRequest, key: str) -> tuple[Content, ...]:
        """The contents of the cache that the request names, if it is there, and those of the request."""
        self._delete_expired()
        cache = self._resources.get(_full_name(request.cached_content))
        return (*(cache.contents if cache and cache.key == key else ()), *request.contents)

    def create(
        self, request: CachedContentRequest, key: str, model: Model, factor: float = 1.0
    ) -> CachedContent:
        """Raises ApiError: 400 below the model's minimum or for a malformed request, 429 for a key that
        contains `free`. `factor` is the provider's count divided by ours."""
        check_cached(request)
        counts = scaled(count_tokens(request.all_contents, request.tools), factor)
        if counts.total() < (minimum := model.explicit_minimum or 0):
            raise cache_too_small(counts.total(), minimum)
        if "free" in key.lower():
            raise free_storage(model.name, counts.total())
        now = self.clock()
        expires = _expiry(request, now) or now + _DEFAULT_TTL
        self._created += 1
        seed = f"{self._created} {now.isoformat()} {request.model_dump_json()}"
        cache = CachedContent(
            name=_PREFIX + resource_name(seed, 40),
            key=key,
            model=model.name,
            display_name=request.display_name,
            contents=tuple(request.contents),
            tools=tuple(request.tools),
            tool_config=request.tool_config,
            counts=counts,
            link=chain_of(request.all_contents, request.tools)[-1].link,
            created=now,
            updated=now,
            expires=expires,
        )
        return self._add(cache)

    def update(self, name: str, key: str, change: CacheUpdate) -> CachedContent:
        cache, now = self.find(name, key), self.clock()
        expires = _expiry(change, now)
        if expires is None:
            message = "* UpdateCachedContentRequest: one of ttl and expire_time must be set\n"
            raise invalid(message, rule=Rule.CACHE_EXPIRY_INVALID)
        return self._add(replace(cache, updated=now, expires=expires))

    def vanish(self, name: str) -> None:
        """The cache is gone before its expiry."""
        cache = self._resources[name]
        self._remove(cache)
        self._ended[name] = cache, CacheState.VANISHED, self.clock()

    def is_live(self, name: str) -> bool:
        self._delete_expired()
        return name in self._resources

    def findings(
        self, name: str, chain: Sequence[PrefixBlock], key: str, model: Model
    ) -> tuple[CacheFinding, ...]:
        """Caches that a request names or begins with, living or not, of every key and model."""
        self._delete_expired()
        named, links = _full_name(name), {block.link for block in chain}
        known = [
            *self._ended.values(),
            *((cache, CacheState.LIVE, None) for cache in self._resources.values()),
        ]
        found = tuple(
            CacheFinding(
                name=cache.name,
                state=state,
                is_named=cache.name == named,
                is_other_key=cache.key != key,
                is_other_model=cache.model != model.name,
                tokens=cache.tokens,
                expires=cache.expires,
                ended=ended,
            )
            for cache, state, ended in known
            if cache.name == named or cache.link in links
        )
        if name and not any(finding.is_named for finding in found):
            return (CacheFinding(named, CacheState.UNKNOWN, is_named=True), *found)
        return found

    def _remove(self, resource: CachedContent) -> None:
        super()._remove(resource)
        now = self.clock()
        is_expired = resource.expires <= now
        state, ended = (CacheState.EXPIRED, resource.expires) if is_expired else (CacheState.DELETED, now)
        self._ended[resource.name] = resource, state, ended
        if len(self._ended) > _ENDED_KEPT:
            self._ended.popitem(last=False)


def _full_name(name: str) -> str:
    return _PREFIX + name.removeprefix(_PREFIX) if name else ""


def _expiry(request: CachedContentRequest | CacheUpdate, now: datetime) -> datetime | None:
    if request.ttl is None:
        return request.expire_time
    if request.expire_time is not None:
        violation = FieldViolation(
            RESOURCE,
            f"Invalid value at '{RESOURCE}' (oneof), oneof field 'expiration' is already set. "
            "Cannot set 'expireTime'",
        )
        raise bad_fields(violation, rule=Rule.CACHE_EXPIRY_INVALID)
    return now + min(request.ttl, _LATEST - now)
