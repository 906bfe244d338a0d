"""What pages of staff call the budgets that apply to somebody else."""

from collections.abc import Mapping

from sessions_app.prompt.pricing import Budget, BudgetScope
from sessions_app.wording import costs

OF_PERSON: Mapping[BudgetScope, str] = {
    BudgetScope.TODAY: "The person’s budget for today",
    BudgetScope.THIS_MONTH: "The person’s budget for this month",
}
"""Where the name of a budget speaks to its person."""


def budget_of_person(budget: Budget) -> str:
    return OF_PERSON.get(budget.scope) or costs.budget_name(budget)
