"""Which way of caching was chosen for a request, and why."""

from decimal import Decimal

from sessions_app.prompt.pricing import MILLION, dollars
from sessions_app.prompt.strategy import StrategyReason, StrategyRecord
from sessions_app.wording.sentences import earlier_version

MODES = {"explicit": "Explicit", "implicit": "Implicit"}

REASONS = {
    StrategyReason.NOT_OFFERED: "{mode}: there are no explicit caches for this model here.",
    StrategyReason.REFUSED: "{mode}: the provider refused a cache: {refusal}",
    StrategyReason.AS_SET: "{mode}, as set for this session.",
    StrategyReason.NO_DISCOUNT: "{mode}: cached tokens cost no less than new ones here, "
    "so that no cache of ours can pay.",
    StrategyReason.LONG_PAUSES: "{mode}: requests more than {minutes:.0f} min apart "
    "make keeping a cache dearer than none.",
    StrategyReason.PROVIDER_CHEAPER: "{mode}: {share} % of the last prompts came from the provider’s own "
    "cache, which is cheaper than an explicit one ({compared}).",
    StrategyReason.OURS_CHEAPER: "{mode}: only {share} % of the last prompts came from the provider’s own "
    "cache; a cache of ours is cheaper ({compared}).",
    StrategyReason.SHARE_UNKNOWN: "{mode}: how much the provider would cache of its own accord "
    "is not known here.",
    StrategyReason.UNKNOWN: "{mode}.",
}

COMPARED = {
    "priced": "{own} a request against {ours}",
    "useless": "{own} a request against no use",
    "unpriced": "by the usual ratio of prices",
}

ROLLS = {
    "seed": "History moves by four fixed thresholds, as set for this session.",
    "never": "Rolling history over would not pay here.",
    "first": "When history rolls over is decided once an answer has been counted.",
    "at": "History rolls over at {tail:,.0f} tokens.",
}


def sentence(record: StrategyRecord | None, earlier: str = "") -> str:
    """`earlier` is the sentence that stands in for figures in a row of an earlier version."""
    if record is None:
        return earlier_version(earlier)
    why = REASONS[record.reason].format(
        mode=MODES[record.mode],
        refusal=record.refusal,
        minutes=record.pause_minutes or 0,
        # Rounded down, so that 100 % means all; a share is a quotient, and so is a little less at times.
        share=int(100 * (record.share or 0) + 1e-6),
        compared=_compared(record),
    )
    return f"{why} {_rolls(record)}"


def _compared(record: StrategyRecord) -> str:
    if record.own_usd is None:
        return COMPARED["unpriced"]
    key = "useless" if record.ours_usd is None else "priced"
    return COMPARED[key].format(own=_usd(record.own_usd), ours=_usd(record.ours_usd or 0))


def _rolls(record: StrategyRecord) -> str:
    if record.policy == "seed" or record.tail is None:
        return ROLLS["seed" if record.policy == "seed" else "first" if record.is_first else "never"]
    return ROLLS["at"].format(tail=record.tail)


def _usd(per_million: float) -> str:
    return dollars(Decimal(per_million) / MILLION)
