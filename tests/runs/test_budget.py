from datetime import timedelta
from decimal import Decimal

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.utils import timezone

from sessions_app.models import Allowance, Exchange, Run, Session, SessionSettings, Spending
from sessions_app.runs.budget import Budget, budgets_of, personal_budgets
from tests.factories import make_session
from tests.prices import make_price
from tests.runs.conftest import Ask


def book(owner: User, usd: str, days_ago: int = 0) -> None:
    day = timezone.now().date() - timedelta(days=days_ago)
    Spending.objects.create(owner=owner, day=day, model="m", usd=Decimal(usd))


def budget(spent: str, limit: str = "10") -> Budget:
    return Budget("Your budget for today", Decimal(limit), Decimal(spent), 80, "Wait.")


@pytest.mark.parametrize(
    ("spent", "near", "over"),
    [("7.99", False, False), ("8", True, False), ("9.999", True, False), ("10", False, True)],
)
def test_a_budget_warns_and_then_stops(spent: str, near: bool, over: bool) -> None:
    assert (budget(spent).is_near, budget(spent).is_spent) == (near, over)


def test_a_budget_of_nothing_is_spent() -> None:
    assert budget("0", "0").is_spent


def test_a_warning_says_which_and_how_much_is_left() -> None:
    assert budget("8.5").warning == "85 % of your budget for today is spent ($1.50 left)."


def test_without_limits_there_is_no_budget(alice: User) -> None:
    assert budgets_of(make_session(alice), SessionSettings()) == []


def test_a_day_and_a_month_are_counted_apart(alice: User, bob: User) -> None:
    Allowance.objects.create(owner=alice, usd_per_day=1, usd_per_month=50)
    book(alice, "0.25")
    book(bob, "40")
    book(alice, "30", days_ago=40)
    today, month = personal_budgets(alice.pk)
    assert (today.spent, month.spent) == (Decimal("0.25"), Decimal("0.25"))
    assert "An administrator can raise it" in month.remedy and " 1 " in month.remedy


def test_caches_count_too(alice: User) -> None:
    Allowance.objects.create(owner=alice, usd_per_day=1)
    day = timezone.now().date()
    Spending.objects.create(owner=alice, day=day, model="m", cache_usd=1, storage_usd=2)
    assert personal_budgets(alice.pk)[0].spent == 3


def test_all_budgets_of_a_request_are_one_statement(
    alice: User, django_assert_num_queries: pytest.FixtureRequest
) -> None:
    Allowance.objects.create(owner=alice, usd_per_day=1, usd_per_month=50)
    session = make_session(alice)
    with django_assert_num_queries(1):  # type: ignore[operator]
        assert len(budgets_of(session, SessionSettings(budget_usd=2))) == 3


async def limit(session: Session, usd: float) -> None:
    await Session.objects.filter(pk=session.pk).aupdate(settings={"budget_usd": usd})


async def test_a_spent_budget_stops_before_the_call(ask: Ask, session: Session) -> None:
    await limit(session, 0.5)
    await Session.objects.filter(pk=session.pk).aupdate(spent_usd=Decimal("0.5"))
    run = await ask("Hello")
    assert run.status == Run.Status.FAILED and run.error["kind"] == "BudgetSpent"
    assert "$0.5000 of $0.5000" in run.error["message"] and run.error["hint"].startswith("Nothing was sent.")
    assert not await Exchange.objects.aexists()
    assert [stage["status"] for stage in run.stages if stage["name"] == "check_budget"] == ["blocked"]


async def test_a_budget_that_is_nearly_spent_is_said_at_the_answer(ask: Ask, session: Session) -> None:
    await sync_to_async(make_price)("gemini-3-flash-preview")
    await limit(session, 10)
    await Session.objects.filter(pk=session.pk).aupdate(spent_usd=Decimal(9))
    await ask("Hello")
    exchange = await Exchange.objects.aget()
    assert exchange.money["notice"].startswith("90 % of the budget of this session is spent")
