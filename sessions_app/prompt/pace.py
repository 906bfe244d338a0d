"""How a session goes on, measured from its newest exchanges: what the choice of caching stands on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from statistics import fmean

from sessions_app.prompt.rollover import Pace

FEW = 4
"""Requests that a new conversation is expected to have still."""

GROWTH = 400.0
"""Tokens of history per request, until two exchanges say better."""

HOURS = 1 / 60
"""Between two requests, until two exchanges say better."""

ENOUGH = 3
"""Pairs of requests without an explicit cache from which a hit share is believed."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One exchange that was answered. Tokens are the provider's, those of `layers` estimates.

    `cache_name` is the explicit cache that it named, if any.
    """

    at: datetime
    route: str
    prompt: int
    cached: int
    cache_name: str
    layers: Mapping[str, int]

    @property
    def history(self) -> int:
        """Tokens of everything but the dynamic layer: what only grows while nothing is edited."""
        return sum(self.layers.values()) - self.dynamic

    @property
    def prefix(self) -> int:
        return self.layers.get("static", 0)

    @property
    def dynamic(self) -> int:
        return self.layers.get("dynamic", 0)


def pace_of(seen: Sequence[Seen], count: int, longest: float) -> Pace:
    """`seen` are the newest exchanges, oldest first, `count` how many the session has had.

    A pause counts at most `longest` hours: by then an unused cache is gone and costs nothing more. As
    many requests are expected as there have been (a conversation that lasted goes on lasting).
    """
    pairs = list(pairwise(seen))
    grown = [after.history - before.history for before, after in pairs if after.history > before.history]
    hours = [min((after.at - before.at).total_seconds() / 3_600, longest) for before, after in pairs]
    changed = [_has_moved(before, after) for before, after in pairs]
    return Pace(
        growth=fmean(grown) if grown else GROWTH,
        hours=fmean(hours) if hours else HOURS,
        dynamic=float(seen[-1].dynamic) if seen else 0.0,
        churn=fmean(changed) if changed else 1.0,
        ahead=float(max(count, FEW)),
    )


def hit_share(seen: Sequence[Seen], route: str) -> float | None:
    """How much of the previous prompt came from the provider's own cache, where no cache was named.

    None with fewer than ENOUGH pairs on this route: too little to believe.
    """
    shares = [
        min(after.cached / before.prompt, 1.0)
        for before, after in pairwise(seen)
        if before.route == after.route == route
        and not (before.cache_name or after.cache_name)
        and before.prompt
    ]
    return fmean(shares) if len(shares) >= ENOUGH else None


def _has_moved(before: Seen, after: Seen) -> float:
    """1 where what stands before the buffer had changed, so that no cached prefix reached into it.

    Shown by the size of the dynamic layer, by the hour of its clock, or by the provider's own count.
    """
    is_resized = before.dynamic != after.dynamic or _hour(before) != _hour(after)
    is_inline = not (before.cache_name or after.cache_name) and before.prefix == after.prefix
    fell_short = is_inline and 0 < after.cached < after.prefix + after.dynamic
    return float(is_resized or fell_short)


def _hour(seen: Seen) -> datetime:
    return seen.at.replace(minute=0, second=0, microsecond=0)
