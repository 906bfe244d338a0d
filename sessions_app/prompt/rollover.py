"""When history rolls into the static layer, so that a whole conversation costs least.

Every request pays its cached prefix at the cached price and everything behind it, the tail, at the full
one. Rolling moves the tail into the prefix and buys that prefix again. `sessions_app/CACHING.md` derives
the formulas; the money is dollars, of which only the ratios matter here.
"""

from dataclasses import dataclass
from math import inf, sqrt

from sessions_app.prompt.detach import Thresholds
from sessions_app.prompt.pricing import Rates

UNKNOWN_STORAGE = 3.4
"""Storage of a token for an hour in input prices, where no price is known: above every known model's."""

SHORTEST, LONGEST = 300, 3_600
"""Seconds that a cache may be given to live."""

PATIENCE = 6
"""Mean pauses after which a session counts as left."""

BLOCK = 1_024
"""Tokens below which an implicit roll-over gains nothing: providers match prefixes in blocks."""

NEVER = Thresholds(chunk_messages=1, chunk_tokens=2**31, keep_messages=1, keep_tokens=0)
"""Nothing moves."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How a session goes on, per request.

    `growth` is tokens of new history, `hours` the time between two requests, `dynamic` tokens of the
    dynamic layer, `churn` the share of requests before which that layer changed, `ahead` how many
    requests may still come.
    """

    growth: float
    hours: float
    dynamic: float
    churn: float
    ahead: float


def storage_of(rates: Rates) -> float:
    """Dollars per million tokens and hour, assumed where the price is unknown."""
    return UNKNOWN_STORAGE * float(rates.input) if rates.storage is None else float(rates.storage)


def saving(rates: Rates, hours: float) -> float:
    """What a cached token saves per request, after its storage since the last one."""
    return float(rates.input) - float(rates.cached) - storage_of(rates) * hours


def longest_pause(rates: Rates) -> float:
    """Hours between two requests from which on storing a prefix costs more than sending it."""
    discount, storage = float(rates.input) - float(rates.cached), storage_of(rates)
    return discount / storage if storage else inf


def longest_life(rates: Rates) -> int:
    """Seconds after which keeping an unused cache has cost what making it again would.

    Whoever stops there never pays more than twice the best, whatever comes (ski rental).
    """
    storage = storage_of(rates)
    seconds = 3_600 * float(rates.input) / storage if storage else LONGEST
    return round(min(max(seconds, SHORTEST), LONGEST))


def lifetime(rates: Rates, hours: float) -> int:
    """Seconds that a cache may live unused where requests come every `hours`.

    Who writes every minute and is silent for PATIENCE times as long has probably left.
    """
    return round(min(max(3_600 * hours * PATIENCE, SHORTEST), longest_life(rates)))


def explicit_tail(rates: Rates, pace: Pace, prefix: float) -> float:
    """k*: the tokens of tail at which buying the prefix again is cheapest; inf when it never pays.

    `prefix` is the tokens that a cache holds now. The larger of two bounds: the square root that
    minimises the running cost, and the tail below which what is still to come would not earn the
    purchase back.
    """
    saved = saving(rates, pace.hours)
    if saved <= 0 or pace.ahead <= 0:
        return inf
    bought = float(rates.input) * prefix
    return max(sqrt(2 * pace.growth * bought / saved), bought / (saved * pace.ahead))


def implicit_tail(pace: Pace) -> float:
    """The same where the provider caches prefixes of its own accord; inf when rolling never pays.

    The prefix is extended for nothing. What a roll-over costs is the dynamic layer and, where that had
    not changed, the tail once more: both were in the provider's cache and now stand behind new bytes.
    """
    earned = pace.churn * pace.ahead - (1 - pace.churn)
    if earned <= 0:
        return inf
    return max(BLOCK, sqrt(2 * pace.growth * pace.dynamic / pace.churn), pace.dynamic / earned)


def rolling_at(tail: float, stay: int) -> Thresholds:
    """Rolls what makes at least `tail` tokens and leaves `stay` turns.

    The newest user text and what follows never leave. After an answer that is one complete exchange
    (`stay` 1); before one, three turns are the trigger and the exchange in front of it.
    """
    return NEVER if tail == inf else Thresholds(1, max(1, round(tail)), stay, 0)


def explicit_cost(rates: Rates, pace: Pace, prefix: float) -> float:
    """Dollars (per million) of a request with an explicit cache that rolls at k*; inf when it never pays."""
    tail = explicit_tail(rates, pace, prefix)
    if tail == inf:
        return inf
    held = prefix * (float(rates.cached) + storage_of(rates) * pace.hours)
    bought = prefix * pace.growth / tail if tail else 0.0
    return held + float(rates.input) * (pace.dynamic + tail / 2 + bought)


def implicit_cost(rates: Rates, prompt: float, hit_share: float) -> float:
    """Dollars (per million) of a request of `prompt` tokens of which the provider caches that share."""
    return prompt * (hit_share * float(rates.cached) + (1 - hit_share) * float(rates.input))
