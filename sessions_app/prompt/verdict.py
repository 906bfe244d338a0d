"""Whether an exchange hit a cache, and why, as codes and figures; `verdict_rules` decides.

Two facts stay apart (ux-peers §6.5): whether our bytes changed, which is known exactly, and whether
the provider reused them, which is its count. A miss on unchanged bytes is never attributed to the prompt.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Self

from sessions_app.prompt.cache_life import CacheFate
from sessions_app.prompt.caching import VerdictCode
from sessions_app.prompt.prefix_diff import BreakLine
from sessions_app.prompt.static_change import RolledHistory, StaticChange
from sessions_app.prompt.stored import Code, from_json, to_json


class VerdictReason(Code):
    """Why a verdict has its code: several reasons may lead to one code (`CODES`).

    `CACHE_GONE`: the provider no longer had the cache that this request named; `CACHE_LOST`: the one of the
    request before. `RAN_OUT`, `DROPPED`, `ROLLED_OVER`: what became of our cache, or of our history.
    `OTHER_ROUTE`: equal bytes, but a cache of another route. `NOT_RECORDED`: what became of it is not known.
    `NOT_COMPARED`: the bytes of the request before were purged by a rule of retention.
    `NEAR_MINIMUM`: what stayed equal is so near to the minimum of tokens that it may be too short to be kept.
    """

    CACHE_GONE = "cache_gone"
    NO_USAGE = "no_usage"
    NOT_ANSWERED = "not_answered"
    UNREADABLE = "unreadable"
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
    RAN_OUT = "ran_out"
    CACHE_LOST = "cache_lost"
    DROPPED = "dropped"
    ROLLED_OVER = "rolled_over"
    OTHER_ROUTE = "other_route"
    NOT_RECORDED = "not_recorded"
    NOT_COMPARED = "not_compared"
    NEAR_MINIMUM = "near_minimum"
    UNEXPLAINED = "unexplained"
    UNKNOWN = "unknown"


CODES = {
    VerdictReason.CACHE_GONE: VerdictCode.CACHE_LOST,
    VerdictReason.NO_USAGE: VerdictCode.UNKNOWN,
    VerdictReason.NOT_ANSWERED: VerdictCode.UNKNOWN,
    VerdictReason.UNREADABLE: VerdictCode.UNKNOWN,
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
    VerdictReason.RAN_OUT: VerdictCode.CACHE_EXPIRED,
    VerdictReason.CACHE_LOST: VerdictCode.CACHE_LOST,
    VerdictReason.DROPPED: VerdictCode.OUR_DROP,
    VerdictReason.ROLLED_OVER: VerdictCode.OUR_ROLLOVER,
    VerdictReason.OTHER_ROUTE: VerdictCode.MODEL_CHANGED,
    VerdictReason.NOT_RECORDED: VerdictCode.UNKNOWN,
    VerdictReason.NOT_COMPARED: VerdictCode.UNKNOWN,
    VerdictReason.NEAR_MINIMUM: VerdictCode.UNKNOWN,
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
    VerdictCode.CACHE_LOST: Meaning("warn"),
    VerdictCode.OUR_ROLLOVER: Meaning("accent"),
    VerdictCode.OUR_DROP: Meaning("warn"),
    VerdictCode.PROVIDER_MISS: Meaning("warn", tells_reuse=True),
    VerdictCode.UNKNOWN: Meaning("accent"),
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """This request beside the one before it on its branch, which has `number`. Tokens are estimates,
    `was_prompt` is the provider's count for the earlier one; `idle_seconds` is the time between the
    earlier answer and this request. `same_model`: we asked the same model at the same endpoint;
    `same_endpoint`: at one address with one key; `same_served`: as far as the answers say, one model served
    both. `static` is what happened to the static layer and the tools, `rolled` what moved into it.
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
    static: StaticChange = StaticChange.SAME
    rolled: RolledHistory | None = None
    same_endpoint: bool = True

    def scaled(self, prompt: int) -> int:
        """The unchanged prefix in the provider's tokens, assuming equal shares."""
        return round(self.prefix_tokens * prompt / self.tokens) if self.tokens else 0


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an exchange hit a cache, and why.

    `seen` is None for the first request of a branch. `cached` and `prompt` are the provider's counts,
    None without usage; `minimum` is the shortest prefix in tokens that the model caches implicitly, 0
    when unknown. `fate` is what became of the explicit cache that this request might have named. `again` is
    an earlier exchange that explains more than `seen`: the newest that asked the same model, where that asked
    another, or the one with the longest equal beginning, where a change was taken back.
    """

    reason: VerdictReason
    seen: Comparison | None = None
    cached: int | None = None
    prompt: int | None = None
    minimum: int = 0
    fate: CacheFate | None = None
    again: Comparison | None = None

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
