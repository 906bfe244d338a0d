"""Estimated cost of the next answer, remaining budgets and cost of the session so far."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Context, Decimal
from typing import Literal, Self

from django.utils import timezone

from sessions_app.chat.forecast_rows import newest_exchange, usable_cache
from sessions_app.context.model_lookup import facts_of
from sessions_app.exchange_sums import cost_of_session
from sessions_app.models import Booking, CacheEntry, Exchange, Price, Session
from sessions_app.prompt.caching import EXPIRY_MARGIN, VerdictCode
from sessions_app.prompt.pricing import Budget, Money, Rates, cost, creation_cost
from sessions_app.prompt.reply import Usage
from sessions_app.prompt.tokens import cached_percent
from sessions_app.prompt.verdict import MEANINGS
from sessions_app.prompt.verdict_rules import IMPLICIT_LIFE
from sessions_app.runs.accounting import implicit_minimum
from sessions_app.runs.budgets import Spender
from sessions_app.wording import costs

Kind = Literal["explicit", "implicit", "other_model", "not_known", "too_short", "unused"]


@dataclass(frozen=True, slots=True)
class LastExchange:
    """The newest counted exchange of the branch in view, in the provider's token counts.

    `before` is the prompt of the previous exchange; `same_model` whether the next request uses its model.
    """

    prompt: int
    cached: int
    output: int
    thoughts: int
    before: int | None
    verdict: VerdictCode
    is_named: bool
    same_model: bool
    ended: datetime

    @property
    def next_prompt(self) -> int:
        """Tokens of the next request without its message."""
        return self.prompt + self.output


@dataclass(frozen=True, slots=True)
class LiveCache:
    """An explicit cache of this session."""

    tokens: int
    expires: datetime


@dataclass(frozen=True, slots=True)
class Estimate:
    """Tokens of the next request; `cached` of its prompt are cached until `until`.

    `kind` is what keeps them, or why nothing is counted on. `rates` is None if the price is unknown.
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
        return cached_percent(self.cached, self.prompt) or 0

    @property
    def warm(self) -> Money | None:
        """Cost before the cache expires."""
        return self._cost(self.cached)

    @property
    def cold(self) -> Money | None:
        """Cost after the cache has expired."""
        return self._cost(0)

    @property
    def recreation_usd(self) -> Decimal | None:
        """Additional cost of creating the explicit cache again; None without one or a price."""
        return (
            creation_cost(self.cached, self.rates).total if self.rates and self.kind == "explicit" else None
        )

    @property
    def answer_usd(self) -> Decimal | None:
        return cost(Usage(output=self.answer), self.rates).total if self.rates else None

    def seconds(self, now: datetime) -> int:
        """Seconds until the cache expires; 0 without one."""
        return max(0, int((self.until - now).total_seconds())) if self.until else 0

    def _cost(self, cached: int) -> Money | None:
        usage = Usage(prompt=self.prompt, cached=cached, output=self.answer)
        return cost(usage, self.rates) if self.rates else None


def estimate_next(
    last: LastExchange, rates: Rates | None, minimum: int | None, kept: LiveCache | None
) -> Estimate:
    """`minimum` is the shortest prefix in tokens that the model caches implicitly; None: not known."""
    prompt, answer = last.next_prompt, last.output + last.thoughts
    cached, kind, until = _cached(last, minimum, kept, prompt)
    return Estimate(prompt, answer, cached, kind, until, rates)


def _cached(
    last: LastExchange, minimum: int | None, kept: LiveCache | None, prompt: int
) -> tuple[int, Kind, datetime | None]:
    if kept is not None:
        return min(kept.tokens, prompt), "explicit", kept.expires - EXPIRY_MARGIN
    if not last.same_model:
        return 0, "other_model", None
    if minimum is None or last.prompt < minimum:
        return 0, "not_known" if minimum is None else "too_short", None
    cached = round(last.prompt * reuse_share(last))
    return (cached, "implicit", last.ended + IMPLICIT_LIFE) if cached else (0, "unused", None)


def reuse_share(last: LastExchange) -> float:
    """The share of an unchanged prefix the provider cached implicitly last time; 1 if unknown."""
    if last.before and not last.is_named and MEANINGS[last.verdict].tells_reuse:
        return min(last.cached / last.before, 1.0)
    return 1.0


def rounded_usd(usd: Decimal | None) -> str:
    """A sum rounded to two significant digits, as in `outlook.js`."""
    if usd is None:
        return "unknown"
    if usd >= 1:
        return f"${usd:,.2f}"
    if usd < Decimal("0.000001"):
        return "<$0.000001"
    rounded = Context(prec=2).plus(usd)
    return f"${rounded:.{1 - rounded.adjusted()}f}"


def time_left(left: timedelta) -> str:
    """3:10, 1:02:05."""
    minutes, seconds = divmod(max(0, int(left.total_seconds())), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


CACHE_CREATION_TIME = timedelta(seconds=30)
"""How long the creation of a cache may take after the answer."""


@dataclass(frozen=True, slots=True)
class CostForecast:
    """`estimate` is None before the first answer; `is_cache_pending` makes the page poll."""

    session: Session
    now: datetime
    estimate: Estimate | None
    budgets: tuple[Budget, ...]
    is_cache_pending: bool

    @classmethod
    def of(cls, session: Session) -> Self:
        """Three queries; none before the first answer, four on a branch without one; budgets and `causes` are
        one more each.
        """
        now, last = timezone.now(), newest_exchange(session)
        budgets = tuple(Spender.of(session, session.options).budgets())
        if last is None:
            return cls(session, now, None, budgets, is_cache_pending=False)
        entry = usable_cache(session, last, now)
        is_new = now - (last.ended_at or last.started_at) < CACHE_CREATION_TIME
        is_cache_pending = is_new and entry is None and last.cache_action == "create"
        return cls(session, now, estimate_of(session, last, entry, now), budgets, is_cache_pending)

    @property
    def tightest(self) -> Budget | None:
        """The budget with the least money left, of the chat's and the person's."""
        return min(self.own_budgets, key=lambda budget: budget.left, default=None)

    @property
    def own_budgets(self) -> list[Budget]:
        """Without those that all people share, whose sums are nobody's business."""
        return [budget for budget in self.budgets if not budget.is_shared]

    @property
    def pressing(self) -> list[Budget]:
        return [budget for budget in self.budgets if budget.is_near or budget.is_spent]

    @property
    def seconds(self) -> int:
        return self.estimate.seconds(self.now) if self.estimate else 0

    @property
    def left(self) -> str:
        return time_left(timedelta(seconds=self.seconds))

    @property
    def warm(self) -> str:
        return self._rounded(warm=True)

    @property
    def cold(self) -> str:
        return self._rounded(warm=False)

    def _rounded(self, *, warm: bool) -> str:
        money = (self.estimate.warm if warm else self.estimate.cold) if self.estimate else None
        return rounded_usd(money.total if money else None)

    @property
    def spent(self) -> str:
        """Cost of the session so far; a lower bound if prices are missing."""
        return cost_of_session(self.session)

    @property
    def causes(self) -> str:
        """The same sum by cause: one query."""
        return costs.cause_sums(Booking.objects.filter(session=self.session).by_cause())

    @property
    def share(self) -> int:
        """Percent of all prompt tokens that were cached, rounded down."""
        return cached_percent(self.session.cached_tokens, self.session.prompt_tokens) or 0


def estimate_of(session: Session, last: Exchange, entry: CacheEntry | None, now: datetime) -> Estimate:
    served = last.served_model or last.model
    facts = facts_of(session.model, served if last.model == session.model else "")
    price = Price.objects.of(facts.family, now.date(), family=session.model)
    known = LastExchange(
        prompt=last.prompt_tokens or 0,
        cached=last.cached_tokens or 0,
        output=last.output_tokens or 0,
        thoughts=last.thought_tokens or 0,
        before=last.previous.prompt_tokens if last.previous else None,
        verdict=VerdictCode(last.verdict),
        is_named=bool(last.cache_name),
        same_model=last.model == session.model,
        ended=last.ended_at or last.started_at,
    )
    kept = LiveCache(entry.tokens, entry.expires_at) if entry and entry.expires_at else None
    rates = price.rates(known.next_prompt) if price else None
    return estimate_next(known, rates, implicit_minimum(facts), kept)
