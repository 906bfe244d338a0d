"""Waiting and asking again: when, how long, and never after the first token."""

import asyncio

import pytest

from sessions_app.errors import (
    BadRequest,
    BrokenStream,
    CacheGone,
    GatewayError,
    ProviderDown,
    QuotaExceeded,
    Unreachable,
)
from sessions_app.models import Exchange, Run, Session
from sessions_app.runs.patience import Patience
from sessions_app.runs.runner import Runner
from tests.runs.conftest import Ask
from tests.runs.viewing import send, watch

PER_DAY = {
    "error": {"details": [{"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}]}
}


@pytest.mark.parametrize("error", [ProviderDown("down"), Unreachable("away"), QuotaExceeded("slow down")])
def test_a_passing_trouble_is_worth_another_try(error: GatewayError) -> None:
    assert Patience().pause(error, 1, used_cache=False)


@pytest.mark.parametrize(
    "error", [BadRequest("no"), BrokenStream("garbled"), QuotaExceeded("day", details=PER_DAY)]
)
def test_what_will_not_pass_is_not_tried_again(error: GatewayError) -> None:
    assert Patience().pause(error, 1, used_cache=False) is None


def test_the_pauses_grow_and_end() -> None:
    patience = Patience(tries=4, base=1)
    pauses = [patience.pause(ProviderDown("down"), failures, used_cache=False) for failures in (1, 2, 3, 4)]
    first, second, third = pauses[:3]
    assert first and second and third and 1 <= first < 2 <= second < 4 <= third <= 5
    assert pauses[3] is None


def test_the_providers_own_delay_is_honoured() -> None:
    assert Patience().pause(QuotaExceeded("wait", retry_after=21), 1, used_cache=False) == 21


def test_a_delay_that_is_too_long_is_left_to_the_person() -> None:
    assert Patience(longest=60).pause(QuotaExceeded("wait", retry_after=3600), 1, used_cache=False) is None


def test_a_dead_cache_is_sent_again_at_once_but_only_when_it_was_named() -> None:
    assert Patience().pause(CacheGone("gone"), 1, used_cache=True) == 0
    assert Patience().pause(CacheGone("gone"), 1, used_cache=False) is None


async def test_an_overload_is_waited_out_in_sight_and_both_attempts_are_kept(
    runner: Runner, session: Session
) -> None:
    events = await watch(runner, session, await send(runner, session, "/error 503 once"))
    waits = [event["wait"] for event in events if event["type"] == "status"]
    first, second = [exchange async for exchange in Exchange.objects.order_by("number")]
    assert events[-1]["status"] == "completed" and len(waits) == 2 and waits[1] == 0
    assert first.error["kind"] == "ProviderDown" and second.resend_of_id == first.pk


async def test_stop_ends_the_waiting(runner: Runner, session: Session) -> None:
    # The emulator's 429 asks for two seconds, more than this runner is willing to wait; 503 has no delay.
    runner._engine._patience = Patience(base=30)
    run = await send(runner, session, "/error 503")
    await watch(runner, session, run, until="status")
    async with asyncio.timeout(1):
        await runner.stop(session.pk, run)
        await runner.drain()
    assert (await Run.objects.aget()).status == Run.Status.STOPPED


async def test_a_break_after_the_first_token_is_not_answered_twice(ask: Ask, session: Session) -> None:
    run = await ask("/drop")
    assert run.status == Run.Status.FAILED and await Exchange.objects.acount() == 1
