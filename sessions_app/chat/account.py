"""What stands below an answer: how much of its requests was cached, what they cost, and why."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Self

from sessions_app.chat.money import AnswerCost
from sessions_app.models import Exchange
from sessions_app.prompt.breaks import BreakLine
from sessions_app.prompt.caching import VerdictCode
from sessions_app.prompt.pricing import Money, dollars
from sessions_app.prompt.verdict import two_facts
from sessions_app.ribbon import Ribbon, ribbon_of

IN_A_WORD = {
    VerdictCode.HIT: "cache hit",
    VerdictCode.PARTIAL: "partly cached",
    VerdictCode.FIRST: "first request",
    VerdictCode.UNKNOWN: "",
}
"""Verdicts as a badge; every other one is a miss, whose reason stands in the card."""


@dataclass(frozen=True, slots=True)
class Account:
    """The line below an answer. The ribbon and the verdict are those of its last request, the tokens
    and the cost are of all.
    """

    requests: int
    last: Exchange
    prompt: int
    cached: int
    cost: AnswerCost | None

    @classmethod
    def of(cls, exchanges: Sequence[Exchange]) -> Self | None:
        """None for a run that has sent nothing."""
        if not exchanges:
            return None
        return cls(
            requests=len(exchanges),
            last=exchanges[-1],
            prompt=sum(one.prompt_tokens or 0 for one in exchanges),
            cached=sum(one.cached_tokens or 0 for one in exchanges),
            cost=AnswerCost.of(exchanges),
        )

    @property
    def ribbon(self) -> Ribbon:
        return ribbon_of(self.last)

    @property
    def share(self) -> str:
        """The cached share in words; rounded down, so that 100 % means all of it."""
        return f"{100 * self.cached // self.prompt} % cached" if self.prompt else "no usage reported"

    @property
    def verdict(self) -> str:
        """Whether the last request found its prefix cached; empty while nobody knows."""
        known = self.last.verdict
        return IN_A_WORD.get(VerdictCode(known), "not cached") if known else ""

    @property
    def has_hit(self) -> bool:
        return bool(self.last.cached_tokens)


@dataclass(frozen=True, slots=True)
class RequestAccount:
    """One request on the card. `ours` and `theirs` are the two facts of its verdict."""

    exchange: Exchange
    ribbon: Ribbon
    ours: str
    theirs: str
    broken: str
    equation: str

    @classmethod
    def of(cls, exchange: Exchange) -> Self:
        ours, theirs = two_facts(exchange.verdict_words)
        line, money = BreakLine.restored(exchange.break_line), Money.restored(exchange.money)
        unknown = "price unknown" if exchange.prompt_tokens else ""
        return cls(
            exchange=exchange,
            ribbon=ribbon_of(exchange),
            ours=ours,
            theirs=theirs,
            broken=break_words(line) if line else "",
            equation=money.equation if money else unknown,
        )

    @property
    def tokens(self) -> str:
        """What was counted, as a sum in which no token stands twice; empty where nothing was."""
        one = self.exchange
        if not one.prompt_tokens:
            return ""
        cached = one.cached_tokens or 0
        said = f"{one.prompt_tokens:,} prompt = {one.prompt_tokens - cached:,} new + {cached:,} cached"
        return f"{said}; {one.output_tokens or 0:,} output + {one.thought_tokens or 0:,} thoughts"


def break_words(line: BreakLine) -> str:
    """Where the bytes left those of the request before, and what that cost, in one sentence."""
    place = f"They part at {line.place} of the {line.layer} layer"
    if not line.lost_tokens:
        return f"{place}. Nothing behind it had been sent before, so that cost nothing."
    price = f"{dollars(Decimal(line.usd))} more than from a cache" if line.usd else "at an unknown price"
    return f"{place}. About {line.lost_tokens:,} tokens behind it were sent again as new: {price}."
