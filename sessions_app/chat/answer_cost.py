"""Tokens, cached share and cost of an answer and of each of its requests."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Self

from django.db.models import F, Q

from sessions_app.exchange_sums import equation_of, is_cut_off
from sessions_app.models import Exchange, Run
from sessions_app.models.answering import other_model
from sessions_app.prompt.chunks import Usage, candidates_asked_for
from sessions_app.prompt.pricing import Budget, Money, MoneySource
from sessions_app.prompt.tokens import cached_percent
from sessions_app.ribbon import Ribbon, ribbon_of
from sessions_app.wording import break_lines, budgets, costs, outcomes, sentences, usage, verdicts

LARGE_COLUMNS = ("manifest", "stages", "notes", "ledger")
"""Columns of an exchange that no card shows whole."""


@dataclass(frozen=True, slots=True)
class AnswerCost:
    """The cost of all requests of one answer."""

    total: str
    budget_notice: str
    """State of the budgets that were nearly spent when the last request was sent."""

    @classmethod
    def of(cls, exchanges: Sequence[Exchange]) -> Self | None:
        """None if nothing was counted."""
        counted = [one for one in exchanges if one.money or one.prompt_tokens]
        if not counted:
            return None
        return cls(
            total=_total([Money.restored(one.money) for one in counted]),
            budget_notice=_budget_notice(counted[-1]),
        )


def _budget_notice(exchange: Exchange) -> str:
    stored = exchange.money.get("budgets", ())
    found = filter(None, map(Budget.restored, stored))
    return budgets.when_sent(found) or sentences.earlier_version(exchange.earlier("budget"))


def _total(each: Sequence[Money | None]) -> str:
    """The formatted sum; a lower bound if an amount is missing, never 0 for an unknown one."""
    known = [money for money in each if money is not None]
    if not known:
        return costs.UNKNOWN
    is_partial = len(known) < len(each)
    emulated = [money for money in known if money.source is MoneySource.EMULATOR]
    paid = [money for money in known if money.source is not MoneySource.EMULATOR]
    bounds = (_bound(own, is_partial=is_partial) for own in (paid, emulated))
    return costs.amount(_sum(paid), _sum(emulated), *bounds)


def _bound(each: Sequence[Money], *, is_partial: bool) -> str:
    """The mark before their sum; `is_partial`: another amount is unknown, of which source nothing says."""
    missing = is_partial + sum(money.is_bound for money in each)
    return costs.mark(missing=missing, estimates=sum(money.is_estimate for money in each))


def _sum(each: Iterable[Money]) -> Decimal:
    return sum((money.total for money in each), Decimal(0))


@dataclass(frozen=True, slots=True)
class AnswerUsage:
    """The line below an answer: ribbon and verdict of its last request, tokens and cost of all.

    Equal where the line says the same. `others` are the models that answered in the place of the chosen one:
    (chosen, answered).
    """

    numbers: tuple[int, ...]
    """Numbers of the requests, the last one last."""
    ribbon: Ribbon
    verdict: str
    """The badge of the last verdict; empty while it is unknown."""
    has_hit: bool
    prompt: int
    cached: int
    output: int
    thoughts: int
    cost: AnswerCost | None
    is_cut_off: bool = False
    """Whether a request was cut off, so that its answer may have more tokens than were counted."""
    others: tuple[tuple[str, str], ...] = ()
    is_standard_text: bool = True
    """Whether the prices that are known are those of all its tokens; the line below an answer has no room."""
    tool_use: int = 0
    """What the provider's own tools put before the model, beside the prompt; the line has no room either."""

    @classmethod
    def of(
        cls, exchanges: Sequence[Exchange], *, is_standard_text: bool = True, tool_use: int = 0
    ) -> Self | None:
        """None for a run without exchanges."""
        if not exchanges:
            return None
        last = exchanges[-1]
        return cls(
            numbers=tuple(one.number for one in exchanges),
            ribbon=ribbon_of(last),
            verdict=verdicts.badge(last.verdict),
            has_hit=bool(last.cached_tokens),
            prompt=sum(one.prompt_tokens or 0 for one in exchanges),
            cached=sum(one.cached_tokens or 0 for one in exchanges),
            output=sum(one.output_tokens or 0 for one in exchanges),
            thoughts=sum(one.thought_tokens or 0 for one in exchanges),
            cost=AnswerCost.of(exchanges),
            is_cut_off=any(map(is_cut_off, exchanges)),
            others=tuple(
                dict.fromkeys((one.model, other_model(one)) for one in exchanges if other_model(one))
            ),
            is_standard_text=is_standard_text,
            tool_use=tool_use,
        )

    @property
    def requests(self) -> int:
        return len(self.numbers)

    @property
    def last(self) -> int:
        """The number of the last request."""
        return self.numbers[-1]

    @property
    def has_share(self) -> bool:
        """Whether the provider's counts tell the cached share."""
        return 0 < self.prompt >= self.cached

    @property
    def percent(self) -> int:
        """The cached share, rounded down so that 100 % means all of it."""
        return cached_percent(self.cached, self.prompt) or 0

    @property
    def share(self) -> str:
        if not self.prompt:
            return "no usage reported"
        return f"{self.percent} % cached" if self.has_share else "cached share unknown"

    @property
    def words(self) -> list[str]:
        """Tokens, cache and cost in plain words, a line each; empty if nothing was counted."""
        if not self.cost:
            return []
        counted = usage.tokens(self.prompt, self.output, self.thoughts, self.tool_use) if self.prompt else ""
        tokens = counted and usage.as_counted(counted, is_cut_off=self.is_cut_off)
        cache = usage.cached(self.cached, self.prompt) if self.has_share else ""
        total = costs.priced(self.cost.total, is_standard_text=self.is_standard_text)
        return [line for line in (tokens, cache, usage.cost(total)) if line]


@dataclass(frozen=True, slots=True)
class RequestUsage:
    """One request on the card; `ours` and `theirs` are the facts of its verdict."""

    exchange: Exchange
    ribbon: Ribbon
    ours: str
    theirs: str
    loss: str
    """What the provider stopped serving from its cache; empty if nothing, or before the end."""
    equation: str
    candidates: str
    """What came of several answers that a request asked for; empty where it asked for one."""

    @classmethod
    def of(cls, exchange: Exchange, settings: Any = None) -> Self:
        """`settings` are those of its manifest, which may be deferred."""
        ours, theirs = verdicts.two_facts(
            exchange.found_verdict, exchange.earlier("verdict"), is_captured=exchange.is_captured
        )
        lost = exchange.loss
        unknown = "price unknown" if exchange.prompt_tokens else ""
        return cls(
            exchange=exchange,
            ribbon=ribbon_of(exchange),
            ours=ours,
            theirs=theirs,
            loss=break_lines.loss(lost) if exchange.prompt_tokens is not None and lost.tokens != 0 else "",
            equation=equation_of(exchange) or unknown,
            candidates=outcomes.candidates_asked(candidates_asked_for(settings)),
        )

    @property
    def tokens(self) -> str:
        """The counted tokens, none of them twice; empty if nothing was counted."""
        one = self.exchange
        if not one.prompt_tokens:
            return ""
        prompt = usage.prompt(one.prompt_tokens, one.cached_tokens or 0)
        tools = Usage.of(one.usage).tool_use
        counted = f"{prompt}; {usage.answer(one.output_tokens or 0, one.thought_tokens or 0, tools)}"
        return usage.as_counted(counted, is_cut_off=is_cut_off(one))


def requests_of(asked: Run | Sequence[int]) -> list[RequestUsage]:
    """The requests of a run, or of exchanges by their keys. One query."""
    own = Q(run=asked) if isinstance(asked, Run) else Q(pk__in=asked)
    found = Exchange.objects.filter(own).defer(*LARGE_COLUMNS).annotate(settings=F("manifest__settings"))
    return [RequestUsage.of(one, getattr(one, "settings", None)) for one in found]
