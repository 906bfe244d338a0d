"""When to move history into the static layer at the lowest cost, from the measured pace of a session.

Every request pays its cached prefix at the cached price and the rest, the tail, at the full price. A
rollover moves the tail into the prefix and pays for that prefix again. `sessions_app/CACHING.md` derives
the formulas. Money is in dollars; only the ratios matter.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from math import expm1, inf, sqrt
from statistics import fmean

from sessions_app.prompt.detach import Thresholds
from sessions_app.prompt.pricing import Rates

STORAGE_FACTOR = 3.4
"""Storage price per hour as a multiple of the input price, when unknown: above every known model's."""

MIN_LIFETIME, MAX_LIFETIME = 300, 3_600
"""Seconds."""

IDLE_FACTOR = 6
"""A session counts as abandoned after this many mean pauses."""

PREFIX_BLOCK = 1_024
"""Tokens below which an implicit rollover gains nothing: providers match prefixes in blocks."""

NEVER = Thresholds(chunk_messages=1, chunk_tokens=2**31, keep_messages=1, keep_tokens=0)
"""Thresholds that no history reaches."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Means per request: `growth` is tokens of new history, `hours` the time since the last request,
    `dynamic` tokens of the dynamic layer, `churn` the share of requests before which that layer changed.
    `ahead` is the expected number of further requests.
    """

    growth: float
    hours: float
    dynamic: float
    churn: float
    ahead: float


def storage_rate(rates: Rates) -> float:
    """Dollars per million tokens and hour, estimated when the price is unknown."""
    return STORAGE_FACTOR * float(rates.input) if rates.storage is None else float(rates.storage)


def saving(rates: Rates, hours: float) -> float:
    """Saving per request, less storage since the last one; dollars per million cached tokens."""
    return float(rates.input) - float(rates.cached) - storage_rate(rates) * hours


def longest_pause(rates: Rates) -> float:
    """Hours between two requests above which storing a prefix costs more than sending it."""
    discount, storage = float(rates.input) - float(rates.cached), storage_rate(rates)
    return discount / storage if storage else inf


def longest_lifetime(rates: Rates) -> int:
    """Seconds after which keeping an unused cache has cost as much as creating it again.

    Stopping there never costs more than twice the optimum (ski rental problem).
    """
    storage = storage_rate(rates)
    seconds = 3_600 * float(rates.input) / storage if storage else MAX_LIFETIME
    return round(min(max(seconds, MIN_LIFETIME), MAX_LIFETIME))


def lifetime(rates: Rates, hours: float) -> int:
    """Seconds that a cache may live unused where requests come every `hours`."""
    return round(min(max(3_600 * hours * IDLE_FACTOR, MIN_LIFETIME), longest_lifetime(rates)))


def explicit_tail(rates: Rates, pace: Pace, prefix: float) -> float:
    """k*: tokens of tail at which creating the cache again is cheapest; inf when it never pays.

    `prefix` is the tokens of the current cache. A session may end at each request, one time in `ahead`: the
    square root that minimises the running cost holds where many requests are ahead; where few are, the tail
    is about the one that they repay.
    """
    saved = saving(rates, pace.hours)
    if saved <= 0 or pace.ahead <= 0:
        return inf
    repaid = float(rates.input) * prefix / (saved * pace.ahead)
    grown = pace.growth * pace.ahead
    return grown * _interval(repaid / grown) if grown else repaid


def _interval(price: float) -> float:
    """Between two rollovers, as a share of the requests ahead: x where x − 1 + e⁻ˣ = `price`.

    `price` is that of a rollover over what the tail of one whole session would cost. The first guess is too
    large, so that Newton's steps only go down.
    """
    share = sqrt(2 * price) + price
    for _ in range(_STEPS if price else 0):
        share += (share + expm1(-share) - price) / expm1(-share)
    return share


_STEPS = 8
"""More change nothing: every step doubles the digits."""


def implicit_tail(pace: Pace) -> float:
    """The same for the provider's implicit cache; inf when a rollover never pays.

    Extending the prefix is free. A rollover costs the dynamic layer and, if that had not changed, the
    tail: both were in the provider's cache and now follow new bytes.
    """
    earned = pace.churn * pace.ahead - (1 - pace.churn)
    if earned <= 0:
        return inf
    return max(PREFIX_BLOCK, sqrt(2 * pace.growth * pace.dynamic / pace.churn), pace.dynamic / earned)


def thresholds_for(tail: float, stay: int) -> Thresholds:
    """Thresholds that move at least `tail` tokens and keep `stay` turns.

    The newest user text and what follows always stay: after an answer one complete exchange (`stay` 1),
    before one the trigger and the exchange before it (3).
    """
    return NEVER if tail == inf else Thresholds(1, max(1, round(tail)), stay, 0)


def explicit_cost(rates: Rates, pace: Pace, prefix: float) -> float:
    """Dollars (per million) of a request with an explicit cache; inf when it never pays."""
    tail = explicit_tail(rates, pace, prefix)
    if tail == inf:
        return inf
    held = prefix * (float(rates.cached) + storage_rate(rates) * pace.hours)
    bought = prefix * pace.growth / tail if tail else 0.0
    return held + float(rates.input) * (pace.dynamic + tail / 2 + bought)


def implicit_cost(rates: Rates, prompt: float, hit_share: float) -> float:
    """Dollars (per million) of a request of `prompt` tokens with that share cached by the provider."""
    return prompt * (hit_share * float(rates.cached) + (1 - hit_share) * float(rates.input))


MIN_AHEAD = 4
"""Requests that are expected at least."""

DEFAULT_GROWTH = 400.0
"""Tokens of history per request, until it is measured."""

DEFAULT_HOURS = 1 / 60
"""Between two requests, until it is measured."""

MIN_PAIRS = 3
"""Pairs of requests without an explicit cache that a hit share needs."""


@dataclass(frozen=True, slots=True)
class PastExchange:
    """One answered exchange. Tokens are the provider's, those of `layers` estimates.

    `cache_name` is its explicit cache, or empty.
    """

    at: datetime
    route: str
    prompt: int
    cached: int
    cache_name: str
    layers: Mapping[str, int]

    @property
    def history(self) -> int:
        """Tokens without the dynamic layer: they only grow while nothing is edited."""
        return sum(self.layers.values()) - self.dynamic

    @property
    def prefix(self) -> int:
        return self.layers.get("static", 0)

    @property
    def dynamic(self) -> int:
        return self.layers.get("dynamic", 0)


def pace_of(seen: Sequence[PastExchange], count: int, longest: float) -> Pace:
    """`seen` are the newest exchanges, oldest first, `count` is how many the session has.

    A pause counts at most `longest` hours: an unused cache has expired by then; where the clock was set back
    it counts as none. As many requests are expected as there have been.
    """
    pairs = list(pairwise(seen))
    grown = [now - was for was, now in pairwise([one.history for one in seen]) if now > was]
    hours = [
        min(max((after.at - before.at).total_seconds() / 3_600, 0.0), longest) for before, after in pairs
    ]
    changed = [_prefix_changed(before, after) for before, after in pairs]
    return Pace(
        growth=fmean(grown) if grown else DEFAULT_GROWTH,
        hours=fmean(hours) if hours else DEFAULT_HOURS,
        dynamic=float(seen[-1].dynamic) if seen else 0.0,
        churn=fmean(changed) if changed else 1.0,
        ahead=float(max(count, MIN_AHEAD)),
    )


def hit_share(seen: Sequence[PastExchange], route: str) -> float | None:
    """The mean share of the previous prompt that the provider's implicit cache gave.

    None with fewer than MIN_PAIRS pairs on this route.
    """
    shares = [
        min(after.cached / before.prompt, 1.0)
        for before, after in pairwise(seen)
        if before.route == after.route == route
        and not (before.cache_name or after.cache_name)
        and before.prompt
    ]
    return fmean(shares) if len(shares) >= MIN_PAIRS else None


def _prefix_changed(before: PastExchange, after: PastExchange) -> float:
    """1 if the layers before the buffer changed, so that no cached prefix reached into it.

    Known from the size of the dynamic layer, the hour of its clock, or the provider's count.
    """
    is_resized = before.dynamic != after.dynamic or _hour(before) != _hour(after)
    is_inline = not (before.cache_name or after.cache_name) and before.prefix == after.prefix
    fell_short = is_inline and 0 < after.cached < after.prefix + after.dynamic
    return float(is_resized or fell_short)


def _hour(seen: PastExchange) -> datetime:
    return seen.at.replace(minute=0, second=0, microsecond=0)
