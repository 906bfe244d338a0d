"""A run that waits for a person: what it keeps, who may let it go on, and that nothing happens twice."""

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone
from pytest_django import Settings

from sessions_app.mcp_codes import Approval, Choice, Decision
from sessions_app.models import McpServer, PersonalLimits, Run, RunLog, Session, ToolCall, ToolGrant, Turn
from sessions_app.panels import TOOLBOX
from sessions_app.runs.parking import read_waiting
from sessions_app.runs.run_poller import RunPoller
from sessions_app.runs.run_streams import LiveRun
from sessions_app.runs.runner import Runner
from sessions_app.wording.mcp import REFUSED_CALLS
from tests.mcp.entering import listed, switch_on
from tests.runs.running import running

ECHO = 'call test__echo {"text": "hello"}'
COUNT = "call test__count"


@pytest.fixture
async def server(session: Session, settings: Settings) -> McpServer:
    server = await sync_to_async(listed)(settings)
    await sync_to_async(switch_on)(session)
    return server


async def send(runner: Runner, session: Session, text: str) -> Run:
    """The run when it waits or is over."""
    client_id = uuid.uuid4()
    await runner.send(session.pk, client_id, text)
    await runner.drain()
    return await Run.objects.select_related("session").aget(client_id=client_id)


async def decide(runner: Runner, run: Run, choice: Choice, index: int = 0, *, step: int = 1) -> Run:
    await runner.waiting.decide(run.session_id, run.public, step, index, choice)
    await runner.drain()
    return await Run.objects.select_related("session").aget(pk=run.pk)


def responses(run: Run) -> list[dict[str, Any]]:
    turn = Turn.objects.filter(run=run, kind=Turn.Kind.TOOL_RESPONSE).latest("pk")
    return [part.response["response"] for part in turn.parts if part.response]


async def events_of(run: Run, *kinds: str) -> list[str]:
    rows = [row async for row in RunLog.objects.after(run.pk, -1)]
    wires = [wire for row in rows for wire in row.wires]
    return [wire for wire in wires if any(f'"type":"{kind}"' in wire for kind in kinds)]


async def test_a_call_that_asks_waits_without_a_process_and_without_having_begun(
    runner: Runner, session: Session, server: McpServer
) -> None:
    run = await send(runner, session, ECHO)
    call = await ToolCall.objects.aget()
    assert (run.status, run.process) == (Run.Status.WAITING, "")
    assert call.began_at is None and call.decision == "" and call.expires_at is not None
    assert len(await events_of(run, "ask")) == 1
    assert not runner.live_runs and run.pk not in runner.live_runs


async def test_an_allowed_call_runs_and_the_run_goes_on_to_its_answer(
    runner: Runner, session: Session, server: McpServer
) -> None:
    run = await decide(runner, await send(runner, session, ECHO), Choice.ONCE)
    assert run.status == Run.Status.COMPLETED
    assert await sync_to_async(responses)(run) == [{"text": "hello"}]
    assert (await ToolCall.objects.aget()).decision == Decision.ALLOWED
    assert len(await events_of(run, "decided")) == 1


async def test_a_refused_call_never_begins_and_the_model_reads_why(
    runner: Runner, session: Session, server: McpServer
) -> None:
    run = await decide(runner, await send(runner, session, COUNT), Choice.REFUSE)
    call = await ToolCall.objects.aget()
    assert run.status == Run.Status.COMPLETED
    assert call.began_at is None and call.ended_at is not None
    assert "error" in (await sync_to_async(responses)(run))[0]


async def test_two_answers_are_one(runner: Runner, session: Session, server: McpServer) -> None:
    run = await send(runner, session, COUNT)
    choices = (Choice.ONCE, Choice.ONCE, Choice.REFUSE)
    await asyncio.gather(*(runner.waiting.decide(session.pk, run.public, 1, 0, one) for one in choices))
    await runner.drain()
    (response,) = await sync_to_async(responses)(run)
    assert response == {"text": "1"} or "error" in response
    assert len(await events_of(run, "decided")) == 1
    assert len(await events_of(run, "finished")) == 1


async def test_an_answer_is_of_the_round_that_was_asked_about(
    runner: Runner, session: Session, server: McpServer
) -> None:
    run = await send(runner, session, COUNT)
    assert (await decide(runner, run, Choice.ONCE, step=2)).status == Run.Status.WAITING
    assert (await decide(runner, run, Choice.ONCE, step=1)).status == Run.Status.COMPLETED


async def test_always_in_this_chat_asks_no_more_until_the_tool_is_another(
    runner: Runner, session: Session, server: McpServer, settings: Settings
) -> None:
    await decide(runner, await send(runner, session, ECHO), Choice.CHAT)
    assert (await send(runner, session, ECHO)).status == Run.Status.COMPLETED
    assert await ToolGrant.objects.acount() == 1
    server.arguments = [server.arguments[0], "changed"]
    await server.asave()
    from sessions_app.panels.mcp_tools import list_now

    assert await sync_to_async(list_now)(server) is None
    assert (await send(runner, session, ECHO)).status == Run.Status.WAITING


async def test_a_round_of_several_asks_goes_on_when_the_last_is_answered(
    runner: Runner, session: Session, server: McpServer
) -> None:
    run = await send(runner, session, f'{ECHO}\n{COUNT}\ncall calculate {{"expression": "1+1"}}')
    assert (await decide(runner, run, Choice.ONCE, 1)).status == Run.Status.WAITING
    assert await ToolCall.objects.filter(began_at__isnull=False).acount() == 0
    run = await decide(runner, run, Choice.REFUSE, 0)
    assert run.status == Run.Status.COMPLETED
    first, second, third = await sync_to_async(responses)(run)
    assert "error" in first and second == {"text": "1"} and third["result"] == 2


async def test_what_nobody_answers_is_refused(runner: Runner, session: Session, server: McpServer) -> None:
    run = await send(runner, session, COUNT)
    await ToolCall.objects.aupdate(expires_at=timezone.now() - timedelta(seconds=1))
    await RunPoller(runner).poll(is_heartbeat=True)
    await runner.drain()
    await run.arefresh_from_db()
    assert run.status == Run.Status.COMPLETED
    assert (await ToolCall.objects.aget()).decision == Decision.EXPIRED
    assert "error" in (await sync_to_async(responses)(run))[0]


async def test_a_late_answer_allows_nothing(runner: Runner, session: Session, server: McpServer) -> None:
    run = await send(runner, session, COUNT)
    await ToolCall.objects.aupdate(expires_at=timezone.now() - timedelta(seconds=1))
    await decide(runner, run, Choice.ONCE)
    assert (await ToolCall.objects.aget()).decision == Decision.EXPIRED


async def test_a_stop_while_it_waits_ends_it_and_the_call_can_be_asked_about_again(
    runner: Runner, session: Session, server: McpServer
) -> None:
    run = await send(runner, session, ECHO)
    await runner.stop(session.pk, run.public)
    await run.arefresh_from_db()
    assert run.status == Run.Status.STOPPED
    assert "error" in (await sync_to_async(responses)(run))[0]
    assert (await decide(runner, run, Choice.ONCE)).status == Run.Status.STOPPED
    turn = await Turn.objects.filter(run=run, kind=Turn.Kind.TOOL_RESPONSE).alatest("pk")
    await runner.resume(session.pk, uuid.uuid4(), run.public, turn.public)
    await runner.drain()
    again = await Run.objects.select_related("session").alatest("pk")
    assert again.pk != run.pk and again.status == Run.Status.WAITING
    again = await decide(runner, again, Choice.ONCE, step=0)
    assert again.status == Run.Status.COMPLETED
    assert await sync_to_async(responses)(again) == [{"text": "hello"}]


async def test_in_a_deleted_chat_nothing_goes_on(runner: Runner, session: Session, server: McpServer) -> None:
    """Another tab still has the ask, and its person allows the call."""
    run = await send(runner, session, ECHO)
    await sync_to_async(session.soft_delete)()
    assert (await decide(runner, run, Choice.ONCE)).status == Run.Status.WAITING
    assert (await sync_to_async(read_waiting)()).to_end == [run.pk]
    await RunPoller(runner).poll(is_heartbeat=True)
    await run.arefresh_from_db()
    assert run.status == Run.Status.STOPPED
    assert "error" in (await sync_to_async(responses)(run))[0]


async def test_another_process_goes_on_with_it(runner: Runner, session: Session, server: McpServer) -> None:
    run = await send(runner, session, ECHO)
    await runner.shutdown()
    async with running() as other:
        run = await decide(other, run, Choice.ONCE)
        assert run.status == Run.Status.COMPLETED and run.process == other.process_lock.key
    seqs = [row async for row in RunLog.objects.after(run.pk, -1)]
    assert [row.seq_from for row in seqs[1:]] == [row.seq_to + 1 for row in seqs[:-1]]


async def test_an_answer_whose_process_died_before_it_went_on_is_found_by_a_poll(
    runner: Runner, session: Session, server: McpServer
) -> None:
    run = await send(runner, session, ECHO)
    await ToolCall.objects.aupdate(decision=Decision.ALLOWED.value)
    assert (await sync_to_async(read_waiting)()).answered == [run.pk]
    await RunPoller(runner).poll(is_heartbeat=True)
    await runner.drain()
    await run.arefresh_from_db()
    assert run.status == Run.Status.COMPLETED


async def test_an_answer_that_comes_before_the_ask_is_stored_counts(
    runner: Runner, session: Session, server: McpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page has the ask, and the database takes no writes yet."""
    may_store, is_shown, store_end = asyncio.Event(), asyncio.Event(), runner.store_end

    async def late(*args: Any) -> Any:
        is_shown.set()
        await may_store.wait()
        return await store_end(*args)

    monkeypatch.setattr(runner, "store_end", late)
    await runner.send(session.pk, uuid.uuid4(), ECHO)
    await asyncio.wait_for(is_shown.wait(), 60)
    run = await Run.objects.aget()
    deciding = asyncio.create_task(runner.waiting.decide(session.pk, run.public, 1, 0, Choice.ONCE))
    await asyncio.sleep(0.1)
    may_store.set()
    await asyncio.wait_for(deciding, 60)
    await runner.drain()
    assert (await Run.objects.aget()).status == Run.Status.COMPLETED


async def test_a_call_that_was_forbidden_since_the_ask_is_not_made(
    runner: Runner, session: Session, server: McpServer
) -> None:
    run = await send(runner, session, COUNT)
    await McpServer.objects.filter(pk=server.pk).aupdate(approval=Approval.NEVER.value)
    run = await decide(runner, run, Choice.ONCE)
    (response,) = await sync_to_async(responses)(run)
    assert response["error"] == "This tool may no longer be used."


async def allow_without_asking(session: Session, server: McpServer) -> None:
    await McpServer.objects.filter(pk=server.pk).aupdate(approval=Approval.ALWAYS.value)


async def switch_off(session: Session, server: McpServer) -> None:
    await sync_to_async(session.switch)("tools", "test__count", False, TOOLBOX.standard)


async def remove(session: Session, server: McpServer) -> None:
    await server.adelete()


@pytest.mark.parametrize("change", [allow_without_asking, switch_off, remove])
async def test_a_refusal_holds_whatever_became_of_the_tool_since_the_ask(
    runner: Runner,
    session: Session,
    server: McpServer,
    change: Callable[[Session, McpServer], Awaitable[None]],
) -> None:
    run = await send(runner, session, COUNT)
    await change(session, server)
    run = await decide(runner, run, Choice.REFUSE)
    call = await ToolCall.objects.aget()
    assert run.status == Run.Status.COMPLETED
    assert call.began_at is None and call.ended_at is not None
    (response,) = await sync_to_async(responses)(run)
    assert response["error"] == REFUSED_CALLS[Decision.REFUSED]


async def test_a_poll_ends_no_run_that_waits(runner: Runner, session: Session, server: McpServer) -> None:
    run = await send(runner, session, ECHO)
    await Run.objects.aupdate(heartbeat_at=timezone.now() - timedelta(hours=5))
    await RunPoller(runner).poll(is_heartbeat=True)
    await runner.drain()
    await run.arefresh_from_db()
    assert run.status == Run.Status.WAITING


async def test_a_stop_while_the_ask_is_stored_ends_the_run(
    runner: Runner, session: Session, server: McpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_end = runner.store_end

    async def stopped_meanwhile(live: LiveRun, end: Any) -> Any:
        await runner.stop(session.pk, live.public)
        return await store_end(live, end)

    monkeypatch.setattr(runner, "store_end", stopped_meanwhile)
    assert (await send(runner, session, ECHO)).status == Run.Status.STOPPED


async def test_an_answered_run_waits_for_a_place_among_those_of_its_person(
    runner: Runner, session: Session, server: McpServer
) -> None:
    limits = await PersonalLimits.objects.acreate(user_id=session.owner_id, runs_at_once=1)
    run = await send(runner, session, ECHO)
    beside = await Session.objects.acreate(owner_id=session.owner_id, model=session.model)
    await sync_to_async(Run.objects.create)(
        session=beside, client_id=uuid.uuid4(), status=Run.Status.RUNNING, process="another"
    )
    assert (await decide(runner, run, Choice.ONCE)).status == Run.Status.WAITING
    await limits.adelete()
    await RunPoller(runner).poll(is_heartbeat=True)
    await runner.drain()
    await run.arefresh_from_db()
    assert run.status == Run.Status.COMPLETED


async def test_an_answer_while_the_server_stops_is_kept_for_the_next_process(
    runner: Runner, session: Session, server: McpServer
) -> None:
    run = await send(runner, session, ECHO)
    await runner.launches.close()
    assert (await decide(runner, run, Choice.ONCE)).status == Run.Status.WAITING
    assert (await sync_to_async(read_waiting)()).answered == [run.pk]
