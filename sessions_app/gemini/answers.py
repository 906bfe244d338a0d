"""What the provider answers besides streams, as plain values."""

from dataclasses import dataclass
from datetime import datetime

from google.genai import types


@dataclass(frozen=True, slots=True)
class CacheCreated:
    """A new cache entry at the provider.

    `name` is `cachedContents/…`, `expires` an aware time, `tokens` the provider's own count.
    """

    name: str
    expires: datetime | None
    tokens: int


@dataclass(frozen=True, slots=True)
class CacheListed:
    """A cache entry as the provider lists it; contents are never echoed (gemini-wire §7)."""

    name: str
    model: str
    display_name: str
    expires: datetime | None
    tokens: int


@dataclass(frozen=True, slots=True)
class ModelListed:
    """A model as the provider lists it; `name` without `models/`, limits in tokens (0: not told)."""

    name: str
    display_name: str
    input_limit: int
    output_limit: int
    methods: tuple[str, ...]


def cache_created(cache: types.CachedContent) -> CacheCreated:
    return CacheCreated(cache.name or "", cache.expire_time, _tokens(cache))


def cache_listed(cache: types.CachedContent) -> CacheListed:
    return CacheListed(
        name=cache.name or "",
        model=(cache.model or "").removeprefix("models/"),
        display_name=cache.display_name or "",
        expires=cache.expire_time,
        tokens=_tokens(cache),
    )


def model_listed(model: types.Model) -> ModelListed:
    return ModelListed(
        name=(model.name or "").removeprefix("models/"),
        display_name=model.display_name or "",
        input_limit=model.input_token_limit or 0,
        output_limit=model.output_token_limit or 0,
        methods=tuple(model.supported_actions or ()),
    )


def _tokens(cache: types.CachedContent) -> int:
    usage = cache.usage_metadata
    return (usage.total_token_count if usage else 0) or 0
