"""How many statements the way to the model costs: each is a trip to the database before the first word."""

import uuid
from collections.abc import Sequence

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.context.allowances import rules_of
from sessions_app.models import Allowance, CacheEntry, Exchange, Notification, Run, Session, ToolCall, Turn
from sessions_app.models.branches import head_of
from sessions_app.panels import TOOLBOX
from sessions_app.prompt.reply import fold
from sessions_app.prompt.turns import Turn as TurnValue
from sessions_app.prompt.turns import TurnKind
from sessions_app.runs.accounting import account_for
from sessions_app.runs.request import Endpoint, PreparedRequest, prepare
from sessions_app.runs.start import start_retry, start_send
from sessions_app.runs.tool_rounds import ToolRound
from sessions_app.tools import ToolResult
from tests.factories import make_session, receive, signatures, text_chunk

pytestmark = pytest.mark.django_db

USAGE = {"promptTokenCount": 900, "candidatesTokenCount": 9, "totalTokenCount": 909}
ENDPOINT = Endpoint("0123456789abcdef", "Emulator", "gemini", True, lambda model, body: body)
BARE = Endpoint("0123456789abcdef", "Emulator", "gemini", False, lambda model, body: body)


@pytest.fixture
def session(alice: User) -> Session:
    """Two messages and their answers."""
    session = make_session(alice)
    for text in ("Hello", "And again"):
        answered(started(session, text))
    return session


def started(session: Session, text: str) -> Run:
    run = start_send(session.pk, uuid.uuid4(), text, "here")
    assert run is not None
    return run


def answered(run: Run, usage: dict[str, int] | None = None) -> PreparedRequest:
    draft = prepare(run, 1, ENDPOINT, TOOLBOX)
    chunk = text_chunk("Yes.", signature=next(signatures), finish="STOP", usage=usage or USAGE)
    receive(draft.exchange, [chunk])
    run.end(Run.Status.COMPLETED)
    return draft


def asked_of(statements: Sequence[dict[str, str]]) -> list[str]:
    """Without those that PostgreSQL and SQLite count for a transaction inside the test's own."""
    return [one["sql"] for one in statements if "SAVEPOINT" not in one["sql"]]


def statements_of(run: Run, endpoint: Endpoint = ENDPOINT) -> int:
    with CaptureQueriesContext(connection) as context:
        prepare(run, 1, endpoint, TOOLBOX)
    return len(asked_of(context.captured_queries))


def test_a_request_costs_thirteen_statements(session: Session) -> None:
    assert statements_of(started(session, "A third")) <= 13


def test_without_explicit_caches_it_costs_eleven(session: Session) -> None:
    assert statements_of(started(session, "A third"), BARE) <= 11


def test_a_named_cache_costs_no_more(session: Session) -> None:
    last = Exchange.objects.filter(session=session).latest("number")
    CacheEntry.objects.create(fingerprint=last.fingerprint, route=last.route, model=last.model, name="c/1")
    assert statements_of(started(session, "A third")) <= 13


def test_an_open_notification_and_a_budget_cost_what_they_need(session: Session, alice: User) -> None:
    Notification.objects.add(session.pk, Notification.Kind.CUSTOM, "Something happened.")
    Allowance.objects.create(owner=alice, usd_per_day=10)
    assert rules_of(alice.pk)
    # The panel that shows it is new; the lock of the person, and the sums once more with it.
    assert statements_of(started(session, "A third")) <= 19
    assert not Notification.objects.open().exists()


def test_the_exchange_before_is_named_without_a_query_and_read_after_the_answer(session: Session) -> None:
    draft = prepare(started(session, "A third"), 1, ENDPOINT, TOOLBOX)
    last = Exchange.objects.filter(session=session).exclude(pk=draft.exchange.pk).latest("number")
    assert draft.exchange.previous_id == last.pk
    with CaptureQueriesContext(connection) as context:
        account_for(draft.exchange, fold([text_chunk("Yes.", usage=USAGE)]), items=draft.payload.items)
    read = [sql for sql in asked_of(context.captured_queries) if sql.startswith("SELECT")]
    assert len([sql for sql in read if "sessions_app_exchange" in sql]) == 1


def test_an_answer_further_up_the_branch_is_still_the_one_to_compare_with(session: Session) -> None:
    last = Exchange.objects.filter(session=session).latest("number")
    started(session, "Nobody answers this").end(Run.Status.STOPPED)
    draft = prepare(started(session, "But this"), 1, ENDPOINT, TOOLBOX)
    assert draft.exchange.previous_id == last.pk


def test_a_retry_is_compared_with_the_answer_before_its_message(session: Session) -> None:
    first, second = Exchange.objects.filter(session=session).order_by("number")
    run = start_retry(session.pk, uuid.uuid4(), second.run.public, "here")
    assert run is not None
    assert prepare(run, 1, ENDPOINT, TOOLBOX).exchange.previous_id == first.pk


def test_an_exchange_older_than_those_that_are_read_is_found(session: Session) -> None:
    first = Exchange.objects.filter(session=session).earliest("number")
    for number in range(8):
        answered(started(session, f"More {number}"))
    session.refresh_from_db()
    session.switch_branch(first.turns.get())
    assert prepare(started(session, "Elsewhere"), 1, ENDPOINT, TOOLBOX).exchange.previous_id == first.pk


def test_the_model_that_serves_is_known_from_an_answer_older_than_those_that_are_read(
    session: Session,
) -> None:
    Exchange.objects.filter(session=session).update(
        model="gemini-flash-latest", served_model="gemini-3.6-flash"
    )
    for number in range(8):
        answered(started(session, f"More {number}"))
    Session.objects.filter(pk=session.pk).update(model="gemini-flash-latest")
    draft = prepare(started(session, "As before"), 1, ENDPOINT, TOOLBOX)
    assert draft.context.served == "gemini-3.6-flash"


def test_a_round_costs_four_statements_for_each_call_and_seven_for_its_responses(session: Session) -> None:
    """A call is stored when it begins and when it ends, so that a killed process leaves no doubt of it.

    Each time the run is held, so that no call runs of a run that has ended.
    """
    run = started(session, "Look")
    part = b'{"functionCall":{"name":"current_time","args":{}}}'
    wire = b'{"role":"model","parts":[%b,%b,%b]}' % (part, part, part)
    value = TurnValue(str(uuid.uuid4()), TurnKind.FUNCTION_CALLING, wire)
    Turn.append(run.session, value, parent=run.trigger, run=run)
    with CaptureQueriesContext(connection) as context:
        tool_round = ToolRound.at(run, head_of(run.session_id))
        assert tool_round is not None
        for call in tool_round.open_calls():
            ToolCall.objects.begin(run.pk, tool_round.calling.pk, call.index)
            tool_round.finish(call, ToolResult({"time": "now"}))
        tool_round.store()
    assert len(asked_of(context.captured_queries)) <= 4 * 3 + 7
