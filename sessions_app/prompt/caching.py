"""The explicit cache: what identifies it, and whether to use or make one."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Literal

EXPIRY_MARGIN = timedelta(seconds=10)
"""A cache this close to its end may be gone when the request arrives."""

FIRST_PAUSE, LONGEST_PAUSE = timedelta(minutes=10), timedelta(days=1)
"""How long a provider that refused is not asked again: it doubles with every refusal in a row."""

_MINIMUM = re.compile(r"min_total_token_count=(\d{1,9})|minimum token count\D{0,40}?(\d{1,9})")


class VerdictCode(StrEnum):
    """Why an exchange hit or missed (design §5)."""

    FIRST = "first"
    HIT = "hit"
    PARTIAL = "partial"
    MODEL_CHANGED = "model_changed"
    CONFIG_CHANGED = "config_changed"
    LAYER_CHANGED = "layer_changed"
    SHORTENED = "shortened"
    TTL_LIKELY = "ttl_likely"
    BELOW_MINIMUM = "below_minimum"
    UNSUPPORTED = "unsupported"
    CACHE_EXPIRED = "cache_expired"
    PROVIDER_MISS = "provider_miss"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class CacheFacts:
    """What is known about caching this static layer on this model.

    `minimum` is in tokens, None when the model or the way to it has no explicit caches. `name` and
    `expires` are those of the newest cache with this fingerprint, `refusal` what the provider last
    said against one and still holds, `pending` whether one is being made now. `lifetime` is what a
    cache may live unused, `waived` why none is wanted here, `is_ours` whether this session used it.
    """

    minimum: int | None
    name: str = ""
    expires: datetime | None = None
    refusal: str = ""
    pending: bool = False
    lifetime: timedelta = timedelta(hours=1)
    waived: str = ""
    is_ours: bool = False

    def is_live(self, now: datetime) -> bool:
        return bool(self.name) and self.expires is not None and self.expires > now + EXPIRY_MARGIN


@dataclass(frozen=True, slots=True)
class CachePlan:
    """What to do about the cache for one exchange.

    `hit`: send the name instead of the static layer. `extend`: the same, and prolong it after the
    answer. `create`: send it inline and make a cache after the answer. `miss`: send inline, a cache is
    on its way. `drop`: send inline; the session leaves the cache, which is
    deleted when no other uses it. `none`: no cache for this layer.
    """

    action: Literal["none", "hit", "miss", "create", "extend", "drop"]
    name: str
    reason: str
    code: VerdictCode = VerdictCode.UNKNOWN

    @property
    def is_hit(self) -> bool:
        """Whether the request names a cache."""
        return bool(self.name)


def fingerprint(route: str, model: str, static_text: str, declarations: bytes) -> str:
    """sha256 hex over everything a cache depends on; the lengths keep the fields apart."""
    digest = sha256()
    for field in (route.encode(), model.encode(), static_text.encode(), declarations):
        digest.update(b"%d:" % len(field))
        digest.update(field)
    return digest.hexdigest()


def plan(static_tokens: int, facts: CacheFacts, now: datetime) -> CachePlan:
    """Decide for one exchange. `static_tokens` counts the static text and the tools."""
    if facts.minimum is None:
        return CachePlan(
            "none", "", "There are no explicit caches for this model here.", VerdictCode.UNSUPPORTED
        )
    if facts.waived:
        is_left = facts.is_ours and facts.is_live(now)
        return CachePlan("drop" if is_left else "none", "", facts.waived)
    if facts.is_live(now):
        return _plan_use(facts, now)
    if facts.refusal:
        reason = f"The provider refused a cache: {facts.refusal}"
        return CachePlan("none", "", reason, VerdictCode.UNSUPPORTED)
    if static_tokens < facts.minimum:
        reason = f"The static layer has about {static_tokens} tokens; a cache needs {facts.minimum}."
        return CachePlan("none", "", reason, VerdictCode.BELOW_MINIMUM)
    return _plan_new(facts)


def pause_after(failures: int) -> timedelta:
    """How long a provider is left alone after `failures` refusals in a row."""
    return min(LONGEST_PAUSE, FIRST_PAUSE * (1 << min(max(failures - 1, 0), 16)))


def minimum_in(message: str) -> int | None:
    """The tokens that a refusal demands (“min_total_token_count=1024”), None when it names none."""
    found = _MINIMUM.search(message)
    return int(found[1] or found[2]) if found else None


def display_name(deployment: str, fingerprint: str) -> str:
    """What a cache is called at the provider, so that everybody knows whose it is."""
    return f"pipeweb/{deployment}/{fingerprint[:16]}"


def _plan_use(facts: CacheFacts, now: datetime) -> CachePlan:
    left = (facts.expires or now) - now
    if left < facts.lifetime / 2:
        minutes = max(1, round(left.total_seconds() / 60))
        reason = f"The static layer and the tools are cached for {minutes} more min; prolonged after this."
        return CachePlan("extend", facts.name, reason, VerdictCode.HIT)
    return CachePlan("hit", facts.name, "The static layer and the tools are cached.", VerdictCode.HIT)


def _plan_new(facts: CacheFacts) -> CachePlan:
    if facts.pending:
        return CachePlan("miss", "", "The cache for this static layer is being made.", VerdictCode.FIRST)
    if facts.name:
        reason = "The cache has expired; it is made again after this answer."
        return CachePlan("create", "", reason, VerdictCode.CACHE_EXPIRED)
    reason = "This static layer is new; it is cached after this answer."
    return CachePlan("create", "", reason, VerdictCode.FIRST)
