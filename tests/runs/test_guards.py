"""Limits on what a run may spend, as a pure check and at work."""

from collections.abc import AsyncIterator
from decimal import Decimal

import orjson
import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.gemini.gateway import Gateway
from sessions_app.models import Exchange, Notification, Run, Session, SessionSettings, Turn
from sessions_app.prompt.turns import TurnKind
from sessions_app.runs.guards import Spent, rail_before
from sessions_app.runs.onward import spent_in
from sessions_app.runs.runner import Runner
from tests.factories import make_exchange, make_run, make_session
from tests.runs.provider import Provider
from tests.runs.running import running
from tests.runs.viewing import send

CALL = b'{"functionCall":{"name":"current_time","args":{}},"thoughtSignature":"c2lnbmVk"}'
LIMITS = SessionSettings(max_rounds=3, max_tokens=100, max_usd=0.5, max_seconds=60)


@pytest.mark.parametrize(
    ("spent", "rail"),
    [
        (Spent(), None),
        (Spent(2, 99, Decimal("0.49"), 59), None),
        (Spent(rounds=3), "max_rounds"),
        (Spent(tokens=100), "max_tokens"),
        (Spent(usd=Decimal("0.5")), "max_usd"),
        (Spent(seconds=60), "max_seconds"),
    ],
)
def test_a_limit_is_reached_at_its_value(spent: Spent, rail: str | None) -> None:
    found = rail_before(spent, LIMITS)
    assert (found and found.rail) == rail


def test_a_rail_says_which_what_and_where_to_change_it() -> None:
    found = rail_before(Spent(tokens=1_234), LIMITS)
    assert found is not None
    assert found.message == "A guard rail ended this: 1,234 tokens of at most 100."
    assert "What was done is kept." in found.hint and "Going on, limits, budget" in found.hint


@given(st.integers(0, 10**7), st.decimals(0, 1000, places=4), st.floats(0, 10**6))
def test_without_limits_only_rounds_hold(tokens: int, usd: Decimal, seconds: float) -> None:
    free = SessionSettings(max_tokens=None, max_usd=None, max_seconds=None)
    assert rail_before(Spent(0, tokens, usd, seconds), free) is None


@given(st.integers(0, 20), st.integers(0, 200))
def test_spending_more_never_frees_a_run(rounds: int, tokens: int) -> None:
    if rail_before(Spent(rounds, tokens), LIMITS) is not None:
        assert rail_before(Spent(rounds + 1, tokens + 1), LIMITS) is not None


def test_a_continuation_shares_the_limits_of_what_it_continues(alice: User) -> None:
    session = make_session(alice)
    for usd in ("0.25", "0.01"):
        run = make_run(session)
        make_exchange(run, usd=Decimal(usd))
        run.end(Run.Status.COMPLETED)
    second = make_run(session)
    second.continuations = 1
    make_exchange(second, usd=None)
    spent = spent_in(second, rounds=4)
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


async def test_a_run_ends_in_order_at_its_rail(runner: Runner, session: Session, provider: Provider) -> None:
    run = await held(runner, session, provider, max_rounds=2)
    assert (run.status, run.error["kind"]) == (Run.Status.FAILED, "GuardRail")
    assert "2 rounds of tools of at most 2" in run.error["message"]
    head = await Turn.objects.filter(session=session).select_related("content").order_by("-depth").afirst()
    assert head is not None and head.kind == TurnKind.TOOL_RESPONSE and b"error" in head.wire


async def test_after_a_rail_a_message_goes_on(runner: Runner, session: Session, provider: Provider) -> None:
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


async def test_a_rail_is_told_once_while_nobody_has_seen_it(
    runner: Runner, session: Session, provider: Provider
) -> None:
    run = await held(runner, session, provider, max_rounds=1)
    from sessions_app.runs.onward import hold

    run = await Run.objects.select_related("session").aget(pk=run.pk)
    with pytest.raises(Exception, match="guard rail"):
        await sync_to_async(hold)(run, 5)
    noted = await Notification.objects.aget(session=session)
    assert (noted.kind, noted.source, noted.status) == ("guard_rail", "max_rounds", "unseen")


async def test_a_cut_answer_beyond_a_rail_does_not_go_on(
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
