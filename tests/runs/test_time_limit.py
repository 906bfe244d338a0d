"""The limit of seconds also ends a run in the middle of an answer, a pause or a tool."""

import asyncio
from datetime import timedelta
from time import perf_counter
from typing import Any

import pytest
from django.utils import timezone

from sessions_app.error_codes import RefusalCode
from sessions_app.errors import LimitReached
from sessions_app.gemini.gateway import Gateway
from sessions_app.models import Notification, Run, Session, Turn
from sessions_app.runs.limits import time_limit
from sessions_app.runs.retry_policy import RetryPolicy
from tests.prompt.examples import SIGNATURE, call, chunk, text
from tests.runs.hops import Hops, done
from tests.runs.running import running, send


async def limited(session: Session, *hops: Any, policy: RetryPolicy | None = None) -> tuple[Run, float]:
    """A run that may take one second, and how long it took."""
    await Session.objects.filter(pk=session.pk).aupdate(settings={**session.settings, "max_seconds": 1})
    gateway, began = Gateway(api_key="k3y-of-a-test", transport=Hops(*hops)), perf_counter()
    async with running(gateway, policy or RetryPolicy()) as runner:
        public = await send(runner, session, "Go")
        await runner.drain()
    return await Run.objects.aget(public=public), perf_counter() - began


async def test_an_answer_that_drips_is_ended_with_its_text(session: Session) -> None:
    run, seconds = await limited(session, [chunk(text("One ")), None, done(text("two."))])
    turn = await Turn.objects.aget(run=run, kind=Turn.Kind.MODEL_RESPONSE)
    assert (run.status, run.error["reason"]) == (Run.Status.FAILED, RefusalCode.MAX_SECONDS)
    assert (turn.text, turn.cut) == ("One ", True)
    assert seconds < 15
    assert await Notification.objects.filter(session=session, kind=Notification.Kind.GUARD_RAIL).aexists()


async def test_the_next_message_is_answered(session: Session) -> None:
    await limited(session, [chunk(text("One ")), None])
    run, _ = await limited(session, [done(text("two."))])
    assert run.status == Run.Status.COMPLETED


async def test_a_pause_between_tries_counts(session: Session) -> None:
    run, seconds = await limited(session, 503, [done(text("x"))], policy=RetryPolicy(base=30))
    assert (run.error["reason"], seconds < 15) == (RefusalCode.MAX_SECONDS, True)


async def test_calls_that_were_running_are_answered_with_an_error(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def endless(*args: object, **named: object) -> None:
        await asyncio.sleep(30)

    monkeypatch.setattr("sessions_app.tools.Toolbox.run", endless)
    run, seconds = await limited(session, [done(call("current_time", SIGNATURE))])
    kinds = [turn.kind async for turn in Turn.objects.filter(session=session).order_by("depth")]
    assert (run.error["reason"], kinds[-1]) == (RefusalCode.MAX_SECONDS, Turn.Kind.TOOL_RESPONSE)
    assert seconds < 15


async def test_a_timeout_inside_is_not_the_limit(session: Session) -> None:
    run = Run(session=session, started_at=timezone.now())
    with pytest.raises(TimeoutError):
        async with time_limit(run):
            raise TimeoutError


async def test_without_a_limit_nothing_is_ended(session: Session) -> None:
    session.settings = {**session.settings, "max_seconds": None}
    async with time_limit(Run(session=session, started_at=timezone.now() - timedelta(days=1))):
        await asyncio.sleep(0)


async def test_a_run_that_is_over_its_limit_ends_at_once(session: Session) -> None:
    run = await Run.objects.acreate(session=session, client_id="00000000-0000-0000-0000-000000000001")
    run.started_at -= timedelta(days=1)
    with pytest.raises(LimitReached):
        async with time_limit(run):
            await asyncio.sleep(5)
