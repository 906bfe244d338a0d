"""What the next answer will roughly cost, and how long what is cached stays warm.

An estimate, and shown as one: the next prompt is taken to be the last one with its answer behind it, the
next answer as long as the last. What is being written is counted in the browser.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Context, Decimal
from typing import Literal

from sessions_app.prompt.caching import EXPIRY_MARGIN, VerdictCode
from sessions_app.prompt.pricing import Money, Rates, cost, making
from sessions_app.prompt.reply import Usage
from sessions_app.prompt.verdict import IMPLICIT_LIFE

Kind = Literal["explicit", "implicit", "none"]

TOLD = (VerdictCode.HIT, VerdictCode.PARTIAL, VerdictCode.PROVIDER_MISS)
"""Verdicts on an unchanged prefix, soon after: they say how much of one this provider reuses."""


@dataclass(frozen=True, slots=True)
class Last:
    """The newest counted exchange of the branch in view. Tokens are the provider's counts.

    `before` is the prompt of the exchange before it, None without one; `same_model` whether the next
    request goes to the model that read this one.
    """

    prompt: int
    cached: int
    output: int
    thoughts: int
    before: int | None
    verdict: str
    is_named: bool
    same_model: bool
    ended: datetime


@dataclass(frozen=True, slots=True)
class Kept:
    """An explicit cache for this session: its tokens and its end."""

    tokens: int
    expires: datetime


@dataclass(frozen=True, slots=True)
class Estimate:
    """The next request. `prompt` and `answer` are its tokens, `cached` what a cache holds of the prompt
    until `until`; a `kind` of none has neither. `rates` are None where the price is unknown.
    """

    prompt: int
    answer: int
    cached: int
    kind: Kind
    until: datetime | None
    rates: Rates | None

    @property
    def share(self) -> int:
        """Percent of the prompt, rounded down."""
        return 100 * self.cached // self.prompt if self.prompt else 0

    @property
    def warm(self) -> Money | None:
        """The cost while the cache is warm."""
        return self._cost(self.cached)

    @property
    def cold(self) -> Money | None:
        """The cost after it has cooled."""
        return self._cost(0)

    @property
    def remaking(self) -> Decimal | None:
        """What making an explicit cache again would cost beside it; None without one or a price."""
        return making(self.cached, self.rates).total if self.rates and self.kind == "explicit" else None

    @property
    def answer_usd(self) -> Decimal | None:
        return cost(Usage(output=self.answer), self.rates).total if self.rates else None

    def seconds(self, now: datetime) -> int:
        """How long it stays warm; 0 when it has cooled or nothing was cached."""
        return max(0, int((self.until - now).total_seconds())) if self.until else 0

    def _cost(self, cached: int) -> Money | None:
        usage = Usage(prompt=self.prompt, cached=cached, output=self.answer)
        return cost(usage, self.rates) if self.rates else None


def expect(last: Last, rates: Rates | None, minimum: int | None, kept: Kept | None) -> Estimate:
    """`minimum` is the shortest prefix that the model caches of its own accord, None where it does not."""
    prompt, answer = last.prompt + last.output, last.output + last.thoughts
    cached, kind, until = _cached(last, minimum, kept, prompt)
    return Estimate(prompt, answer, cached, kind, until, rates)


def _cached(
    last: Last, minimum: int | None, kept: Kept | None, prompt: int
) -> tuple[int, Kind, datetime | None]:
    if kept is not None:
        return min(kept.tokens, prompt), "explicit", kept.expires - EXPIRY_MARGIN
    if minimum is None or last.prompt < minimum or not last.same_model:
        return 0, "none", None
    cached = round(last.prompt * reused(last))
    return (cached, "implicit", last.ended + IMPLICIT_LIFE) if cached else (0, "none", None)


def reused(last: Last) -> float:
    """The share of an unchanged prefix that the provider reuses of its own accord: what it did the last
    time, all of it where that is not known.
    """
    if last.before and not last.is_named and last.verdict in TOLD:
        return min(last.cached / last.before, 1.0)
    return 1.0


def roughly(usd: Decimal | None) -> str:
    """A sum to two significant digits: more would claim to be known. `outlook.js` rounds the same way."""
    if usd is None:
        return "unknown"
    if usd >= 1:
        return f"${usd:,.2f}"
    if usd < Decimal("0.000001"):
        return "<$0.000001"
    rounded = Context(prec=2).plus(usd)
    return f"${rounded:.{1 - rounded.adjusted()}f}"


def clock(left: timedelta) -> str:
    """3:10, 1:02:05."""
    minutes, seconds = divmod(max(0, int(left.total_seconds())), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
