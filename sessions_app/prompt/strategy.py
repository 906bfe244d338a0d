"""The cheapest way of caching for a session, and when its history rolls over."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from math import inf
from typing import Any, Literal, Self

from sessions_app.prompt.detach import SEED, Thresholds
from sessions_app.prompt.pricing import Rates
from sessions_app.prompt.rollover import (
    NEVER,
    Pace,
    explicit_cost,
    explicit_tail,
    implicit_cost,
    implicit_tail,
    lifetime,
    longest_pause,
    saving,
    thresholds_for,
)
from sessions_app.prompt.stored import Code, from_json, to_json

Mode = Literal["explicit", "implicit"]
Policy = Literal["adaptive", "seed"]

TYPICAL_RATES = Rates(Decimal(1), Decimal("0.1"), Decimal(6), Decimal(2))
"""For unknown prices: the ratios of most models (gemini-wire §8)."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What the choice depends on.

    `is_offered` is whether there are explicit caches, `refusal` the provider's current refusal. `mode` and
    `policy` are the user's settings; "auto" chooses by cost. `prefix` is the tokens of the static layer
    and the tools, None before the first answer, `prompt` those of the last prompt, `hit_share` its share
    from the implicit cache, None when unknown.
    """

    mode: Literal["auto", "explicit", "implicit"]
    policy: Policy
    rates: Rates | None
    pace: Pace
    prefix: int | None = None
    prompt: int = 0
    hit_share: float | None = None
    is_offered: bool = True
    refusal: str = ""


class StrategyReason(Code):
    """Why a mode was chosen."""

    NOT_OFFERED = "not_offered"
    REFUSED = "refused"
    AS_SET = "as_set"
    NO_DISCOUNT = "no_discount"
    LONG_PAUSES = "long_pauses"
    PROVIDER_CHEAPER = "provider_cheaper"
    OURS_CHEAPER = "ours_cheaper"
    SHARE_UNKNOWN = "share_unknown"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class StrategyRecord:
    """A mode, a policy, and the figures that led to them.

    `refusal` is the provider's message, `pause_minutes` the time between requests above which a cache
    costs more than none, `share` the implicit cache's share of the last prompts. `own_usd` and `ours_usd`
    are the cost of a request per million with the implicit and the explicit cache, None when the price is
    unknown or the cache never pays. `tail` is the tokens at which history rolls over, None for never, and
    while `is_first`: what a roll-over would cost is not known before an answer.
    """

    mode: Mode
    policy: Policy
    reason: StrategyReason
    refusal: str = ""
    pause_minutes: float | None = None
    share: float | None = None
    own_usd: float | None = None
    ours_usd: float | None = None
    tail: float | None = None
    is_first: bool = False

    def stored(self) -> dict[str, Any]:
        """As JSON, without the mode and the policy, which have columns of their own."""
        return to_json(self, exclude=("mode", "policy"))

    @classmethod
    def restored(cls, mode: str, policy: str, stored: Mapping[str, Any]) -> Self | None:
        """What `stored` wrote; None for an exchange without figures."""
        return from_json(cls, {**stored, "mode": mode, "policy": policy}) if stored else None


@dataclass(frozen=True, slots=True)
class Strategy:
    """The choice. History moves before the request by `before`, after the answer by `after`.

    With an explicit cache history moves after the answer: the request still names the old cache, and no
    prefix is sent inline because of a rollover.
    """

    record: StrategyRecord
    before: Thresholds
    after: Thresholds
    lifetime: timedelta


def choose_strategy(now: Situation) -> Strategy:
    """The mode and the policy for the next request."""
    rates = now.rates or TYPICAL_RATES
    record = _record(now, rates)
    is_explicit = record.mode == "explicit"
    tail = _tail(record.mode, rates, now)
    record = replace(record, tail=_finite(tail), is_first=is_explicit and now.prefix is None)
    life = timedelta(seconds=lifetime(rates, now.pace.hours))
    if now.policy == "seed":
        return Strategy(record, SEED, NEVER, life)
    if is_explicit:
        return Strategy(record, NEVER, thresholds_for(tail, stay=1), life)
    return Strategy(record, thresholds_for(tail, stay=3), NEVER, life)


def _tail(mode: Mode, rates: Rates, now: Situation) -> float:
    if mode == "implicit":
        return implicit_tail(now.pace)
    return inf if now.prefix is None else explicit_tail(rates, now.pace, now.prefix)


def _record(now: Situation, rates: Rates) -> StrategyRecord:
    """The mode with its reason, without the tail."""
    if not now.is_offered:
        return StrategyRecord("implicit", now.policy, StrategyReason.NOT_OFFERED)
    if now.refusal:
        return StrategyRecord("implicit", now.policy, StrategyReason.REFUSED, refusal=now.refusal)
    if now.mode != "auto":
        return StrategyRecord(now.mode, now.policy, StrategyReason.AS_SET)
    if saving(rates, now.pace.hours) <= 0:
        return _useless(now, rates)
    if now.hit_share is not None:
        return _cheaper(now, rates, now.hit_share)
    return StrategyRecord("explicit", now.policy, StrategyReason.SHARE_UNKNOWN)


def _useless(now: Situation, rates: Rates) -> StrategyRecord:
    """Without a discount no pause is short enough."""
    if rates.cached >= rates.input:
        return StrategyRecord("implicit", now.policy, StrategyReason.NO_DISCOUNT)
    minutes = longest_pause(rates) * 60
    return StrategyRecord("implicit", now.policy, StrategyReason.LONG_PAUSES, pause_minutes=minutes)


def _cheaper(now: Situation, rates: Rates, share: float) -> StrategyRecord:
    own = implicit_cost(rates, now.prompt, share)
    ours = explicit_cost(rates, now.pace, now.prefix or 0)
    is_own = own < ours
    return StrategyRecord(
        "implicit" if is_own else "explicit",
        now.policy,
        StrategyReason.PROVIDER_CHEAPER if is_own else StrategyReason.OURS_CHEAPER,
        share=share,
        own_usd=own if now.rates else None,
        ours_usd=_finite(ours) if now.rates else None,
    )


def _finite(number: float) -> float | None:
    return None if number == inf else number
