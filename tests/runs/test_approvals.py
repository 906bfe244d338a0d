"""An ask is of one run of one session, however many wait."""

import uuid
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from sessions_app.mcp_codes import Choice, Decision
from sessions_app.metrics import EVENTS
from sessions_app.models import McpServer, McpTool, Run, ToolCall, ToolGrant, Turn
from sessions_app.runs.approvals import decide, expire
from sessions_app.runs.parking import parked_at
from tests import factories


@pytest.fixture
def tools(db: None) -> list[McpTool]:
    """Two declarations of one tool: the one that was replaced, and the one that is listed."""
    server = McpServer.objects.create(name="test", title="Test")
    facts = {
        "server": server,
        "name": "check",
        "function": "check_flight",
        "title": "Check",
        "declaration": "{}",
    }
    return [
        McpTool.objects.create(sha256="new", **facts),
        McpTool.objects.create(sha256="old", is_listed=False, **facts),
    ]


def waiting(owner: User, tools: list[McpTool], *, left: int = 60) -> Run:
    """A run that asks about its first call, for `left` seconds."""
    run = factories.make_run(factories.make_session(owner))
    call = factories.call_chunk("check_flight", {}, signature=b"signed", finish="STOP")
    factories.make_exchange(run, [call])
    turn = Turn.objects.get(run=run, kind=Turn.Kind.FUNCTION_CALLING)
    ToolCall.objects.ask(run.pk, turn.pk, [0], timezone.now() + timedelta(seconds=left))
    run.status, run.parked = Run.Status.WAITING, parked_at(1, [tools[1].pk], None).model_dump(mode="json")
    run.save()
    return run


def decisions(*runs: Run) -> list[str]:
    return [ToolCall.objects.get(run=run).decision for run in runs]


def test_an_answer_is_of_its_own_run(alice: User, tools: list[McpTool]) -> None:
    first, second = waiting(alice, tools), waiting(alice, tools)
    assert decide(second.session_id, second.public, 1, 0, Choice.ONCE) == second.pk
    assert decisions(first, second) == ["", Decision.ALLOWED]
    assert decide(first.session_id, first.public, 1, 0, Choice.REFUSE) == first.pk
    assert decisions(first, second) == [Decision.REFUSED, Decision.ALLOWED]


def test_a_decision_counts_as_an_event_of_the_log(alice: User, tools: list[McpTool]) -> None:
    run, before = waiting(alice, tools), EVENTS._value.get()
    decide(run.session_id, run.public, 1, 0, Choice.ONCE)
    assert EVENTS._value.get() - before == sum(len(row.wires) for row in run.log.all()) == 1


def test_a_run_of_another_session_is_not_answered(alice: User, bob: User, tools: list[McpTool]) -> None:
    mine, theirs = waiting(alice, tools), waiting(bob, tools)
    assert decide(mine.session_id, theirs.public, 1, 0, Choice.ONCE) is None
    assert decide(mine.session_id, uuid.uuid4(), 1, 0, Choice.ONCE) is None
    assert decisions(mine, theirs) == ["", ""]


def test_only_the_late_asks_of_the_run_expire(alice: User, tools: list[McpTool]) -> None:
    early, late, also_late = (waiting(alice, tools, left=left) for left in (60, -1, -1))
    for run in (early, late):
        expire(run.pk)
    assert decisions(early, late, also_late) == ["", Decision.EXPIRED, ""]


def test_a_grant_is_of_the_tool_as_the_run_has_it(alice: User, tools: list[McpTool]) -> None:
    run = waiting(alice, tools)
    decide(run.session_id, run.public, 1, 0, Choice.CHAT)
    grant = ToolGrant.objects.get()
    assert (grant.session_id, grant.tool, grant.sha256) == (run.session_id, "check", "old")
