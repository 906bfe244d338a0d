"""What an administrator changes of an MCP tool while a run has it: the calls after that are asked about, or
refused.
"""

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx2
import pytest
from asgiref.sync import sync_to_async
from pytest_django import Settings

from sessions_app.gemini.gateway import Gateway
from sessions_app.mcp_codes import Approval, Choice
from sessions_app.models import McpServer, McpTool, Run, Session, ToolCall, Turn
from sessions_app.runs.runner import Runner
from tests.mcp.entering import listed, switch_on
from tests.runs.rounds import Rounds
from tests.runs.running import running

Change = Callable[[McpServer], Awaitable[Any]]


class Changing(Rounds):
    """Changes the server before the second round is answered."""

    def __init__(self, server: McpServer) -> None:
        super().__init__()
        self.rounds = [[("test__count", "a")], [("test__count", "b")]]
        self.change: Change | None = None
        self.server = server

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if len(self.requests) == 1 and self.change is not None:
            await self.change(self.server)
        return await super().handle_async_request(request)


@pytest.fixture
async def provider(session: Session, settings: Settings) -> Changing:
    server = await sync_to_async(listed)(settings, approval=Approval.ALWAYS.value)
    await sync_to_async(switch_on)(session)
    return Changing(server)


@pytest.fixture
async def runner(provider: Changing) -> AsyncIterator[Runner]:
    async with running(Gateway(api_key="test", transport=provider)) as runner:
        yield runner


async def send(runner: Runner, session: Session) -> Run:
    """The run when it waits or is over."""
    client_id = uuid.uuid4()
    await runner.send(session.pk, client_id, "Count.")
    await runner.drain()
    return await Run.objects.aget(client_id=client_id)


def responses(run: Run) -> list[dict[str, Any]]:
    turns = Turn.objects.filter(run=run, kind=Turn.Kind.TOOL_RESPONSE).order_by("pk")
    return [part.response["response"] for turn in turns for part in turn.parts if part.response]


async def ask_of_server(server: McpServer) -> None:
    await McpServer.objects.filter(pk=server.pk).aupdate(approval=Approval.ASK.value)


async def ask_of_tool(server: McpServer) -> None:
    await McpTool.objects.filter(server=server, name="count").aupdate(approval=Approval.ASK.value)


async def list_no_more(server: McpServer) -> None:
    await McpTool.objects.filter(server=server, name="count").aupdate(is_listed=False)


@pytest.mark.parametrize("change", [ask_of_server, ask_of_tool, list_no_more])
async def test_the_next_call_of_a_run_is_asked_about(
    provider: Changing, runner: Runner, session: Session, change: Change
) -> None:
    provider.change = change
    run = await send(runner, session)
    assert run.status == Run.Status.WAITING
    assert await sync_to_async(responses)(run) == [{"text": "1"}]
    await runner.waiting.decide(session.pk, run.public, 2, 0, Choice.ONCE)
    await runner.drain()
    await run.arefresh_from_db()
    assert run.status == Run.Status.COMPLETED
    assert await sync_to_async(responses)(run) == [{"text": "1"}, {"text": "2"}]


async def forbid(server: McpServer) -> None:
    await McpServer.objects.filter(pk=server.pk).aupdate(approval=Approval.NEVER.value)


async def switch_off(server: McpServer) -> None:
    await McpServer.objects.filter(pk=server.pk).aupdate(is_on=False, approval=Approval.ASK.value)


async def take_from_people(server: McpServer) -> None:
    await McpServer.objects.filter(pk=server.pk).aupdate(for_everybody=False, approval=Approval.ASK.value)


async def remove(server: McpServer) -> None:
    await server.adelete()


@pytest.mark.parametrize("change", [forbid, switch_off, take_from_people, remove])
async def test_a_call_that_is_refused_anyway_is_not_asked_about(
    provider: Changing, runner: Runner, session: Session, change: Change
) -> None:
    provider.change = change
    run = await send(runner, session)
    assert run.status == Run.Status.COMPLETED
    first, second = await sync_to_async(responses)(run)
    assert first == {"text": "1"} and second["error"] == "This tool may no longer be used."
    assert not await ToolCall.objects.exclude(asked_at=None).aexists()


async def test_what_is_allowed_meanwhile_is_asked_about_no_more(
    provider: Changing, runner: Runner, session: Session
) -> None:
    await ask_of_server(provider.server)

    async def allow(server: McpServer) -> None:
        await McpServer.objects.filter(pk=server.pk).aupdate(approval=Approval.ALWAYS.value)

    provider.change = allow
    run = await send(runner, session)
    await runner.waiting.decide(session.pk, run.public, 1, 0, Choice.ONCE)
    await runner.drain()
    await run.arefresh_from_db()
    assert run.status == Run.Status.COMPLETED
    assert await sync_to_async(responses)(run) == [{"text": "1"}, {"text": "2"}]


def test_a_round_costs_one_query_and_none_without_such_a_tool(
    session: Session, settings: Settings, django_assert_num_queries: Any
) -> None:
    server = listed(settings)
    keys = set(McpTool.objects.filter(server=server).values_list("pk", flat=True))
    with django_assert_num_queries(1):
        assert McpTool.objects.asking(session.owner_id, keys) == keys
    with django_assert_num_queries(0):
        assert McpTool.objects.asking(session.owner_id, set()) == set()
