"""Explicit caches: `cachedContents`, with expiry and a minimum (gemini-wire §2, §5.3, §7)."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from sessions_app.emulator.catalogue import Model
from sessions_app.emulator.names import short_name
from sessions_app.emulator.refusals import cache_gone, cache_too_small, free_storage, invalid
from sessions_app.emulator.settings import ToolConfig
from sessions_app.emulator.shapes import CacheRequest, CacheUpdate, Tool
from sessions_app.emulator.structure import check_parts, check_tools
from sessions_app.emulator.tokens import tally

_DEFAULT_TTL = timedelta(hours=1)
_TTL = re.compile(r"(\d+(?:\.\d{1,9})?)s")


@dataclass(frozen=True, slots=True)
class Cache:
    """One cached content. Of what it holds only the tools and how to call them matter later; the
    rest is the token `counts`, by modality."""

    name: str
    key: str
    model: str
    display_name: str
    tools: tuple[Tool, ...]
    tool_config: ToolConfig | None
    counts: Counter[str]
    created: datetime
    updated: datetime
    expires: datetime

    @property
    def tokens(self) -> int:
        return self.counts.total()

    def resource(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "model": f"models/{self.model}",
            "createTime": f"{self.created:%Y-%m-%dT%H:%M:%S.%fZ}",
            "updateTime": f"{self.updated:%Y-%m-%dT%H:%M:%S.%fZ}",
            "expireTime": f"{self.expires:%Y-%m-%dT%H:%M:%S.%f}000Z",
            "displayName": self.display_name,
            "usageMetadata": {"totalTokenCount": self.tokens},
        }


class Shelf:
    """The caches of every key. `clock` returns aware UTC times."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._caches: dict[str, Cache] = {}
        self._made = 0

    def create(self, request: CacheRequest, key: str, model: Model) -> Cache:
        """Raises Refusal: 400 below the model's minimum or for a malformed request, 429 for a key
        that says it is free."""
        check_parts(request.contents, "CreateCachedContentRequest")
        check_tools(request.tools)
        counts = tally(request.all_contents, request.tools)
        if counts.total() < (minimum := model.explicit_minimum or 0):
            raise cache_too_small(counts.total(), minimum)
        if "free" in key.lower():
            raise free_storage(model.name, counts.total())
        now = self._clock()
        expires = _expiry(request.ttl, request.expire_time, now) or now + _DEFAULT_TTL
        self._made += 1
        seed = f"{self._made} {now.isoformat()} {request.model_dump_json()}"
        cache = Cache(
            name="cachedContents/" + short_name(seed, 40),
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
        self._caches[cache.name] = cache
        return cache

    def find(self, name: str, key: str) -> Cache:
        """Raises Refusal (403) alike for a missing, deleted, expired or foreign cache."""
        self._sweep()
        cache = self._caches.get(f"cachedContents/{name.removeprefix('cachedContents/')}")
        if cache is None or cache.key != key:
            raise cache_gone()
        return cache

    def update(self, name: str, key: str, change: CacheUpdate) -> Cache:
        cache, now = self.find(name, key), self._clock()
        expires = _expiry(change.ttl, change.expire_time, now)
        if expires is None:
            raise invalid("* UpdateCachedContentRequest: one of ttl and expire_time must be set\n")
        self._caches[name] = replace(cache, updated=now, expires=expires)
        return self._caches[name]

    def delete(self, name: str, key: str) -> None:
        del self._caches[self.find(name, key).name]

    def of(self, key: str) -> list[Cache]:
        """The living caches of a key, newest first."""
        self._sweep()
        return [cache for cache in reversed(self._caches.values()) if cache.key == key]

    def everybody(self) -> list[Cache]:
        """The living caches of all keys, newest first."""
        self._sweep()
        return list(reversed(self._caches.values()))

    def _sweep(self) -> None:
        now = self._clock()
        for name in [name for name, cache in self._caches.items() if cache.expires <= now]:
            del self._caches[name]


def _expiry(ttl: str | None, expire_time: str | None, now: datetime) -> datetime | None:
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
