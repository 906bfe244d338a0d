"""Whether an exchange hit a cache, and why, as codes and figures.

Two facts stay apart (ux-peers §6.5): whether our bytes changed, which is known exactly, and whether
the provider reused them, which is its count. A miss on unchanged bytes is never attributed to the prompt.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Literal, NamedTuple, Self

from sessions_app.prompt.caching import CachePlan, VerdictCode
from sessions_app.prompt.payload import TOOLS_SOURCE
from sessions_app.prompt.prefix_diff import BreakKind, BreakLine
from sessions_app.prompt.reply import Usage
from sessions_app.prompt.stored import Code, from_json, to_json

IMPLICIT_LIFE = timedelta(minutes=5)
"""After this, time explains a miss; the provider documents only “a short interval” (gemini-wire §7)."""

WHOLE_SHARE = 0.9
"""Share of an unchanged prefix that counts as all of it: the provider caches in blocks."""


class VerdictReason(Code):
    """Why a verdict has its code: several reasons may lead to one code (`CODES`)."""

    CACHE_GONE = "cache_gone"
    NO_USAGE = "no_usage"
    NOT_ANSWERED = "not_answered"
    CUT_OFF = "cut_off"
    NAMED = "named"
    WHOLE_PREFIX = "whole_prefix"
    PART_OF_PREFIX = "part_of_prefix"
    ANOTHERS_PREFIX = "anothers_prefix"
    NAMED_NOT_COUNTED = "named_not_counted"
    NOTHING_BEFORE = "nothing_before"
    NEVER_CACHES = "never_caches"
    TOO_SHORT = "too_short"
    EARLIER_TOO_SHORT = "earlier_too_short"
    OTHER_MODEL = "other_model"
    OTHER_SETTINGS = "other_settings"
    OTHER_TOOLS = "other_tools"
    HISTORY_REWRITTEN = "history_rewritten"
    LAYER_CHANGED = "layer_changed"
    SERVED_BY_ANOTHER = "served_by_another"
    TIME_PASSED = "time_passed"
    CONTINUED = "continued"
    UNEXPLAINED = "unexplained"
    UNKNOWN = "unknown"


CODES = {
    VerdictReason.CACHE_GONE: VerdictCode.CACHE_EXPIRED,
    VerdictReason.NO_USAGE: VerdictCode.UNKNOWN,
    VerdictReason.NOT_ANSWERED: VerdictCode.UNKNOWN,
    VerdictReason.CUT_OFF: VerdictCode.UNKNOWN,
    VerdictReason.NAMED: VerdictCode.HIT,
    VerdictReason.WHOLE_PREFIX: VerdictCode.HIT,
    VerdictReason.PART_OF_PREFIX: VerdictCode.PARTIAL,
    VerdictReason.ANOTHERS_PREFIX: VerdictCode.PARTIAL,
    VerdictReason.NAMED_NOT_COUNTED: VerdictCode.PROVIDER_MISS,
    VerdictReason.NOTHING_BEFORE: VerdictCode.FIRST,
    VerdictReason.NEVER_CACHES: VerdictCode.UNSUPPORTED,
    VerdictReason.TOO_SHORT: VerdictCode.BELOW_MINIMUM,
    VerdictReason.EARLIER_TOO_SHORT: VerdictCode.BELOW_MINIMUM,
    VerdictReason.OTHER_MODEL: VerdictCode.MODEL_CHANGED,
    VerdictReason.OTHER_SETTINGS: VerdictCode.CONFIG_CHANGED,
    VerdictReason.OTHER_TOOLS: VerdictCode.CONFIG_CHANGED,
    VerdictReason.HISTORY_REWRITTEN: VerdictCode.SHORTENED,
    VerdictReason.LAYER_CHANGED: VerdictCode.LAYER_CHANGED,
    VerdictReason.SERVED_BY_ANOTHER: VerdictCode.MODEL_CHANGED,
    VerdictReason.TIME_PASSED: VerdictCode.TTL_LIKELY,
    VerdictReason.CONTINUED: VerdictCode.CONTINUED,
    VerdictReason.UNEXPLAINED: VerdictCode.PROVIDER_MISS,
    VerdictReason.UNKNOWN: VerdictCode.UNKNOWN,
}

Tone = Literal["good", "warn", "accent"]
"""Good: something was reused. Warn: a reusable prefix was not reused. Accent: neither."""


class Meaning(NamedTuple):
    """Properties of a verdict. `tells_reuse`: the prefix was unchanged and recent, so the provider's count
    shows how much it reuses.
    """

    tone: Tone
    tells_reuse: bool = False


MEANINGS = {
    VerdictCode.FIRST: Meaning("accent"),
    VerdictCode.HIT: Meaning("good", tells_reuse=True),
    VerdictCode.PARTIAL: Meaning("good", tells_reuse=True),
    VerdictCode.MODEL_CHANGED: Meaning("warn"),
    VerdictCode.CONFIG_CHANGED: Meaning("warn"),
    VerdictCode.LAYER_CHANGED: Meaning("warn"),
    VerdictCode.SHORTENED: Meaning("warn"),
    VerdictCode.TTL_LIKELY: Meaning("accent"),
    VerdictCode.CONTINUED: Meaning("accent"),
    VerdictCode.BELOW_MINIMUM: Meaning("accent"),
    VerdictCode.UNSUPPORTED: Meaning("accent"),
    VerdictCode.CACHE_EXPIRED: Meaning("warn"),
    VerdictCode.PROVIDER_MISS: Meaning("warn", tells_reuse=True),
    VerdictCode.UNKNOWN: Meaning("accent"),
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """This request beside the one before it on its branch, which has `number`. Tokens are estimates,
    `was_prompt` is the provider's count for the earlier one; `idle_seconds` is the time between the
    earlier answer and this request. `same_model`: we asked for the same model; `same_served`: as far as the
    answers say, one model served both.
    """

    number: int
    prefix_tokens: int
    tokens: int
    was_prompt: int | None
    idle_seconds: float
    same_model: bool = True
    same_served: bool = True
    same_config: bool = True
    broken: BreakLine | None = None

    def scaled(self, prompt: int) -> int:
        """The unchanged prefix in the provider's tokens, assuming equal shares."""
        return round(self.prefix_tokens * prompt / self.tokens) if self.tokens else 0


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an exchange hit a cache, and why.

    `seen` is None for the first request of a branch. `cached` and `prompt` are the provider's counts,
    None without usage; `minimum` is the shortest prefix in tokens that the model caches implicitly, 0
    when unknown.
    """

    reason: VerdictReason
    seen: Comparison | None = None
    cached: int | None = None
    prompt: int | None = None
    minimum: int = 0

    @property
    def code(self) -> VerdictCode:
        return CODES[self.reason]

    def stored(self) -> dict[str, Any]:
        """As JSON, without the break line, which has a column of its own."""
        seen = replace(self.seen, broken=None) if self.seen else None
        return to_json(replace(self, seen=seen))

    @classmethod
    def restored(cls, stored: Mapping[str, Any], broken: BreakLine | None) -> Self | None:
        """What `stored` wrote, with the break line; None for an exchange without figures."""
        found = from_json(cls, stored)
        if found is None or found.seen is None:
            return found
        return replace(found, seen=replace(found.seen, broken=broken))


def verdict_of(
    plan: CachePlan,
    usage: Usage,
    seen: Comparison | None = None,
    *,
    minimum: int | None = 0,
    continues: bool = False,
) -> Verdict:
    """The verdict from the plan, the provider's count and the comparison with the request before.

    `seen` is None for the first request of a branch. `minimum` is the shortest prefix in tokens that the
    model caches implicitly, None when it is not known to do so. `continues`: the request went on with an
    answer, for which the provider keeps more than a prefix.
    """
    if not usage.raw:
        return Verdict(VerdictReason.NO_USAGE)
    if usage.cached:
        reason = _hit(plan, usage, seen)
    elif continues and not plan.is_hit:
        reason = VerdictReason.CONTINUED
    else:
        reason = _miss(plan, usage, seen, minimum)
    return Verdict(reason, seen, usage.cached, usage.prompt, minimum or 0)


def _hit(plan: CachePlan, usage: Usage, seen: Comparison | None) -> VerdictReason:
    if plan.is_hit:
        return VerdictReason.NAMED
    if seen is None:
        return VerdictReason.ANOTHERS_PREFIX
    if seen.broken is None and usage.cached >= WHOLE_SHARE * seen.scaled(usage.prompt):
        return VerdictReason.WHOLE_PREFIX
    return VerdictReason.PART_OF_PREFIX


def _miss(plan: CachePlan, usage: Usage, seen: Comparison | None, minimum: int | None) -> VerdictReason:
    if plan.is_hit:
        return VerdictReason.NAMED_NOT_COUNTED
    if seen is None:
        return VerdictReason.NOTHING_BEFORE
    if minimum is None:
        return VerdictReason.NEVER_CACHES
    if usage.prompt < minimum:
        return VerdictReason.TOO_SHORT
    return _own_change(usage, seen, minimum) or _other_cause(seen, minimum)


def _own_change(usage: Usage, seen: Comparison, minimum: int) -> VerdictReason | None:
    """The change of ours that explains a miss; None when the unchanged prefix was long enough for a hit."""
    if not seen.same_model:
        return VerdictReason.OTHER_MODEL
    broken = seen.broken
    if broken is None:
        return None if seen.same_config else VerdictReason.OTHER_SETTINGS
    if seen.scaled(usage.prompt) >= minimum:
        return None
    if broken.source == TOOLS_SOURCE:
        return VerdictReason.OTHER_TOOLS
    if broken.kind is not BreakKind.CHANGED and broken.source.startswith("turn:"):
        return VerdictReason.HISTORY_REWRITTEN
    return VerdictReason.LAYER_CHANGED


def _other_cause(seen: Comparison, minimum: int) -> VerdictReason:
    if seen.was_prompt is not None and seen.was_prompt < minimum:
        return VerdictReason.EARLIER_TOO_SHORT
    if not seen.same_served:
        return VerdictReason.SERVED_BY_ANOTHER
    if seen.idle_seconds > IMPLICIT_LIFE.total_seconds():
        return VerdictReason.TIME_PASSED
    return VerdictReason.UNEXPLAINED
