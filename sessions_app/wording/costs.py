"""Sums of money and budgets."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import NamedTuple

from sessions_app.prompt.billing import BilledAs, ItemChange
from sessions_app.prompt.bookings import CauseSum, SpendingCause
from sessions_app.prompt.pricing import (
    Budget,
    BudgetScope,
    Money,
    MoneySource,
    PriceTerm,
    TermKind,
    dollars,
    format_rate,
)

TERMS = {
    TermKind.NEW: "{tokens:,} new × ${rate}",
    TermKind.CACHED: "{tokens:,} cached × ${rate}",
    TermKind.TOOL_USE: "{tokens:,} tool use × ${rate}",
    TermKind.OUTPUT: "{tokens:,} output × ${rate}",
    TermKind.THOUGHTS: "{tokens:,} thoughts × ${rate}",
    TermKind.CACHE_MADE: "{tokens:,} cache made × ${rate}",
    TermKind.SEARCH: "searches: {tokens:,} × ${rate} a thousand",
    TermKind.UNKNOWN: "{tokens:,} × ${rate}",
}

TOKEN_KINDS = {
    TermKind.NEW: "New",
    TermKind.CACHED: "Cached",
    TermKind.TOOL_USE: "Tool use",
    TermKind.OUTPUT: "Output",
    TermKind.THOUGHTS: "Thoughts",
    TermKind.CACHE_MADE: "Cache made",
    TermKind.SEARCH: "Searches",
    TermKind.UNKNOWN: "Unknown tokens",
}

CAUSES = {
    SpendingCause.ANSWER: "answers",
    SpendingCause.RETRY: "retries",
    SpendingCause.TITLE: "titles",
    SpendingCause.SUMMARY: "summaries",
    SpendingCause.CACHE_MADE: "making caches",
    SpendingCause.CACHE_KEPT: "keeping caches",
    SpendingCause.EARLIER: "requests that an earlier version booked without their cause",
    SpendingCause.UNKNOWN: "a cause that this version does not know",
}

CHANGES = {
    ItemChange.UNCHANGED: "unchanged",
    ItemChange.BEHIND: "unchanged, behind a change",
    ItemChange.NEW: "new or changed",
    ItemChange.UNKNOWN: "unknown",
}

BILLED = {
    BilledAs.CACHED: "as cached",
    BilledAs.NEW: "as new",
    BilledAs.BOTH: "{cached:,} as cached, {new:,} as new",
    BilledAs.NOTHING: "no token",
    BilledAs.UNKNOWN: "unknown",
}

BOUNDS = {
    "exact": "",
    "estimated": "≈\N{NO-BREAK SPACE}",
    "at_least": "≥\N{NO-BREAK SPACE}",
    "at_most": "≤\N{NO-BREAK SPACE}",
}

NO_SUM = "–"

UNKNOWN = "cost unknown"

SUM_TITLES = {
    "": "",
    "uncounted": "The provider counted nothing",
    "unpriced": "The price is unknown",
    "bound": "At least: an answer was not received to its end, or a search has no price",
    "estimated": "Where the provider counted nothing, the tokens are our estimate",
    "some_unpriced": "At least: {count:,} more without a known price",
}
"""Behind a sum: why it is not exact, or not there."""

AMOUNTS = {
    "paid": "{paid}",
    "emulated": "would have cost {emulated}",
    "both": "{paid}, and the emulator’s would have cost {emulated}",
    "emulated_unknown": "{paid}, and what the emulator’s would have cost is unknown",
}

CAUSE_SUM = "{usd} for {cause}"

EMULATED_EQUATION = "Would have cost: {equation}"

EQUATIONS = {
    "nothing": "nothing counted = {total}",
    "exact": "{terms} = {total}",
    "estimated": "{terms} ≈ {total}",
    "at_least": "{terms} ≥ {total}",
    "other_service": "{terms}: {total}",
}

STANDARD_PRICE = {"sum": "{total} at the standard text price"}
"""Of another service tier, and of tokens that are no text: their prices are not known."""

BUDGETS = {
    BudgetScope.SESSION: "the budget of this chat",
    BudgetScope.TODAY: "your budget for today",
    BudgetScope.THIS_MONTH: "your budget for this month",
    BudgetScope.INSTALLATION_TODAY: "the budget of this installation for today",
    BudgetScope.INSTALLATION_MONTH: "the budget of this installation for this month",
    BudgetScope.UNKNOWN: "a budget",
}

STATES = {
    "near": "{percent} of {name} is spent ({left} left).",
    "spent": "{Name} is spent: {spent} of {limit}.",
    "held": "Answers under way may use up {name} ({left} left).",
}

WAITS = "{state} This one goes on when they have ended."

SHARED_STATES = {
    "near": "{percent} of {name} is spent.",
    "spent": "{Name} is spent.",
    "held": "Answers under way may use up {name}.",
}
"""Of a budget that all people share: no sums."""

REMEDIES = {
    "renewed": "It begins anew on {day.day} {day:%B} at 00:00 UTC. An administrator can raise it.",
    "held": "Ask again when they have ended.",
    "lasting": "It does not begin anew: raise it in the chat's settings, or go on in a new chat.",
}


def equation(money: Money | None, *, is_standard_text: bool = True) -> str:
    """The sum with its products; the rates in it are per million tokens. Empty without a sum."""
    if money is None:
        return ""
    terms = " + ".join(map(_term, money.terms))
    bound = _bound(money) if is_standard_text else "other_service"
    total = priced(dollars(money.total), is_standard_text=is_standard_text)
    told = EQUATIONS[bound if terms else "nothing"].format(terms=terms, total=total)
    return EMULATED_EQUATION.format(equation=told) if money.source is MoneySource.EMULATOR else told


def priced(total: str, *, is_standard_text: bool) -> str:
    """A sum, which is no more than that where other prices may hold."""
    return total if is_standard_text else STANDARD_PRICE["sum"].format(total=total)


def sum_title(case: str, count: int = 0) -> str:
    """`case` is a key of `SUM_TITLES`; `count` of requests without a price."""
    return SUM_TITLES[case].format(count=count)


def bound_of(money: Money | None) -> str:
    """The mark before a sum that is not exact."""
    return BOUNDS[_bound(money)] if money else ""


def _bound(money: Money) -> str:
    return "at_least" if money.is_bound else "estimated" if money.estimated else "exact"


def billed(code: BilledAs, cached: int, new: int) -> str:
    return BILLED[code].format(cached=cached, new=new)


class Spent(NamedTuple):
    """What bookings of one source sum up to. `unpriced` of them have no price, `cut_off` are of answers that
    were not received to their end: these cost more.
    """

    usd: Decimal
    unpriced: int = 0
    cut_off: int = 0

    @property
    def bound(self) -> str:
        return lower_bound(self.unpriced, self.cut_off)

    @property
    def is_unknown(self) -> bool:
        """Whether none of them has a price."""
        return bool(self.unpriced and not self.usd)


def spent(paid: Decimal, emulated: Decimal = Decimal(0), *, unpriced: int, cut_off: int) -> str:
    """What bookings sum up to, of which nobody counted by source how many have no price or were cut off."""
    if unpriced and not paid and not emulated:
        return UNKNOWN
    bound = lower_bound(unpriced, cut_off)
    return amount(paid, emulated, bound, bound)


def spent_by_source(paid: Spent, emulated: Spent) -> str:
    """What bookings sum up to; each part is exact, a lower bound or unknown by itself."""
    if not (paid.is_unknown or emulated.is_unknown):
        return amount(paid.usd, emulated.usd, paid.bound, emulated.bound)
    if not (paid.usd or emulated.usd):
        return UNKNOWN
    return AMOUNTS["emulated_unknown" if emulated.is_unknown else "both"].format(
        paid=UNKNOWN if paid.is_unknown else paid.bound + dollars(paid.usd),
        emulated=emulated.bound + dollars(emulated.usd),
    )


def lower_bound(*missing: int) -> str:
    """The mark before a sum; `missing` are numbers of what cost more than it says."""
    return BOUNDS["at_least" if any(missing) else "exact"]


def amount(paid: Decimal, emulated: Decimal, bound: str = "", emulated_bound: str = "") -> str:
    """What was paid, and what the emulator's answers would have cost; the bounds are marks of `BOUNDS`."""
    case = "both" if paid and emulated else "emulated" if emulated else "paid"
    return AMOUNTS[case].format(paid=bound + dollars(paid), emulated=emulated_bound + dollars(emulated))


def cause_sums(sums: Iterable[CauseSum]) -> str:
    """The sums by cause; empty without any."""
    told = ((known_usd(one.usd, [one]), CAUSES[one.cause]) for one in sums)
    return " + ".join(CAUSE_SUM.format(usd=usd, cause=cause) for usd, cause in told)


def known_usd(usd: Decimal, sums: Sequence[CauseSum]) -> str:
    """A sum of bookings; a lower bound where some cost more, unknown where none has a price."""
    unpriced, cut_off = sum(one.unpriced for one in sums), sum(one.cut_off for one in sums)
    if unpriced and unpriced == sum(one.bookings for one in sums):
        return dollars(None)
    return lower_bound(unpriced, cut_off) + dollars(usd)


def title_of(cause: SpendingCause) -> str:
    name = CAUSES[cause]
    return name[0].upper() + name[1:]


def budget_name(budget: Budget) -> str:
    name = BUDGETS[budget.scope]
    return name[0].upper() + name[1:]


def budget_spent(budget: Budget) -> str:
    return lower_bound(budget.at_least) + dollars(budget.spent)


def budget_percent(budget: Budget) -> str:
    return f"{lower_bound(budget.at_least)}{budget.percent} %"


def budget_left(budget: Budget) -> str:
    """An upper bound where something cost more than is known; nothing is exact."""
    return BOUNDS["at_most" if budget.at_least and budget.left else "exact"] + dollars(budget.left)


def budget_state(budget: Budget) -> str:
    """That a budget is spent or held, or how much of it is spent."""
    case = "spent" if budget.is_spent else "held" if budget.is_held else "near"
    return (SHARED_STATES if budget.is_shared else STATES)[case].format(
        percent=budget_percent(budget),
        name=BUDGETS[budget.scope],
        Name=budget_name(budget),
        left=budget_left(budget),
        spent=budget_spent(budget),
        limit=dollars(budget.limit),
    )


def budget_states(budgets: Iterable[Budget]) -> str:
    return " ".join(map(budget_state, budgets))


def waits(budget: Budget | None) -> str:
    """Why a request is not sent yet."""
    return WAITS.format(state=budget_state(budget) if budget else "").strip()


def budget_remedy(budget: Budget) -> str:
    """When it begins anew, and who can change it; of one that is held, what it waits for."""
    if budget.is_held:
        return REMEDIES["held"]
    if budget.renewed_on is None:
        return REMEDIES["lasting"]
    return REMEDIES["renewed"].format(day=budget.renewed_on)


def _term(term: PriceTerm) -> str:
    return TERMS[term.name].format(tokens=term.tokens, rate=format_rate(term.rate))
