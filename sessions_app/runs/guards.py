"""Guard rails: limits that keep a run, and what follows it by itself, from spending without end.

Pure. What has been spent counts from the last message of a person: a run that goes on by itself shares
the limits of the run that it continues.
"""

from dataclasses import dataclass
from decimal import Decimal

from sessions_app.errors import GuardRail
from sessions_app.models import SessionSettings

KEPT = "What was done is kept. "
CHANGE = (
    "Change the limit in the session's settings (“Going on, limits, budget”), or write a message to go on."
)


@dataclass(frozen=True, slots=True)
class Spent:
    """`rounds` of tools that were answered in this run; `tokens` sent and received, `seconds` and `usd`
    since a person last wrote. What has no known price is not in `usd`."""

    rounds: int = 0
    tokens: int = 0
    usd: Decimal = Decimal(0)
    seconds: float = 0


def rail_before(spent: Spent, limits: SessionSettings) -> GuardRail | None:
    """The limit that has been reached, so that no further request may be sent; None when none has.

    A limit counts as reached at its value: with `max_usd` 1, the request after the first dollar is not made.
    """
    if spent.rounds >= limits.max_rounds:
        return _rail("max_rounds", f"{spent.rounds} rounds of tools of at most {limits.max_rounds}")
    if limits.max_tokens is not None and spent.tokens >= limits.max_tokens:
        return _rail("max_tokens", f"{spent.tokens:,} tokens of at most {limits.max_tokens:,}")
    if limits.max_usd is not None and float(spent.usd) >= limits.max_usd:
        return _rail("max_usd", f"${spent.usd:.4f} of at most ${limits.max_usd:.2f}")
    if limits.max_seconds is not None and spent.seconds >= limits.max_seconds:
        return _rail("max_seconds", f"{spent.seconds:,.0f} seconds of at most {limits.max_seconds:,}")
    return None


def _rail(name: str, words: str) -> GuardRail:
    return GuardRail(f"A guard rail ended this: {words}.", hint=KEPT + CHANGE, rail=name)
