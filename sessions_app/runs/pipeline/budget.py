"""Before anything is prepared: whether there is money left for it."""

from decimal import Decimal

from sessions_app.errors import BudgetSpent
from sessions_app.prompt.pricing import dollars
from sessions_app.runs.budget import Budget, budgets_of
from sessions_app.runs.pipeline.work import Report, Work


def check(work: Work) -> Report:
    """Raises BudgetSpent when a budget is used up. One that is nearly so is a warning."""
    budgets = budgets_of(work.session, work.options, is_limited=work.is_limited)
    for budget in budgets:
        if budget.is_spent:
            raise BudgetSpent(budget.spent_words, hint=f"Nothing was sent. {budget.remedy}")
    near = tuple(budget.warning for budget in budgets if budget.is_near)
    work.warning = " ".join(near)
    return Report(f"{len(budgets)} budgets", _left(budgets), "noticed" if near else "ok", near)


def _left(budgets: list[Budget]) -> str:
    if not budgets:
        return "no limit"
    return f"{dollars(min((budget.left for budget in budgets), default=Decimal(0)))} left"
