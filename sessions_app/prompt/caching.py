"""The explicit cache: what identifies it, whether to use or make one, and what the provider did."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Literal

from sessions_app.prompt.reply import Usage

EXPIRY_MARGIN = timedelta(seconds=10)
"""A cache this close to its end may be gone when the request arrives."""


class VerdictCode(StrEnum):
    FIRST = "first"
    HIT = "hit"
    PARTIAL = "partial"
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
    said against one, `pending` whether one is being made now.
    """

    minimum: int | None
    name: str = ""
    expires: datetime | None = None
    refusal: str = ""
    pending: bool = False


@dataclass(frozen=True, slots=True)
class CachePlan:
    """What to do about the cache for one exchange.

    `hit`: send the name instead of the static layer. `create`: send it inline and make a cache
    after the answer. `miss`: send inline, a cache is on its way. `none`: no cache for this layer.
    """

    action: Literal["none", "hit", "miss", "create"]
    name: str
    reason: str
    code: VerdictCode = VerdictCode.UNKNOWN


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an exchange hit a cache, and why, in words for a person."""

    code: VerdictCode
    words: str


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
    if facts.name and facts.expires is not None and facts.expires > now + EXPIRY_MARGIN:
        return CachePlan("hit", facts.name, "The static layer and the tools are cached.", VerdictCode.HIT)
    if facts.refusal:
        reason = f"The provider refused a cache: {facts.refusal}"
        return CachePlan("none", "", reason, VerdictCode.UNSUPPORTED)
    if static_tokens < facts.minimum:
        reason = f"The static layer has about {static_tokens} tokens; a cache needs {facts.minimum}."
        return CachePlan("none", "", reason, VerdictCode.BELOW_MINIMUM)
    return _plan_new(facts)


def judge(decided: CachePlan, usage: Usage, *, cache_gone: bool = False) -> Verdict:
    """Say what happened, from the plan and the provider's count.

    `cache_gone` is whether the provider answered 403 for the planned name and the request was
    sent again inline.
    """
    if cache_gone:
        words = "The provider no longer had the cache; the static layer was sent again inline."
        return Verdict(VerdictCode.CACHE_EXPIRED, words)
    if not usage.raw:
        return Verdict(VerdictCode.UNKNOWN, "The provider reported no usage.")
    if decided.action == "hit":
        return _judge_hit(usage)
    if usage.cached:
        words = f"The provider reused {usage.cached} of {usage.prompt} tokens on its own. {decided.reason}"
        return Verdict(VerdictCode.PARTIAL, words)
    return Verdict(decided.code, decided.reason)


def _plan_new(facts: CacheFacts) -> CachePlan:
    if facts.pending:
        return CachePlan("miss", "", "The cache for this static layer is being made.", VerdictCode.FIRST)
    if facts.name:
        reason = "The cache has expired; it is made again after this answer."
        return CachePlan("create", "", reason, VerdictCode.CACHE_EXPIRED)
    reason = "This static layer is new; it is cached after this answer."
    return CachePlan("create", "", reason, VerdictCode.FIRST)


def _judge_hit(usage: Usage) -> Verdict:
    if not usage.cached:
        words = "The request named a cache, but the provider counted no cached token."
        return Verdict(VerdictCode.PROVIDER_MISS, words)
    return Verdict(VerdictCode.HIT, f"{usage.cached} of {usage.prompt} tokens came from the cache.")
