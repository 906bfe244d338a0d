"""The outlook below the composer: what the next answer will cost, what may still be spent, what was."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Self

from django.db.models import Q
from django.utils import timezone

from sessions_app.chat.estimate import Estimate, Kept, Last, clock, expect, roughly
from sessions_app.context.capabilities import facts_of
from sessions_app.models import CacheEntry, Exchange, Price, Session
from sessions_app.prompt.pricing import dollars
from sessions_app.runs.account import implicit_minimum
from sessions_app.runs.budget import Budget, budgets_of

SETTLING = timedelta(seconds=30)
"""How long after an answer that asked for a cache its end may still change: it is made aside."""

READ = (
    "model",
    "served_model",
    "fingerprint",
    "cache_action",
    "cache_name",
    "verdict",
    "prompt_tokens",
    "cached_tokens",
    "output_tokens",
    "thought_tokens",
    "started_at",
    "ended_at",
    "previous",
    "previous__prompt_tokens",
)
"""Columns of an exchange that an estimate needs; manifests and stages can be large."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """`estimate` is None before the first answer. `is_settling`: a cache is being made, look again."""

    session: Session
    now: datetime
    estimate: Estimate | None
    budgets: tuple[Budget, ...]
    is_settling: bool

    @classmethod
    def of(cls, session: Session) -> Self:
        """Four statements; one before the first answer, one more after a branch without one."""
        now, last = timezone.now(), newest_of(session)
        budgets = tuple(budgets_of(session, session.options))
        if last is None:
            return cls(session, now, None, budgets, is_settling=False)
        entry = cache_of(session, last, now)
        is_new = now - (last.ended_at or last.started_at) < SETTLING
        is_settling = is_new and entry is None and last.cache_action == "create"
        return cls(session, now, estimate_of(session, last, entry, now), budgets, is_settling)

    @property
    def tightest(self) -> Budget | None:
        """The budget that ends first."""
        return min(self.budgets, key=lambda budget: budget.left, default=None)

    @property
    def pressing(self) -> list[Budget]:
        return [budget for budget in self.budgets if budget.is_near or budget.is_spent]

    @property
    def seconds(self) -> int:
        return self.estimate.seconds(self.now) if self.estimate else 0

    @property
    def left(self) -> str:
        return clock(timedelta(seconds=self.seconds))

    @property
    def warm(self) -> str:
        return self._words(warm=True)

    @property
    def cold(self) -> str:
        return self._words(warm=False)

    def _words(self, *, warm: bool) -> str:
        money = (self.estimate.warm if warm else self.estimate.cold) if self.estimate else None
        return roughly(money.total if money else None)

    @property
    def spent(self) -> str:
        """What the session cost so far: a lower bound where prices are missing, never 0 for the unknown."""
        session = self.session
        if session.unpriced:
            return f"≥ {dollars(session.spent_usd)}" if session.spent_usd else "cost unknown"
        return dollars(session.spent_usd)

    @property
    def share(self) -> int:
        """Percent of all its prompt tokens that came from a cache, rounded down."""
        session = self.session
        return 100 * session.cached_tokens // session.prompt_tokens if session.prompt_tokens else 0


def newest_of(session: Session) -> Exchange | None:
    """The newest counted exchange of the branch in view, else of the session."""
    if not session.exchange_count:
        return None
    counted = Exchange.objects.filter(session=session, prompt_tokens__gt=0).select_related("previous")
    newest = counted.only(*READ).order_by("-number")
    ends = [pk for pk in (session.head_id, session.head and session.head.parent_id) if pk]
    return newest.filter(turns__in=ends).first() or newest.first()


def cache_of(session: Session, last: Exchange, now: datetime) -> CacheEntry | None:
    """The explicit cache that the next request of this session may name."""
    ours = Q(sessions=session) | Q(fingerprint=last.fingerprint)
    live = CacheEntry.objects.live().filter(ours, model=session.model, expires_at__gt=now)
    return live.order_by("-expires_at").first()


def estimate_of(session: Session, last: Exchange, entry: CacheEntry | None, now: datetime) -> Estimate:
    served = last.served_model or last.model
    facts = facts_of(session.model, served if last.model == session.model else "")
    price = Price.objects.of(session.model, now.date(), family=facts.family)
    prompt = last.prompt_tokens or 0
    known = Last(
        prompt=prompt,
        cached=last.cached_tokens or 0,
        output=last.output_tokens or 0,
        thoughts=last.thought_tokens or 0,
        before=last.previous.prompt_tokens if last.previous else None,
        verdict=last.verdict,
        is_named=bool(last.cache_name),
        same_model=last.model == session.model,
        ended=last.ended_at or last.started_at,
    )
    kept = Kept(entry.tokens, entry.expires_at) if entry and entry.expires_at else None
    return expect(known, price.rates(prompt) if price else None, implicit_minimum(facts), kept)
