"""Sentences about money: sums, their products, bookings and budgets."""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal

from sessions_app.prompt.billing import BilledAs
from sessions_app.prompt.bookings import CauseSum, SpendingCause
from sessions_app.prompt.pricing import Budget, BudgetScope, Money, MoneySource, PriceTerm, TermKind
from sessions_app.wording import budgets, costs

TERMS = tuple(PriceTerm(kind, 1_000, Decimal("0.50")) for kind in TermKind)
SUMS = (
    Money(()),
    Money(TERMS),
    Money(TERMS, at_least=True),
    Money(TERMS, estimated=True),
    Money(TERMS, other_price=True),
    Money(TERMS, source=MoneySource.EMULATOR),
)

BUDGETS = (
    *(Budget(scope, Decimal(10), Decimal("8.5"), 80) for scope in BudgetScope),
    *(Budget(scope, Decimal(10), Decimal(9), 80, held=Decimal(1)) for scope in BudgetScope),
    Budget(BudgetScope.INSTALLATION_TODAY, Decimal(10), Decimal(11), 80, date(2026, 11, 23)),
    Budget(BudgetScope.TODAY, Decimal(10), Decimal(11), 80, date(2026, 11, 23)),
)


def money_sentences() -> Iterator[str]:
    yield from map(costs.equation, SUMS)
    yield from map(costs.bound_of, (None, *SUMS))
    for budget in BUDGETS:
        yield from (budgets.state(budget), budgets.remedy(budget), budgets.waits(budget))
        yield budgets.when_sent([budget])
    yield from _sums_of_bookings()
    yield from (costs.billed(way, 1_000, 20) for way in BilledAs)
    yield from (*costs.TOKEN_KINDS.values(), *costs.CHANGES.values())
    yield from (costs.sum_title(case, 2) for case in costs.SUM_TITLES)


def _sums_of_bookings() -> Iterator[str]:
    some, nothing = Decimal("0.5"), Decimal(0)
    for bound in costs.BOUNDS.values():
        sums = ((some, nothing), (nothing, some), (some, some))
        yield from (costs.amount(*each, bound, bound) for each in sums)
    for paid in (costs.Spent(some), costs.Spent(nothing, 1)):
        yield from (costs.spent_by_source(paid, costs.Spent(each, 1)) for each in (nothing, some))
    yield costs.cause_sums(CauseSum(cause, some, 2, unpriced) for unpriced, cause in enumerate(SpendingCause))
    yield from map(costs.title_of, SpendingCause)
