"""Whether an exchange hit a cache, and why."""

from typing import NamedTuple

from sessions_app.prompt.cache_life import CacheFate, FateKind
from sessions_app.prompt.caching import CacheAction, CachePlan, VerdictCode
from sessions_app.prompt.static_change import RolledHistory, StaticChange
from sessions_app.prompt.verdict import Comparison, Verdict, VerdictReason
from sessions_app.wording import cache_plans
from sessions_app.wording.break_lines import change, place
from sessions_app.wording.sentences import earlier_version

LABELS = {
    VerdictCode.FIRST: "first",
    VerdictCode.HIT: "hit",
    VerdictCode.PARTIAL: "partial",
    VerdictCode.MODEL_CHANGED: "model or key changed",
    VerdictCode.CONFIG_CHANGED: "config changed",
    VerdictCode.LAYER_CHANGED: "layer changed",
    VerdictCode.SHORTENED: "shortened",
    VerdictCode.TTL_LIKELY: "ttl likely",
    VerdictCode.CONTINUED: "continued",
    VerdictCode.BELOW_MINIMUM: "below minimum",
    VerdictCode.UNSUPPORTED: "unsupported",
    VerdictCode.CACHE_EXPIRED: "cache expired",
    VerdictCode.CACHE_LOST: "cache lost",
    VerdictCode.OUR_ROLLOVER: "rolled over",
    VerdictCode.OUR_DROP: "cache dropped",
    VerdictCode.PROVIDER_MISS: "provider miss",
    VerdictCode.UNKNOWN: "unknown",
}
"""The code in the inspector."""

BADGES = {
    VerdictCode.FIRST: "first request",
    VerdictCode.HIT: "cache hit",
    VerdictCode.PARTIAL: "partly cached",
    VerdictCode.MODEL_CHANGED: "not cached",
    VerdictCode.CONFIG_CHANGED: "not cached",
    VerdictCode.LAYER_CHANGED: "not cached",
    VerdictCode.SHORTENED: "not cached",
    VerdictCode.TTL_LIKELY: "not cached",
    VerdictCode.CONTINUED: "",
    VerdictCode.BELOW_MINIMUM: "not cached",
    VerdictCode.UNSUPPORTED: "not cached",
    VerdictCode.CACHE_EXPIRED: "not cached",
    VerdictCode.CACHE_LOST: "not cached",
    VerdictCode.OUR_ROLLOVER: "not cached",
    VerdictCode.OUR_DROP: "not cached",
    VerdictCode.PROVIDER_MISS: "not cached",
    VerdictCode.UNKNOWN: "",
}
"""The code below an answer; the card gives the reason of a miss."""

OURS = {
    "nothing": "{sender}: nothing that the provider counted was sent before this on its branch.",
    "same": "{sender}: all that exchange {number} sent (about {prefix_tokens:,} tokens) "
    "stands first again{reader}.",
    "parted": "{sender}: the first {prefix_tokens:,} tokens (about) are those of exchange {number}; "
    "they part at {place}: {happened}{reader}.",
    "rolled": "{sender}: the first {prefix_tokens:,} tokens (about) are those of exchange {number}; "
    "then {happened}{reader}.",
}

SENDERS = {False: "Our bytes", True: "The program's bytes"}
"""Whose request it was: ours, or a captured program's."""

ROLLED = {
    "over": "history rolled over: {turns} became {chunks}",
    "turn": "turn {first}",
    "turns": "turns {first}–{last}",
    "chunk": "chunk {first}",
    "chunks": "chunks {first}–{last}",
}
"""What moved from the turns into the static layer."""

READERS = {
    "same": "",
    "other_settings": ", with other settings beside the prompt",
    "other_endpoint": ", but another key or address is used",
    "other_model": ", but another model is asked",
    "other_served": ", but another model answers",
}

COUNTED = {"count": "The provider: {cached:,} of {prompt:,} tokens cached."}

REASONS = {
    VerdictReason.CACHE_GONE: "The provider no longer had the cache; the static layer was sent again inline.",
    VerdictReason.NO_USAGE: "The provider reported no usage.",
    VerdictReason.NOT_ANSWERED: "No answer came to this request.",
    VerdictReason.UNREADABLE: "An answer came that could not be read.",
    VerdictReason.CUT_OFF: "The answer was not received to its end.",
    VerdictReason.NAMED: "The request named a cache.",
    VerdictReason.WHOLE_PREFIX: "It reused the whole unchanged prefix on its own.",
    VerdictReason.PART_OF_PREFIX: "It reused a part on its own.",
    VerdictReason.ANOTHERS_PREFIX: "It reused on its own what another request had begun with.",
    VerdictReason.NAMED_NOT_COUNTED: "The request named a cache, but no cached token was counted.",
    VerdictReason.NOTHING_BEFORE: "",
    VerdictReason.NEVER_CACHES: "This model is not known to cache anything.",
    VerdictReason.TOO_SHORT: "It keeps prefixes from {minimum:,} tokens on.",
    VerdictReason.EARLIER_TOO_SHORT: "Exchange {number} had {was_prompt:,} tokens; "
    "prefixes are kept from {minimum:,} on.",
    VerdictReason.OTHER_MODEL: "A cache belongs to one model.",
    VerdictReason.OTHER_SETTINGS: "",
    VerdictReason.OTHER_TOOLS: "Tools stand before everything else.",
    VerdictReason.HISTORY_REWRITTEN: "The history was edited, rewound or branched.",
    VerdictReason.LAYER_CHANGED: "The {layer} layer changed.",
    VerdictReason.SERVED_BY_ANOTHER: "The same model was asked for, but another one served exchange "
    "{number}; whether the two share a cache is not known.",
    VerdictReason.TIME_PASSED: "{minutes:,} minutes lay between them: it has probably forgotten.",
    VerdictReason.CONTINUED: "The request went on with the answer of exchange {number} by its token; "
    "what the provider keeps for that it does not count.",
    VerdictReason.RAN_OUT: "No request had kept it.",
    VerdictReason.CACHE_LOST: "The static layer was sent inline.",
    VerdictReason.DROPPED: "That was our doing.",
    VerdictReason.ROLLED_OVER: "The longer static layer was new to the provider: our doing.",
    VerdictReason.OTHER_ROUTE: "The bytes are the same, but the cache belongs to the model that was known to "
    "serve then.",
    VerdictReason.NOT_RECORDED: "What became of the cache that exchange {number} named is not recorded.",
    VerdictReason.NOT_COMPARED: "What the request before it had sent was purged by a rule of retention, so "
    "what changed since is not known.",
    VerdictReason.NEAR_MINIMUM: "What stayed the same is so near to the minimum of {minimum:,} tokens that "
    "it may have been too short to be kept; whether that or the provider explains the miss is not known.",
    VerdictReason.UNEXPLAINED: "An unchanged prefix, soon after, and still a miss: not our doing.",
    VerdictReason.UNKNOWN: "",
}

VARIANTS = {
    "nearly_whole": "It reused nearly all of the unchanged prefix on its own.",
    "other_endpoint": "A cache belongs to one key at one address.",
}
"""In place of `WHOLE_PREFIX` where less was counted, and of `OTHER_MODEL` at another endpoint."""

OF_PROGRAMS = REASONS | {
    VerdictReason.DROPPED: "That was the program's doing.",
    VerdictReason.UNEXPLAINED: "An unchanged prefix, soon after, and still a miss: not the program's doing.",
    VerdictReason.CACHE_GONE: "The provider had no cache of that name, or not for this key.",
    VerdictReason.CACHE_LOST: "The program sent all of the request itself.",
    VerdictReason.ROLLED_OVER: "The longer static layer was new to the provider: the program's doing.",
}
"""Reasons that name who sent the request, of captured ones."""

FATES = {
    FateKind.LIVES: "",
    FateKind.EXPIRED: "The cache of this static layer {expired}.",
    FateKind.DROPPED: "Pipeweb had let go of the cache of this static layer: {reason}",
    FateKind.GONE: "The provider no longer had the cache of this static layer, before its time.",
    FateKind.UNUSED: "Pipeweb did not name the cache of this static layer: {plan}",
    FateKind.OTHER_BYTES: "",
    FateKind.UNKNOWN: "",
}
"""What became of the explicit cache that a request might have named."""

FATES_OF_PROGRAMS = FATES | {
    FateKind.DROPPED: "The program had deleted the cache that it named before.",
    FateKind.UNUSED: "The program did not name the cache that it named before.",
    FateKind.EXPIRED: "The cache that the program named before {expired}.",
    FateKind.GONE: "The provider no longer had the cache that the program named before.",
}
"""The same, of caches that captured programs make."""

EXPIRIES = {
    "soon": "was about to run out",
    "seconds": "had run out seconds before",
    "minute": "had run out a minute before",
    "minutes": "had run out {minutes:,} minutes before",
}

AGAIN = {
    "asked": "Exchange {number} had asked the same model.",
    "began": "Exchange {number} had begun with about {tokens:,} tokens of these bytes.",
}


class TwoFacts(NamedTuple):
    """What our bytes did, and what the provider did and why; either may be empty."""

    ours: str
    theirs: str


def label(code: str) -> str:
    """The name of a stored code in the inspector; empty for none."""
    return LABELS[VerdictCode(code)] if code else ""


def badge(code: str) -> str:
    """The code as a badge below an answer; empty while nothing is known."""
    return BADGES[VerdictCode(code)] if code else ""


def two_facts(verdict: Verdict | None, earlier: str = "", *, is_captured: bool = False) -> TwoFacts:
    """`earlier` is the sentence that stands in for figures in a row of an earlier version; `is_captured`: a
    program wrote the request.
    """
    if verdict is None:
        return TwoFacts("", earlier_version(earlier))
    is_compared = verdict.prompt is not None and verdict.reason is not VerdictReason.NOT_COMPARED
    ours = _ours(verdict.seen, is_captured) if is_compared else ""
    said = (_count(verdict), _again(verdict), _fate(verdict.fate, is_captured), _why(verdict, is_captured))
    return TwoFacts(ours, " ".join(filter(None, said)))


def sentence(verdict: Verdict | None, earlier: str = "", *, is_captured: bool = False) -> str:
    """Both facts as one text."""
    return " ".join(filter(None, two_facts(verdict, earlier, is_captured=is_captured)))


def _ours(seen: Comparison | None, is_captured: bool) -> str:
    sender = SENDERS[is_captured]
    if seen is None:
        return OURS["nothing"].format(sender=sender)
    figures = {
        "sender": sender,
        "number": seen.number,
        "prefix_tokens": seen.prefix_tokens,
        "reader": READERS[_reader(seen)],
        "place": place(seen.broken) if seen.broken else "",
        "happened": happened(seen),
    }
    case = "rolled" if seen.rolled else "parted" if seen.broken else "same"
    return OURS[case].format_map(figures)


def happened(seen: Comparison) -> str:
    """What changed since the request before; a roll-over is no edit of the template."""
    if seen.rolled:
        return rolled_over(seen.rolled)
    return change(seen.broken) if seen.broken else ""


def rolled_over(rolled: RolledHistory) -> str:
    """Which turns became which chunks."""
    ends = (("turn", rolled.first_turn, rolled.last_turn), ("chunk", rolled.first_chunk, rolled.last_chunk))
    turns, chunks = (
        ROLLED[name if first == last else f"{name}s"].format(first=first, last=last)
        for name, first, last in ends
    )
    return ROLLED["over"].format(turns=turns, chunks=chunks)


def _reader(seen: Comparison) -> str:
    if not seen.same_model:
        return "other_model" if seen.same_endpoint else "other_endpoint"
    if not seen.same_served:
        return "other_served"
    return "same" if seen.same_config else "other_settings"


def _count(verdict: Verdict) -> str:
    if verdict.prompt is None:
        return ""
    return COUNTED["count"].format(cached=verdict.cached or 0, prompt=verdict.prompt)


def _again(verdict: Verdict) -> str:
    again, seen = verdict.again, verdict.seen
    if again is None:
        return ""
    case = "began" if seen is not None and seen.same_model else "asked"
    return AGAIN[case].format(number=again.number, tokens=again.prefix_tokens)


def _fate(fate: CacheFate | None, is_captured: bool) -> str:
    if fate is None:
        return ""
    minutes = round(fate.seconds / 60)
    expiry = {0: "seconds", 1: "minute"}.get(minutes, "minutes") if fate.seconds >= 0 else "soon"
    plan = CachePlan(CacheAction.NONE, "", fate.plan) if fate.plan else None
    said = (FATES_OF_PROGRAMS if is_captured else FATES)[fate.kind]
    return said.format(
        expired=EXPIRIES[expiry].format(minutes=minutes),
        reason=cache_plans.entry_reason(fate.reason or "", ""),
        plan=cache_plans.reason(plan),
    )


def _why(verdict: Verdict, is_captured: bool) -> str:
    reason = VARIANTS.get(_variant(verdict)) or (OF_PROGRAMS if is_captured else REASONS)[verdict.reason]
    seen = verdict.again or verdict.seen
    is_static = seen is not None and seen.static is StaticChange.TEXT
    return reason.format(
        minimum=verdict.minimum,
        number=seen.number if seen else 0,
        was_prompt=(seen.was_prompt or 0) if seen else 0,
        minutes=round(seen.idle_seconds / 60) if seen else 0,
        layer="static" if is_static else seen.broken.layer if seen and seen.broken else "",
    )


def _variant(verdict: Verdict) -> str:
    """A key of `VARIANTS`, or empty. Thoughts that the request before had counted may be gone since."""
    seen = verdict.seen
    if seen is not None and verdict.reason is VerdictReason.OTHER_MODEL:
        return "" if seen.same_endpoint else "other_endpoint"
    if seen is None or verdict.reason is not VerdictReason.WHOLE_PREFIX:
        return ""
    unchanged = seen.scaled(verdict.prompt or 0)
    whole = min(seen.was_prompt or unchanged, unchanged)
    return "" if (verdict.cached or 0) >= whole else "nearly_whole"
