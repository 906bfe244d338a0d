"""Caches: `cachedContents` with expiry and a minimum size, and the implicit cache of prefixes.

Sources: gemini-wire §2, §5.3, §7.
"""

import hashlib
import re
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sessions_app.emulator.api_errors import cache_gone, cache_too_small, free_storage, invalid
from sessions_app.emulator.catalogue import Model
from sessions_app.emulator.gemini_requests import Content, PromptFields, ToolConfig, ToolDeclarations
from sessions_app.emulator.resource_store import Clock, ResourceStore, resource_name, timestamp
from sessions_app.emulator.usage import (
    count_tokens,
    counted_bytes,
    declaration_bytes,
    estimate_tokens,
    part_tokens,
)
from sessions_app.emulator.validation import check_parts, check_tools
from sessions_app.emulator.wire_model import JsonObject, WireModel

_DEFAULT_TTL = timedelta(hours=1)
_TTL = re.compile(r"(\d+(?:\.\d{1,9})?)s")
_PREFIX = "cachedContents/"

_BLOCK = 1_024
_BLOCKS_KEPT = 100_000


class CachedContentRequest(PromptFields):
    name: str = ""
    display_name: str = ""
    ttl: str | None = None
    expire_time: str | None = None


class CacheUpdate(WireModel):
    name: str = ""
    ttl: str | None = None
    expire_time: str | None = None


@dataclass(frozen=True, slots=True)
class CachedContent:
    """Only the tools and the calling mode of the content are used again; the rest is kept as token
    `counts` by modality. `model` is a name without `models/`."""

    name: str
    key: str
    model: str
    display_name: str
    tools: tuple[ToolDeclarations, ...]
    tool_config: ToolConfig | None
    counts: Counter[str]
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
    """The explicit caches of every key."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock, lambda _: cache_gone())

    def find(self, name: str, key: str) -> CachedContent:
        """As in ResourceStore; the name may come without `cachedContents/`."""
        return super().find(_PREFIX + name.removeprefix(_PREFIX), key)

    def create(self, request: CachedContentRequest, key: str, model: Model) -> CachedContent:
        """Raises ApiError: 400 below the model's minimum or for a malformed request, 429 for a key that
        contains `free`."""
        check_parts(request.contents, "CreateCachedContentRequest")
        check_tools(request.tools)
        counts = count_tokens(request.all_contents, request.tools)
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
            tools=tuple(request.tools),
            tool_config=request.tool_config,
            counts=counts,
            created=now,
            updated=now,
            expires=expires,
        )
        return self._add(cache)

    def update(self, name: str, key: str, change: CacheUpdate) -> CachedContent:
        cache, now = self.find(name, key), self.clock()
        expires = _expiry(change, now)
        if expires is None:
            raise invalid("* UpdateCachedContentRequest: one of ttl and expire_time must be set\n")
        return self._add(replace(cache, updated=now, expires=expires))


def _expiry(request: CachedContentRequest | CacheUpdate, now: datetime) -> datetime | None:
    ttl, expire_time = request.ttl, request.expire_time
    if ttl is not None and expire_time is not None:
        raise invalid("Invalid value at 'cached_content' (oneof), oneof field 'expiration' is already set.")
    try:
        if ttl is not None:
            return now + timedelta(seconds=_seconds(ttl))
        return datetime.fromisoformat(expire_time).astimezone(now.tzinfo) if expire_time else None
    except (ValueError, OverflowError):
        raise invalid(f"Invalid value at 'cached_content.expiration', \"{ttl or expire_time}\"") from None


def _seconds(ttl: str) -> float:
    if not (match := _TTL.fullmatch(ttl)):
        raise ValueError(ttl)
    return float(match[1])


class PrefixCache:
    """Implicit caching: the longest prefix shared with an earlier request of the same key and model.

    The provider promises "identical prefix, above a minimum" (gemini-wire §7). Here a prefix is a
    chain of hashes over blocks of 1,024 bytes, which start anew with every part. Of more than
    `capacity` blocks the oldest are forgotten.
    """

    def __init__(self, capacity: int = _BLOCKS_KEPT) -> None:
        self._seen: OrderedDict[bytes, None] = OrderedDict()
        self._capacity = capacity

    def match(
        self, scope: str, contents: Sequence[Content], tools: Sequence[ToolDeclarations], minimum: int
    ) -> int:
        """Tokens of the longest known prefix, 0 below `minimum`; then remembers this request."""
        link, tokens, hit, is_known = scope.encode(), 0, 0, True
        for block, cost in _blocks(contents, tools):
            link = hashlib.sha256(link + block).digest()
            tokens += cost
            is_known = is_known and link in self._seen
            hit = tokens if is_known else hit
            self._remember(link)
        return hit if hit >= minimum else 0

    def _remember(self, link: bytes) -> None:
        self._seen[link] = None
        self._seen.move_to_end(link)
        if len(self._seen) > self._capacity:
            self._seen.popitem(last=False)


def _blocks(contents: Iterable[Content], tools: Sequence[ToolDeclarations]) -> Iterator[tuple[bytes, int]]:
    """Blocks with their tokens, which add up to the tokens of each part."""
    if tools:
        data = declaration_bytes(tools)
        yield from _split(b"tools", data, estimate_tokens(data))
    for content in contents:
        for part in content.parts:
            yield from _split(f"{content.role}:{part.kind}".encode(), counted_bytes(part), part_tokens(part))


def _split(label: bytes, data: bytes, tokens: int) -> Iterator[tuple[bytes, int]]:
    spent = 0
    for start in range(0, max(1, len(data)), _BLOCK):
        end = start + _BLOCK
        reached = tokens if end >= len(data) else min(tokens, 10 * end // 33)
        yield label + b"\0" + data[start:end], reached - spent
        spent = reached
