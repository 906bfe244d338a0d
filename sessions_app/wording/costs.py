"""Sums of money and budgets."""

from collections.abc import Iterable

from sessions_app.prompt.pricing import Budget, BudgetScope, Money, PriceTerm, TermKind, dollars, format_rate

TERMS = {
    TermKind.NEW: "{tokens:,} new × ${rate}",
    TermKind.CACHED: "{tokens:,} cached × ${rate}",
    TermKind.TOOL_USE: "{tokens:,} tool use × ${rate}",
    TermKind.OUTPUT: "{tokens:,} output × ${rate}",
    TermKind.THOUGHTS: "{tokens:,} thoughts × ${rate}",
    TermKind.CACHE_MADE: "{tokens:,} cache made × ${rate}",
    TermKind.UNKNOWN: "{tokens:,} × ${rate}",
}

EQUATIONS = {
    "nothing": "nothing counted = {total}",
    "exact": "{terms} = {total}",
    "estimated": "{terms} ≈ {total}",
    "at_least": "{terms} ≥ {total}",
}

BUDGETS = {
    BudgetScope.SESSION: "the budget of this session",
    BudgetScope.TODAY: "your budget for today",
    BudgetScope.THIS_MONTH: "your budget for this month",
    BudgetScope.UNKNOWN: "a budget",
}

STATES = {
    "near": "{percent} % of {name} is spent ({left} left).",
    "spent": "{Name} is spent: {spent} of {limit}.",
}

REMEDIES = {
    "renewed": "It begins anew on {day.day} {day:%B} at 00:00 UTC. An administrator can raise it.",
    "lasting": "It does not begin anew: raise it in the session's settings, or go on in a new session.",
}


def equation(money: Money | None) -> str:
    """The sum with its products; the rates in it are per million tokens. Empty without a sum."""
    if money is None:
        return ""
    bound = "at_least" if money.at_least else "estimated" if money.estimated else "exact"
    terms = " + ".join(map(_term, money.terms))
    return EQUATIONS[bound if terms else "nothing"].format(terms=terms, total=dollars(money.total))


def budget_name(budget: Budget) -> str:
    name = BUDGETS[budget.scope]
    return name[0].upper() + name[1:]


def budget_state(budget: Budget) -> str:
    """That a budget is spent, or how much of it."""
    return STATES["spent" if budget.is_spent else "near"].format(
        percent=budget.percent,
        name=BUDGETS[budget.scope],
        Name=budget_name(budget),
        left=dollars(budget.left),
        spent=dollars(budget.spent),
        limit=dollars(budget.limit),
    )


def budget_states(budgets: Iterable[Budget]) -> str:
    return " ".join(map(budget_state, budgets))


def budget_remedy(budget: Budget) -> str:
    """When it begins anew, and who can change it."""
    if budget.renewed_on is None:
        return REMEDIES["lasting"]
    return REMEDIES["renewed"].format(day=budget.renewed_on)


def _term(term: PriceTerm) -> str:
    return TERMS[term.name].format(tokens=term.tokens, rate=format_rate(term.rate))
