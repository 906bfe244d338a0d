"""Budgets: how much of one is spent, and when it begins anew."""

from collections.abc import Iterable

from sessions_app.prompt.pricing import Budget, BudgetScope, dollars
from sessions_app.wording import costs

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

THEN = {
    BudgetScope.SESSION: "the budget of this chat",
    BudgetScope.TODAY: "your budget for that day",
    BudgetScope.THIS_MONTH: "your budget for that month",
    BudgetScope.INSTALLATION_TODAY: "the budget of this installation for that day",
    BudgetScope.INSTALLATION_MONTH: "the budget of this installation for that month",
    BudgetScope.UNKNOWN: "a budget",
}
"""Their names in what is told of the past."""

WHEN_SENT = "When its last request was sent, {percent} of {name} was spent ({left} left)."

SHARED_WHEN_SENT = "When its last request was sent, {percent} of {name} was spent."

WAITS = "{state} This one goes on when they have ended."

SHARED_STATES = {
    "near": "{percent} of {name} is spent.",
    "spent": "{Name} is spent.",
    "held": "Answers under way may use up {name}.",
}
"""For a budget that all people share. It shows no sums, which would tell what others have spent."""

REMEDIES = {
    "renewed": "It begins anew on {day.day} {day:%B} at 00:00 UTC. An administrator can raise it.",
    "held": "Ask again when they have ended.",
    "lasting": "It does not begin anew: raise it in the chat's settings, or go on in a new chat.",
}


def name(budget: Budget) -> str:
    told = BUDGETS[budget.scope]
    return told[0].upper() + told[1:]


def spent(budget: Budget) -> str:
    return _mark(budget) + dollars(budget.spent)


def percent(budget: Budget) -> str:
    return f"{_mark(budget)}{budget.percent} %"


def left(budget: Budget) -> str:
    """An upper bound where something cost more than is known, else an estimate where what is spent is one."""
    bound = "at_most" if budget.at_least and budget.left else "exact"
    return (costs.BOUNDS[bound] if budget.at_least else _mark(budget)) + dollars(budget.left)


def state(budget: Budget) -> str:
    """That a budget is spent or held, or how much of it is spent."""
    case = "spent" if budget.is_spent else "held" if budget.is_held else "near"
    return (SHARED_STATES if budget.is_shared else STATES)[case].format(
        percent=percent(budget),
        name=BUDGETS[budget.scope],
        Name=name(budget),
        left=left(budget),
        spent=spent(budget),
        limit=dollars(budget.limit),
    )


def states(budgets: Iterable[Budget]) -> str:
    return " ".join(map(state, budgets))


def when_sent(budgets: Iterable[Budget]) -> str:
    """How much of budgets was spent before the last request of an answer, which is read at any later time."""
    return " ".join(
        (SHARED_WHEN_SENT if budget.is_shared else WHEN_SENT).format(
            percent=percent(budget), name=THEN[budget.scope], left=left(budget)
        )
        for budget in budgets
    )


def waits(budget: Budget | None) -> str:
    """Why a request is not sent yet."""
    return WAITS.format(state=state(budget) if budget else "").strip()


def remedy(budget: Budget) -> str:
    """When it begins anew, and who can change it; of one that is held, what it waits for."""
    if budget.is_held:
        return REMEDIES["held"]
    if budget.renewed_on is None:
        return REMEDIES["lasting"]
    return REMEDIES["renewed"].format(day=budget.renewed_on)


def _mark(budget: Budget) -> str:
    return costs.mark(missing=budget.at_least, estimates=budget.estimated)
