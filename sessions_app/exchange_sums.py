"""What exchanges counted and cost: of one in its row, of several in a heading and in totals."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum

from sessions_app.models import Exchange, Session
from sessions_app.prompt.chunks import is_standard_text
from sessions_app.prompt.outcomes import Outcome
from sessions_app.prompt.pricing import Money, dollars
from sessions_app.prompt.verdict import VerdictReason
from sessions_app.wording import costs

WITHOUT_END = {Outcome.UNFINISHED.value, Outcome.FAILED.value}
"""Outcomes of answers that have no end, unless they have a finish reason."""

ESTIMATES = ("estimated", "other_price")
"""Why the sum of an exchange is an estimate, as `Money` has it."""


def is_cut_off(exchange: Exchange) -> bool:
    """Whether the answer ended before its end: its tokens are those that the provider had counted by then.

    One of which nothing came but counts is such an answer, one of which nothing came at all is not.
    """
    is_empty = exchange.outcome == Outcome.EMPTY and exchange.prompt_tokens is not None
    is_unended = (is_empty or exchange.outcome in WITHOUT_END) and not exchange.finish_reason
    return is_unended or exchange.verdict_figures.get("reason") == VerdictReason.CUT_OFF.value


def money_of(exchange: Exchange) -> Money | None:
    """What it cost, as stored; earlier versions did not keep that another price may hold."""
    money = Money.restored(exchange.money)
    if money is None or is_standard_text(exchange.usage):
        return money
    return replace(money, other_price=True)


def equation_of(exchange: Exchange) -> str:
    """Its cost as a sum; empty where it is unknown."""
    return costs.equation(money_of(exchange))


def sums(through: str = "") -> dict[str, Any]:
    """The aggregates that `cost_of_sums` takes; `through` leads from a row to its exchange (`exchange__`).

    `unpriced`: an answer came and its price is not known; nothing is charged where none came. When it began
    is not known of every imported one. `bounds`: as `Money.is_bound`; `estimates`: as `Money.is_estimate`.
    """
    has_come = Q((f"{through}first_chunk_ms__isnull", False)) | Q((f"{through}prompt_tokens__isnull", False))
    no_price = Q((f"{through}usd", None)) & has_come
    return {
        "count": Count("pk"),
        "prompt": Sum(f"{through}prompt_tokens"),
        "cached": Sum(f"{through}cached_tokens"),
        "output": Sum(f"{through}output_tokens"),
        "thoughts": Sum(f"{through}thought_tokens"),
        "spent": Sum(f"{through}usd"),
        "priced": Count(f"{through}usd"),
        "unpriced": Count("pk", filter=no_price),
        "bounds": Count("pk", filter=_is_bound(through)),
        "estimates": Count("pk", filter=_is_estimate(through)),
    }


def _is_bound(through: str) -> Q:
    is_cut_off = Q((f"{through}money__at_least", True))
    for name in ESTIMATES:
        # A key that is not there is neither true nor false.
        key = f"{through}money__{name}"
        is_cut_off &= Q((key, False)) | Q((f"{key}__isnull", True))
    return is_cut_off | Q((f"{through}money__unpriced_searches__gt", 0))


def _is_estimate(through: str) -> Q:
    tokens, price = (Q((f"{through}money__{name}", True)) for name in ESTIMATES)
    return tokens | price


@dataclass(frozen=True, slots=True)
class ShownCost:
    """A sum of money with the mark of how sure it is; `title` is why it is not sure, or not there."""

    text: str
    title: str = ""


def cost_of(exchange: Exchange) -> ShownCost:
    """What one exchange cost; nothing while it is open."""
    if exchange.usd is None:
        counted = exchange.prompt_tokens is not None
        case = "" if exchange.is_open else "unpriced" if counted else "uncounted"
        return ShownCost(costs.NO_SUM, costs.sum_title(case))
    money = money_of(exchange)
    return ShownCost(costs.bound_of(money) + dollars(exchange.usd), costs.sum_title(_case(money)))


def _case(money: Money | None) -> str:
    """Why a sum is not exact, as a key of `costs.SUM_TITLES`."""
    if money is None:
        return ""
    if money.is_bound:
        return "bound"
    return "estimated" if money.estimated else "other_price" if money.other_price else ""


def cost_of_sums(counted: Mapping[str, Any]) -> ShownCost:
    """What exchanges cost together: a lower bound where a price is missing or an answer was cut off, else an
    estimate where one is.
    """
    unpriced = counted["unpriced"]
    if not counted["priced"]:
        return ShownCost(costs.NO_SUM, costs.sum_title("unpriced" if unpriced else "uncounted"))
    bounds, estimates = counted["bounds"], counted["estimates"]
    case = "some_unpriced" if unpriced else "bound" if bounds else "about" if estimates else ""
    mark = costs.mark(missing=unpriced + bounds, estimates=estimates)
    return ShownCost(mark + dollars(counted["spent"]), costs.sum_title(case, unpriced))


def cost_of_session(session: Session) -> str:
    """What a session cost so far, with all that it caused."""
    booked = costs.Spent(session.spent_usd, session.unpriced, session.cut_off, session.estimates)
    return costs.spent(booked, session.emulated_usd)


def sums_by_run(exchanges: QuerySet[Exchange]) -> dict[int, dict[str, Any]]:
    """Run → `sums` of those of its exchanges that are among these."""
    counted = exchanges.order_by().values("run").annotate(**sums())
    return {row["run"]: dict(row) for row in counted}
