"""What exchanges counted and cost: of one in its row, of several in a heading and in totals."""

from collections.abc import Mapping
from dataclasses import dataclass
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


def is_cut_off(exchange: Exchange) -> bool:
    """Whether the answer ended before its end: its tokens are those that the provider had counted by then."""
    is_unended = exchange.outcome in WITHOUT_END and not exchange.finish_reason
    return is_unended or exchange.verdict_figures.get("reason") == VerdictReason.CUT_OFF.value


def equation_of(exchange: Exchange) -> str:
    """Its cost as a sum; empty where it is unknown."""
    money = Money.restored(exchange.money)
    return costs.equation(money, is_standard_text=is_standard_text(exchange.usage))


def sums(through: str = "") -> dict[str, Any]:
    """The aggregates that `cost_of_sums` takes; `through` leads from a row to its exchange (`exchange__`).

    `unpriced`: an answer came and its price is not known; nothing is charged where none came. When it began
    is not known of every imported one. `bounds`: as `Money.is_bound`.
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
    }


def _is_bound(through: str = "") -> Q:
    return Q((f"{through}money__at_least", True)) | Q((f"{through}money__unpriced_searches__gt", 0))


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
    money = Money.restored(exchange.money)
    case = "bound" if money and money.is_bound else "estimated" if money and money.estimated else ""
    return ShownCost(costs.bound_of(money) + dollars(exchange.usd), costs.sum_title(case))


def cost_of_sums(counted: Mapping[str, Any]) -> ShownCost:
    """What exchanges cost together: a lower bound where a price is missing or an answer was cut off."""
    unpriced = counted["unpriced"]
    if not counted["priced"]:
        return ShownCost(costs.NO_SUM, costs.sum_title("unpriced" if unpriced else "uncounted"))
    case = "some_unpriced" if unpriced else "bound" if counted["bounds"] else ""
    mark = costs.BOUNDS["at_least" if case else "exact"]
    return ShownCost(mark + dollars(counted["spent"]), costs.sum_title(case, unpriced))


def cost_of_session(session: Session) -> str:
    """What a session cost so far, with all that it caused."""
    emulated = session.emulated_usd
    return costs.spent(
        session.spent_usd - emulated, emulated, unpriced=session.unpriced, cut_off=session.cut_off
    )


def sums_by_run(exchanges: QuerySet[Exchange]) -> dict[int, dict[str, Any]]:
    """Run → `sums` of those of its exchanges that are among these."""
    counted = exchanges.order_by().values("run").annotate(**sums())
    return {row["run"]: dict(row) for row in counted}
