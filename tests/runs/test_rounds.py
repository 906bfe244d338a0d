"""Tool rounds: stopped, endless, broken; the history stays one that can be continued."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from sessions_app.errors import ToolError
from sessions_app.gemini.gateway import Gateway
from sessions_app.models import Exchange, Run, Session, SessionSettings, Turn
from sessions_app.prompt.parts import parts_of
from sessions_app.prompt.turns import TurnKind
from sessions_app.runs.runner import Runner
from sessions_app.tools import Toolbox
from sessions_app.tools.toolbox import tool
from tests.runs.running import Provider, running, send, watch


async def nap() -> dict[str, str]:
    """Sleeps longer than anybody waits."""
    await asyncio.sleep(60)
    return {}


def trip() -> dict[str, str]:
    """Fails."""
    raise ToolError("The floor was wet.", hint="Mop it.")


def call(name: str) -> bytes:
    return b'{"functionCall":{"name":"%b","args":{}},"thoughtSignature":"c2lnbmVk"}' % name.encode()


@pytest.fixture
def provider() -> Provider:
    return Provider()


@pytest.fixture
async def runner(
    session: Session, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Runner]:
    tools = (tool(nap, "built-in", "Nap"), tool(trip, "built-in", "Trip"))
    monkeypatch.setattr("pipeweb.composition.TOOLBOX", Toolbox(tools))
    async with running(Gateway(api_key="test", transport=provider)) as runner:
        yield runner


async def head_of(session: Session) -> Turn:
    heads = Session.objects.filter(pk=session.pk).values("head")
    return await Turn.objects.select_related("content").aget(pk__in=heads)


async def test_a_stop_in_a_tool_round_answers_the_open_calls_with_errors(
    runner: Runner, session: Session, provider: Provider
) -> None:
    provider.parts = [call("nap"), call("nap")]
    run = await send(runner, session, "go")
    await watch(runner, session, run, until="call")
    await asyncio.sleep(0.1)
    await runner.stop(session.pk, run)
    await runner.drain()
    head = await head_of(session)
    assert (await Run.objects.aget()).status == Run.Status.STOPPED
    assert head.kind == TurnKind.TOOL_RESPONSE
    assert ["error" in part.response["response"] for part in head.parts if part.response] == [True, True]


async def test_after_that_stop_the_next_message_is_a_valid_request(
    runner: Runner, session: Session, provider: Provider
) -> None:
    provider.parts = [call("nap")]
    run = await send(runner, session, "go")
    await watch(runner, session, run, until="call")
    await asyncio.sleep(0.1)
    await runner.stop(session.pk, run)
    await runner.drain()
    provider.parts = [b'{"text":"fine"}']
    await send(runner, session, "and now?")
    await runner.drain()
    assert (await Run.objects.order_by("-pk").afirst()).status == Run.Status.COMPLETED  # type: ignore[union-attr]  # two runs exist


async def test_a_failing_tool_is_an_answer_that_the_model_can_read(
    runner: Runner, session: Session, provider: Provider
) -> None:
    provider.parts = [call("trip")]
    run = await send(runner, session, "go")
    await watch(runner, session, run, until="result")
    provider.parts = [b'{"text":"I see."}']
    await runner.drain()
    turn = await Turn.objects.select_related("content").filter(kind=TurnKind.TOOL_RESPONSE).afirst()
    assert turn is not None
    response = parts_of(turn.content.bytes)[0].response
    assert response is not None and response["response"]["error"] == "The floor was wet."


async def test_a_model_that_never_stops_calling_is_stopped_at_the_limit(
    runner: Runner, session: Session, provider: Provider
) -> None:
    provider.parts = [call("trip")]
    await send(runner, session, "go")
    await runner.drain()
    run = await Run.objects.aget()
    assert (run.status, run.error["kind"]) == (Run.Status.FAILED, "LimitReached")
    limit = SessionSettings().max_rounds
    assert limit is not None and await Exchange.objects.acount() == limit + 1
    answered = Turn.objects.filter(kind=TurnKind.TOOL_RESPONSE, text="")
    trips = [turn async for turn in answered.select_related("content") if b"wet" in turn.content.bytes]
    assert len(trips) == limit
    assert (await head_of(session)).kind == TurnKind.TOOL_RESPONSE
