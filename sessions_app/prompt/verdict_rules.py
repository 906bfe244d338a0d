"""The verdict of an exchange, from what happened between it and the one before it on its branch.

What we did comes first, then the clock; the provider is named only where neither explains a miss.
"""

from datetime import timedelta

from sessions_app.prompt.cache_life import CacheFate, FateKind
from sessions_app.prompt.caching import CachePlan
from sessions_app.prompt.payload import TOOLS_SOURCE
from sessions_app.prompt.prefix_diff import BreakKind, BreakLine
from sessions_app.prompt.reply import Usage
from sessions_app.prompt.static_change import StaticChange
from sessions_app.prompt.verdict import Comparison, Verdict, VerdictReason

IMPLICIT_LIFE = timedelta(minutes=5)
"""After this, time explains a miss; the provider documents only “a short interval” (gemini-wire §7)."""

WHOLE_SHARE = 0.9
"""Share of an unchanged prefix that counts as all of it: the provider caches in blocks."""


def verdict_of(
    plan: CachePlan,
    usage: Usage,
    seen: Comparison | None = None,
    *,
    minimum: int | None = 0,
    continues: bool = False,
    fate: CacheFate | None = None,
    is_purged: bool = False,
) -> Verdict:
    """The verdict from the plan, the provider's count and the comparison with the request before.

    `seen` is None for the first request of a branch. `minimum` is the shortest prefix in tokens that the
    model caches implicitly, None when it is not known to do so. `continues`: the request went on with an
    answer, for which the provider keeps more than a prefix. `fate` is what became of the explicit cache that
    this request might have named, None where none lived since the request before. `is_purged`: the bytes of
    that request are gone.
    """
    if not usage.is_counted:
        return Verdict(VerdictReason.NO_USAGE)
    if is_purged:
        return Verdict(VerdictReason.NOT_COMPARED, None, usage.cached, usage.prompt, minimum or 0)
    if plan.is_hit:
        fate = None
    if usage.cached:
        reason = _hit(plan, usage, seen)
    elif continues and not plan.is_hit:
        reason = VerdictReason.CONTINUED
    else:
        reason = _miss(plan, usage, seen, minimum, fate)
    return Verdict(reason, seen, usage.cached, usage.prompt, minimum or 0, fate)


def asked_again(
    verdict: Verdict, plan: CachePlan, usage: Usage, again: Comparison, fate: CacheFate | None
) -> Verdict:
    """The verdict of a request before which another model was asked, or that took a change back.

    `again` is an earlier one that asked the same model. Where that one had the same beginning, what happened
    since it ended explains the miss, and not what lies between.
    """
    is_held = fate is not None and fate.kind is not FateKind.OTHER_BYTES
    if is_held or 0 < verdict.minimum <= _surely_unchanged(again, usage):
        reason = _miss(plan, usage, again, verdict.minimum, fate)
    elif 0 < verdict.minimum <= _perhaps_unchanged(again, usage):
        reason = VerdictReason.NEAR_MINIMUM
    else:
        return verdict
    return Verdict(reason, verdict.seen, usage.cached, usage.prompt, verdict.minimum, fate, again)


def lost_by(fate: CacheFate | None) -> Verdict:
    """The verdict of a request whose named cache the provider no longer had."""
    known = fate is not None and fate.kind in (FateKind.EXPIRED, FateKind.DROPPED)
    return Verdict(_ended(fate) if fate and known else VerdictReason.CACHE_GONE, fate=fate if known else None)


def _hit(plan: CachePlan, usage: Usage, seen: Comparison | None) -> VerdictReason:
    if plan.is_hit:
        return VerdictReason.NAMED
    if seen is None or not seen.same_model:
        # A cache belongs to one model: the request before cannot have left it.
        return VerdictReason.ANOTHERS_PREFIX
    if seen.broken is None and usage.cached >= WHOLE_SHARE * seen.scaled(usage.prompt):
        return VerdictReason.WHOLE_PREFIX
    if usage.cached > _perhaps_unchanged(seen, usage):
        return VerdictReason.ANOTHERS_PREFIX
    return VerdictReason.PART_OF_PREFIX


def _miss(
    plan: CachePlan, usage: Usage, seen: Comparison | None, minimum: int | None, fate: CacheFate | None
) -> VerdictReason:
    if plan.is_hit:
        return VerdictReason.NAMED_NOT_COUNTED
    if seen is None:
        return VerdictReason.NOTHING_BEFORE
    if fate is not None:
        return _without_cache(seen, fate)
    if minimum is None:
        return VerdictReason.NEVER_CACHES
    if usage.prompt < minimum:
        return VerdictReason.TOO_SHORT
    return _own_change(usage, seen, minimum) or _other_cause(usage, seen, minimum)


def _without_cache(seen: Comparison, fate: CacheFate) -> VerdictReason:
    """Why a request did not name a cache, though there had been one: no minimum of the provider's explains
    that, as its own caches do not hold what was sent beside a name.
    """
    if fate.kind is not FateKind.OTHER_BYTES:
        return _ended(fate)
    if not seen.same_model:
        return VerdictReason.OTHER_MODEL
    return _OTHER_STATIC[seen.static]


def _ended(fate: CacheFate) -> VerdictReason:
    """The cache was of this very static layer, so that none is new, whatever made us let go of it."""
    return _ENDED.get(fate.kind, VerdictReason.NOT_RECORDED)


_ENDED = {
    FateKind.EXPIRED: VerdictReason.RAN_OUT,
    FateKind.GONE: VerdictReason.CACHE_LOST,
    FateKind.DROPPED: VerdictReason.DROPPED,
    FateKind.UNUSED: VerdictReason.DROPPED,
}

_OTHER_STATIC = {
    StaticChange.SAME: VerdictReason.OTHER_ROUTE,
    StaticChange.TOOLS: VerdictReason.OTHER_TOOLS,
    StaticChange.TEXT: VerdictReason.LAYER_CHANGED,
    StaticChange.ROLLED_OVER: VerdictReason.ROLLED_OVER,
    StaticChange.OTHER_HISTORY: VerdictReason.HISTORY_REWRITTEN,
    StaticChange.UNKNOWN: VerdictReason.NOT_RECORDED,
}


def _own_change(usage: Usage, seen: Comparison, minimum: int) -> VerdictReason | None:
    """The change of ours that explains a miss; None when the unchanged prefix was long enough for a hit."""
    if not seen.same_model:
        return VerdictReason.OTHER_MODEL
    broken = seen.broken
    if broken is None or _surely_unchanged(seen, usage) >= minimum:
        return None if seen.same_config else VerdictReason.OTHER_SETTINGS
    if _perhaps_unchanged(seen, usage) >= minimum:
        return VerdictReason.NEAR_MINIMUM
    return _changed(seen.static, broken)


def _changed(static: StaticChange, broken: BreakLine) -> VerdictReason:
    if static not in (StaticChange.SAME, StaticChange.UNKNOWN):
        return _OTHER_STATIC[static]
    if broken.source == TOOLS_SOURCE:
        return VerdictReason.OTHER_TOOLS
    is_in_place = broken.kind in (BreakKind.CHANGED, BreakKind.SIGNED_OTHERWISE)
    if not is_in_place and broken.source.startswith("turn:"):
        return VerdictReason.HISTORY_REWRITTEN
    return VerdictReason.LAYER_CHANGED


def _surely_unchanged(seen: Comparison, usage: Usage) -> float:
    """Tokens of the unchanged prefix, without what the provider may count otherwise."""
    return usage.prompt if _is_whole(seen) else WHOLE_SHARE * seen.scaled(usage.prompt)


def _perhaps_unchanged(seen: Comparison, usage: Usage) -> float:
    """Tokens of the unchanged prefix, with what the provider may count otherwise."""
    return seen.scaled(usage.prompt) / WHOLE_SHARE


def _is_whole(seen: Comparison) -> bool:
    """Whether the unchanged prefix is the whole request, whose tokens the provider has counted."""
    return seen.prefix_tokens >= seen.tokens


def _other_cause(usage: Usage, seen: Comparison, minimum: int) -> VerdictReason:
    if seen.was_prompt is not None and seen.was_prompt < minimum:
        return VerdictReason.EARLIER_TOO_SHORT
    if _is_perhaps_too_short(usage, seen, minimum):
        return VerdictReason.NEAR_MINIMUM
    if not seen.same_served:
        return VerdictReason.SERVED_BY_ANOTHER
    if seen.idle_seconds > IMPLICIT_LIFE.total_seconds():
        return VerdictReason.TIME_PASSED
    return VerdictReason.UNEXPLAINED


def _is_perhaps_too_short(usage: Usage, seen: Comparison, minimum: int) -> bool:
    """Whether the prefix, of which the provider has counted enough when it was a request of its own, may have
    fewer tokens within this one.
    """
    return WHOLE_SHARE * (seen.was_prompt or 0) < minimum and seen.scaled(usage.prompt) < minimum
