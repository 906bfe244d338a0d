"""The explicit cache: its fingerprint, and the plan to use or create one."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Self

from sessions_app.prompt.stored import Code, from_json, to_json

EXPIRY_MARGIN = timedelta(seconds=10)
"""A cache that expires sooner may be gone when the request arrives."""

FIRST_PAUSE, LONGEST_PAUSE = timedelta(minutes=10), timedelta(days=1)
"""After a refusal no cache is requested for this long; doubles with every refusal in a row."""

SIZE_PAUSE = timedelta(days=30)
"""The same for a text that is too small: its size stays, and providers seldom lower their minimum."""

_TOTAL = re.compile(r"(?<!min_)total_token_count=(\d{1,9})|content is of (\d{1,9}) tokens")
_MINIMUM = re.compile(r"min_total_token_count=(\d{1,9})|minimum token count\D{0,40}?(\d{1,9})")


class VerdictCode(Code):
    """Why an exchange hit or missed (design §5)."""

    FIRST = "first"
    HIT = "hit"
    PARTIAL = "partial"
    MODEL_CHANGED = "model_changed"
    CONFIG_CHANGED = "config_changed"
    LAYER_CHANGED = "layer_changed"
    SHORTENED = "shortened"
    TTL_LIKELY = "ttl_likely"
    CONTINUED = "continued"
    BELOW_MINIMUM = "below_minimum"
    UNSUPPORTED = "unsupported"
    CACHE_EXPIRED = "cache_expired"
    CACHE_LOST = "cache_lost"
    OUR_ROLLOVER = "our_rollover"
    OUR_DROP = "our_drop"
    PROVIDER_MISS = "provider_miss"
    UNKNOWN = "unknown"


class CacheAction(Code):
    """What one exchange does about the cache.

    `HIT`: its name is sent instead of the static layer. `EXTEND`: the same, and its life is extended
    after the answer. `CREATE`: the layer is sent inline and cached after the answer. `MISS`: it is sent
    inline, a cache is being created. `DROP`: it is sent inline; the session gives up its cache, which is
    deleted when no other session uses it. `NONE`: no cache for this layer.
    """

    NONE = "none"
    HIT = "hit"
    MISS = "miss"
    CREATE = "create"
    EXTEND = "extend"
    DROP = "drop"
    UNKNOWN = "unknown"


class PlanReason(Code):
    """Why a plan chose its action. `CLIENT`: the program that was captured did, for reasons of its own."""

    NOT_OFFERED = "not_offered"
    WAIVED = "waived"
    REFUSED = "refused"
    TOO_SMALL = "too_small"
    LIVE = "live"
    EXPIRING = "expiring"
    PENDING = "pending"
    DELETING = "deleting"
    EXPIRED = "expired"
    NEW = "new"
    AGAIN = "again"
    CLIENT = "client"
    UNKNOWN = "unknown"


class EntryReason(Code):
    """Why there is no cache at the provider any more; `PROVIDER`: it reported so. `REPLACED`: its session
    uses a cache of another text, other tools or another model. `CLIENT`: the captured program that had made
    it deleted it.
    """

    PROVIDER = "provider"
    ROLLED_ON = "rolled_on"
    REPLACED = "replaced"
    WAIVED = "waived"
    SESSION_DELETED = "session_deleted"
    SESSION_ERASED = "session_erased"
    SESSION_GONE = "session_gone"
    ADMIN = "admin"
    CLIENT = "client"
    NOT_LISTED = "not_listed"
    EXPIRED = "expired"
    EMULATOR_RESTARTED = "emulator_restarted"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class CacheFacts:
    """What is known about caching this static layer on this model.

    `minimum` is in tokens, None when the model or the way to it has no explicit caches. `name` and
    `expires` are those of the newest cache with this fingerprint, `refusal` is the provider's current
    refusal, `pending` whether one is being created. `calibration` is the provider's count of tokens
    divided by our estimate. `lifetime` is how long a cache may live unused, `is_waived` whether none is
    wanted, `is_ours` whether this session used it, `was_made` whether one was ever made of this layer.
    `entry` is the key of our row about a cache that lives. `is_dropped`: we have let go of that cache, and
    may keep it; `is_deleting`: it is about to be deleted, and no other can be made before.
    """

    minimum: int | None
    name: str = ""
    expires: datetime | None = None
    refusal: str = ""
    pending: bool = False
    calibration: float = 1.0
    lifetime: timedelta = timedelta(hours=1)
    is_waived: bool = False
    is_ours: bool = False
    was_made: bool = False
    entry: int | None = None
    is_dropped: bool = False
    is_deleting: bool = False

    def is_live(self, now: datetime) -> bool:
        return bool(self.name) and self.expires is not None and self.expires > now + EXPIRY_MARGIN


@dataclass(frozen=True, slots=True)
class CachePlan:
    """What one exchange does about the cache, and the figures of the reason.

    `name` is the cache that the request names, or empty. `tokens` counts the static text and the tools,
    `minimum` is what a cache needs (0 if there are none), `seconds_left` the remaining life of a cache
    that expires soon, `refusal` the provider's message. `is_kept`: we had let go of the cache that is named.
    """

    action: CacheAction
    name: str
    reason: PlanReason
    tokens: int = 0
    minimum: int = 0
    seconds_left: float = 0
    refusal: str = ""
    is_kept: bool = False

    @property
    def is_hit(self) -> bool:
        """Whether the request names a cache."""
        return bool(self.name)

    def stored(self) -> dict[str, Any]:
        """As JSON, without the action and the name, which have columns of their own."""
        return to_json(self, exclude=("action", "name"))

    @classmethod
    def restored(cls, action: str, name: str, stored: Mapping[str, Any]) -> Self | None:
        """What `stored` wrote; None for an exchange without figures."""
        return from_json(cls, {**stored, "action": action, "name": name}) if stored else None


def fingerprint(route: str, model: str, static_text: str, declarations: bytes) -> str:
    """sha256 hex over everything a cache depends on, each field with its length."""
    digest = sha256()
    for field in (route.encode(), model.encode(), static_text.encode(), declarations):
        digest.update(b"%d:" % len(field))
        digest.update(field)
    return digest.hexdigest()


def plan_cache(static_tokens: int, facts: CacheFacts, now: datetime) -> CachePlan:
    """The plan for one exchange. `static_tokens` counts the static text and the tools."""
    tokens = round(static_tokens * facts.calibration)
    plan = _decide(tokens, facts, now)
    return replace(plan, tokens=tokens, minimum=facts.minimum or 0)


def pause_after(failures: int) -> timedelta:
    """How long no cache is requested after `failures` refusals in a row."""
    return min(LONGEST_PAUSE, FIRST_PAUSE * (1 << min(max(failures - 1, 0), 16)))


def minimum_in(message: str) -> int | None:
    """The minimum tokens in a refusal (“min_total_token_count=1024”), or None."""
    return _number(_MINIMUM.search(message))


def total_in(message: str) -> int | None:
    """The provider's count of the text in a refusal (“total_token_count=918”), or None."""
    return _number(_TOTAL.search(message))


def _number(found: re.Match[str] | None) -> int | None:
    return int(found[1] or found[2]) if found else None


def display_name(deployment: str, fingerprint: str) -> str:
    """The display name of a cache at the provider: deployment and fingerprint."""
    return f"pipeweb/{deployment}/{fingerprint[:16]}"


def _decide(static_tokens: int, facts: CacheFacts, now: datetime) -> CachePlan:
    if facts.minimum is None:
        return CachePlan(CacheAction.NONE, "", PlanReason.NOT_OFFERED)
    if facts.is_waived:
        is_left = facts.is_ours and facts.is_live(now) and not facts.is_dropped
        return CachePlan(CacheAction.DROP if is_left else CacheAction.NONE, "", PlanReason.WAIVED)
    if facts.is_live(now):
        return _plan_use(facts, now)
    if facts.refusal:
        return CachePlan(CacheAction.NONE, "", PlanReason.REFUSED, refusal=facts.refusal)
    if static_tokens < facts.minimum:
        return CachePlan(CacheAction.NONE, "", PlanReason.TOO_SMALL)
    return _plan_new(facts, now)


def _plan_use(facts: CacheFacts, now: datetime) -> CachePlan:
    left = (facts.expires or now) - now
    kept = facts.is_dropped
    if left >= facts.lifetime / 2:
        return CachePlan(CacheAction.HIT, facts.name, PlanReason.LIVE, is_kept=kept)
    seconds = round(left.total_seconds(), 3)
    return CachePlan(CacheAction.EXTEND, facts.name, PlanReason.EXPIRING, seconds_left=seconds, is_kept=kept)


def _plan_new(facts: CacheFacts, now: datetime) -> CachePlan:
    if facts.pending:
        return CachePlan(CacheAction.MISS, "", PlanReason.PENDING)
    if facts.is_deleting:
        return CachePlan(CacheAction.MISS, "", PlanReason.DELETING)
    if not (facts.was_made or facts.name):
        return CachePlan(CacheAction.CREATE, "", PlanReason.NEW)
    has_expired = facts.expires is not None and facts.expires <= now + EXPIRY_MARGIN
    return CachePlan(CacheAction.CREATE, "", PlanReason.EXPIRED if has_expired else PlanReason.AGAIN)
