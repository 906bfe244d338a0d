"""Which way of caching costs least for a session, and when its history rolls. Pure."""

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from math import inf
from typing import Literal

from sessions_app.prompt.detach import SEED, Thresholds
from sessions_app.prompt.pricing import Rates, dollars
from sessions_app.prompt.rollover import (
    NEVER,
    Pace,
    explicit_cost,
    explicit_tail,
    implicit_cost,
    implicit_tail,
    lifetime,
    longest_pause,
    rolling_at,
    saving,
)

Mode = Literal["explicit", "implicit"]

TYPICAL = Rates(Decimal(1), Decimal("0.1"), Decimal(6), Decimal(2))
"""Where no price is known: the ratios of most models (gemini-wire §8)."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What the choice depends on.

    `refusal` says why there are no explicit caches, empty where there are. `mode` and `policy` are the
    person's; "auto" leaves the mode to money. `prefix` is the tokens of the static layer and the tools,
    `prompt` those of the last prompt, `hit_share` the part of it that the provider's own cache gave,
    None when unknown.
    """

    refusal: str
    mode: Literal["auto", "explicit", "implicit"]
    policy: Literal["adaptive", "seed"]
    rates: Rates | None
    pace: Pace
    prefix: int = 0
    prompt: int = 0
    hit_share: float | None = None


@dataclass(frozen=True, slots=True)
class Strategy:
    """What was chosen. History moves before the request by `before`, after the answer by `after`.

    An explicit cache is bought while nobody waits, so its history moves after the answer: the request
    still names the old cache, and no prefix is ever sent inline because of a roll-over.
    """

    mode: Mode
    policy: Literal["adaptive", "seed"]
    before: Thresholds
    after: Thresholds
    lifetime: timedelta
    reason: str


def choose(now: Situation) -> Strategy:
    """The mode and the policy for the next request, with the reason in words."""
    rates = now.rates or TYPICAL
    mode, why = _mode(now, rates)
    tail = explicit_tail(rates, now.pace, now.prefix) if mode == "explicit" else implicit_tail(now.pace)
    lasting = timedelta(seconds=lifetime(rates, now.pace.hours))
    if now.policy == "seed":
        words = f"{why} History moves by seed 4’s four thresholds, as set for this session."
        return Strategy(mode, "seed", SEED, NEVER, lasting, words)
    words = f"{why} {_when(tail)}"
    if mode == "explicit":
        return Strategy(mode, "adaptive", NEVER, rolling_at(tail, stay=1), lasting, words)
    return Strategy(mode, "adaptive", rolling_at(tail, stay=3), NEVER, lasting, words)


def _mode(now: Situation, rates: Rates) -> tuple[Mode, str]:
    if now.refusal:
        return "implicit", f"Implicit: {now.refusal}"
    if now.mode != "auto":
        return now.mode, f"{now.mode.capitalize()}, as set for this session."
    if saving(rates, now.pace.hours) <= 0:
        pause = f"{longest_pause(rates) * 60:.0f} min"
        return (
            "implicit",
            f"Implicit: requests more than {pause} apart make keeping a cache dearer than none.",
        )
    if now.hit_share is not None:
        return _cheaper(now, rates, now.hit_share)
    return "explicit", "Explicit: how much the provider would cache of its own accord is not known here."


def _cheaper(now: Situation, rates: Rates, share: float) -> tuple[Mode, str]:
    own = implicit_cost(rates, now.prompt, share)
    ours = explicit_cost(rates, now.pace, now.prefix)
    compared = f"{_usd(own)} a request against {_usd(ours)}" if now.rates else "by the usual ratio of prices"
    came = f"{share:.0%} of the last prompts came from the provider’s own cache"
    if own < ours:
        return "implicit", f"Implicit: {came}, which is cheaper than an explicit one ({compared})."
    return "explicit", f"Explicit: only {came}; a cache of ours is cheaper ({compared})."


def _usd(per_million: float) -> str:
    return "no use" if per_million == inf else dollars(Decimal(per_million) / 1_000_000)


def _when(tail: float) -> str:
    if tail == inf:
        return "Rolling history over would not pay here."
    return f"History rolls over at {tail:,.0f} tokens."
