"""Limits on what a run may spend, as a pure check and at work."""

from collections.abc import AsyncIterator
from datetime import timedelta
from decimal import Decimal

import orjson
import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.context.allowances import rules_of
from sessions_app.errors import LimitReached
from sessions_app.gemini.gateway import Gateway
from sessions_app.models import (
    Allowance,
    Exchange,
    Notification,
    Run,
    Session,
    SessionSettings,
    Spending,
    Turn,
)
from sessions_app.prompt.pricing import Budget, BudgetScope, MoneySource
from sessions_app.prompt.turns import TurnKind
from sessions_app.runs.budgets import Spender
from sessions_app.runs.limits import RunUsage, reached_limit, usage_of
from sessions_app.runs.runner import Runner
from tests.factories import finish, make_exchange, make_run, make_session
from tests.prices import make_price
from tests.runs.conftest import Ask
from tests.runs.running import Provider, running, send


def book(owner: User, usd: str, days_ago: int = 0) -> None:
    day = timezone.now().date() - timedelta(days=days_ago)
    Spending.objects.create(owner=owner, day=day, model="m", usd=Decimal(usd))


def budget(spent: str, limit: str = "10") -> Budget:
    return Budget(BudgetScope.TODAY, Decimal(limit), Decimal(spent), 80)


@pytest.mark.parametrize(
    ("spent", "near", "over"),
    [("7.99", False, False), ("8", True, False), ("9.999", True, False), ("10", False, True)],
)
def test_a_budget_warns_and_then_stops(spent: str, near: bool, over: bool) -> None:
    assert (budget(spent).is_near, budget(spent).is_spent) == (near, over)


def test_a_budget_of_nothing_is_spent() -> None:
    assert budget("0", "0").is_spent


def test_without_limits_there_is_no_budget(alice: User) -> None:
    assert Spender.of(make_session(alice), SessionSettings()).budgets() == []


def test_a_day_and_a_month_are_counted_apart(alice: User, bob: User) -> None:
    Allowance.objects.create(owner=alice, usd_per_day=1, usd_per_month=50)
    book(alice, "0.25")
    book(bob, "40")
    book(alice, "30", days_ago=40)
    today, month = Spender.person(alice.pk).budgets()
    assert (today.spent, month.spent) == (Decimal("0.25"), Decimal("0.25"))
    assert (today.scope, month.scope) == (BudgetScope.TODAY, BudgetScope.THIS_MONTH)
    now = timezone.now().date()
    assert today.renewed_on == now + timedelta(days=1)
    assert month.renewed_on and month.renewed_on.day == 1 and month.renewed_on > now


def test_caches_count_too(alice: User) -> None:
    Allowance.objects.create(owner=alice, usd_per_day=1)
    day = timezone.now().date()
    Spending.objects.create(owner=alice, day=day, model="m", cache_usd=1, storage_usd=2)
    assert Spender.person(alice.pk).budgets()[0].spent == 3


@pytest.mark.parametrize("counts", [False, True])
def test_the_emulators_money_counts_only_when_asked(alice: User, counts: bool) -> None:
    Allowance.objects.create(owner=alice, usd_per_day=9, counts_emulator=counts)
    book(alice, "0.25")
    day = timezone.now().date()
    Spending.objects.create(owner=alice, day=day, model="m", usd=4, source=MoneySource.EMULATOR)
    session = make_session(alice, spent_usd=5, emulated_usd=4)
    own, today = Spender.of(session, SessionSettings(budget_usd=9)).budgets()
    wanted = ["5", "4.25"] if counts else ["1", "0.25"]
    assert [own.spent, today.spent] == [Decimal(usd) for usd in wanted]


def test_without_an_allowance_the_emulators_money_is_no_budgets(alice: User) -> None:
    session = make_session(alice, spent_usd=5, emulated_usd=4)
    assert [one.spent for one in Spender.of(session, SessionSettings(budget_usd=9)).budgets()] == [1]


@pytest.mark.parametrize("missing", ["unpriced", "cut_off"])
def test_a_budget_tells_that_something_of_it_cost_more(alice: User, bob: User, missing: str) -> None:
    Allowance.objects.create(owner=alice, usd_per_day=1, usd_per_month=50)
    Allowance.objects.create(is_ceiling=True, usd_per_day=70)
    today = timezone.now().date()
    sessions = [make_session(alice), make_session(alice, **{missing: 1})]

    def bounds() -> list[bool]:
        options = SessionSettings(budget_usd=2)
        return [one.at_least for own in sessions for one in Spender.of(own, options).budgets()]

    Spending.objects.create(owner=alice, day=today - timedelta(days=40), model="m", usd=1, **{missing: 1})
    assert bounds() == [False, False, False, False, True, False, False, False]
    Spending.objects.create(owner=bob, day=today, model="m", usd=1, **{missing: 1})
    assert bounds() == [False, False, False, True, True, False, False, True]
    Spending.objects.create(owner=alice, day=today, model="m", usd=1, **{missing: 1})
    assert bounds() == [False, True, True, True, True, True, True, True]


def test_all_budgets_of_a_request_are_one_statement(
    alice: User, django_assert_num_queries: pytest.FixtureRequest
) -> None:
    Allowance.objects.create(owner=alice, usd_per_day=1, usd_per_month=50)
    session = make_session(alice)
    assert rules_of(alice.pk)
    with django_assert_num_queries(1):  # type: ignore[operator]
        assert len(Spender.of(session, SessionSettings(budget_usd=2)).budgets()) == 3


def test_a_continuation_counts_the_run_before_it_in_its_own_session(alice: User) -> None:
    session, other = make_session(alice), make_session(alice)
    for one, tokens in ((session, 5), (other, 700), (session, 20)):
        run = make_run(one)
        exchange = make_exchange(run)
        Exchange.objects.filter(pk=exchange.pk).update(
            prompt_tokens=tokens, output_tokens=0, thought_tokens=0
        )
        finish(run)
    run.continuations = 1
    assert usage_of(run).tokens == 25


async def limit(session: Session, usd: float) -> None:
    await Session.objects.filter(pk=session.pk).aupdate(settings={"budget_usd": usd})


async def test_a_spent_budget_stops_before_the_call(ask: Ask, session: Session) -> None:
    await limit(session, 0.5)
    await Session.objects.filter(pk=session.pk).aupdate(spent_usd=Decimal("0.5"))
    run = await ask("Hello")
    assert run.status == Run.Status.FAILED and run.error["kind"] == "BudgetSpent"
    assert not await Exchange.objects.aexists()
    assert [stage["status"] for stage in run.stages if stage["name"] == "check_budget"] == ["blocked"]


async def test_a_nearly_spent_budget_is_stored_with_the_answer(ask: Ask, session: Session) -> None:
    await sync_to_async(make_price)("gemini-3-flash-preview")
    await limit(session, 10)
    await Session.objects.filter(pk=session.pk).aupdate(spent_usd=Decimal(9))
    await ask("Hello")
    exchange = await Exchange.objects.aget()
    stored = [Budget.restored(one) for one in exchange.money["budgets"]]
    assert [(one.scope, one.percent) for one in stored if one] == [(BudgetScope.SESSION, 90)]


CALL = b'{"functionCall":{"name":"current_time","args":{}},"thoughtSignature":"c2lnbmVk"}'
LIMITS = SessionSettings(max_rounds=3, max_tokens=100, max_usd=0.5, max_seconds=60)


@pytest.mark.parametrize(
    ("spent", "limit"),
    [
        (RunUsage(), None),
        (RunUsage(2, 99, Decimal("0.49"), 59), None),
        (RunUsage(rounds=3), "max_rounds"),
        (RunUsage(tokens=100), "max_tokens"),
        (RunUsage(usd=Decimal("0.5")), "max_usd"),
        (RunUsage(seconds=60), "max_seconds"),
    ],
)
def test_a_limit_is_reached_at_its_value(spent: RunUsage, limit: str | None) -> None:
    found = reached_limit(spent, LIMITS)
    assert (found and found.reason) == limit


def test_a_reached_limit_has_its_code_and_figures() -> None:
    found = reached_limit(RunUsage(tokens=1_234), LIMITS)
    assert found is not None
    assert (found.reason, found.figures) == ("max_tokens", {"spent": 1_234, "limit": 100})


@given(st.integers(0, 10**3), st.integers(0, 10**7), st.decimals(0, 1000, places=4), st.floats(0, 10**6))
def test_without_limits_none_is_reached(rounds: int, tokens: int, usd: Decimal, seconds: float) -> None:
    free = SessionSettings(max_rounds=None, max_tokens=None, max_usd=None, max_seconds=None)
    assert reached_limit(RunUsage(rounds, tokens, usd, seconds), free) is None


@given(st.integers(0, 20), st.integers(0, 200))
def test_spending_more_never_frees_a_run(rounds: int, tokens: int) -> None:
    if reached_limit(RunUsage(rounds, tokens), LIMITS) is not None:
        assert reached_limit(RunUsage(rounds + 1, tokens + 1), LIMITS) is not None


def test_a_continuation_shares_the_limits_of_what_it_continues(alice: User) -> None:
    session = make_session(alice)
    for usd in ("0.25", "0.01"):
        run = make_run(session)
        make_exchange(run, usd=Decimal(usd))
        run.end(Run.Status.COMPLETED)
    second = make_run(session)
    second.continuations = 1
    make_exchange(second, usd=None)
    spent = usage_of(second, rounds=4)
    assert (spent.rounds, spent.tokens, spent.usd) == (4, 2 * 1_340, Decimal("0.01"))
    assert spent.seconds >= 0


@pytest.fixture
def provider() -> Provider:
    return Provider()


@pytest.fixture
async def runner(session: Session, provider: Provider) -> AsyncIterator[Runner]:
    async with running(Gateway(api_key="test", transport=provider)) as runner:
        yield runner


async def held(runner: Runner, session: Session, provider: Provider, **limits: object) -> Run:
    """A run whose model never stops calling, under these limits."""
    await Session.objects.filter(pk=session.pk).aupdate(settings=limits)
    provider.parts = [CALL]
    public = await send(runner, session, "go")
    await runner.drain()
    return await Run.objects.aget(public=public)


async def test_a_run_at_its_limit_fails_with_a_valid_history(
    runner: Runner, session: Session, provider: Provider
) -> None:
    run = await held(runner, session, provider, max_rounds=2)
    assert (run.status, run.error["kind"]) == (Run.Status.FAILED, "LimitReached")
    assert (run.error["reason"], run.error["figures"]) == ("max_rounds", {"spent": 2, "limit": 2})
    head = await Turn.objects.filter(session=session).select_related("content").order_by("-depth").afirst()
    assert head is not None and head.kind == TurnKind.TOOL_RESPONSE and b"error" in head.wire


async def test_a_message_after_a_limit_starts_a_run(
    runner: Runner, session: Session, provider: Provider
) -> None:
    await held(runner, session, provider, max_rounds=1)
    provider.parts = [b'{"text":"Here is what I have."}']
    public = await send(runner, session, "Answer with what you have.")
    await runner.drain()
    assert (await Run.objects.aget(public=public)).status == Run.Status.COMPLETED


async def test_no_tool_runs_whose_answer_nobody_may_read(
    runner: Runner, session: Session, provider: Provider
) -> None:
    await held(runner, session, provider, max_seconds=1, max_rounds=1)
    assert len(provider.requests) == 2


async def test_a_limit_is_notified_once_until_it_is_seen(
    runner: Runner, session: Session, provider: Provider
) -> None:
    run = await held(runner, session, provider, max_rounds=1)
    from sessions_app.runs.limits import check_limits

    run = await Run.objects.select_related("session").aget(pk=run.pk)
    with pytest.raises(LimitReached):
        await sync_to_async(check_limits)(run, 5)
    noted = await Notification.objects.aget(session=session)
    assert (noted.kind, noted.source, noted.status) == ("guard_rail", "max_rounds", "unseen")


async def test_a_cut_answer_beyond_a_limit_is_not_continued(
    runner: Runner, session: Session, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    await Session.objects.filter(pk=session.pk).aupdate(settings={"max_tokens": 1})
    usage = {"promptTokenCount": 5, "candidatesTokenCount": 5, "totalTokenCount": 10}
    provider.last = orjson.dumps(
        {
            "candidates": [{"content": {"parts": [{"text": "…"}]}, "finishReason": "MAX_TOKENS"}],
            "usageMetadata": usage,
        }
    )
    provider.parts = [b'{"text":"It is"}']
    await send(runner, session, "go")
    await runner.drain()
    kinds = {(one.kind, one.status) async for one in Notification.objects.all()}
    assert await Run.objects.acount() == 1
    assert kinds == {("max_tokens_truncated", "blocked"), ("guard_rail", "unseen")}
    last = await Exchange.objects.alast()
    assert last is not None and last.stages[-1]["status"] == "blocked"
