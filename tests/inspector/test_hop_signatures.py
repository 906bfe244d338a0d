"""An answer of several requests is one turn: the signatures of each go back with it."""

import base64
from uuid import uuid4

import pytest
from django.contrib.auth.models import User

from sessions_app.inspector.received_signatures import received_traces
from sessions_app.inspector.signature_table import signature_table
from sessions_app.inspector.signature_trace import SignatureState, SignatureTrace
from sessions_app.inspector.signature_tracers import SentSignatureTracer
from sessions_app.models import CaptureAddress, Exchange, RawChunk, Session, Turn
from sessions_app.prompt.outcomes import Outcome
from sessions_app.prompt.parts import content
from sessions_app.prompt.turns import Turn as TurnValue
from sessions_app.prompt.turns import TurnKind
from sessions_app.runs.reply_facts import fold_hops
from tests.capture.answers import Asking, event, says
from tests.capture.conversations import body_of, user
from tests.factories import finish, make_exchange, make_run
from tests.prompt.examples import chunk, text

SIGNATURES = [base64.b64encode(b"signature of hop %d" % number).decode() for number in (1, 2, 3)]
TOKEN = "ab+/cd=="
QUESTION, NEXT = user("Tell me all about large loaves."), user("And how long do they bake?")


def hop(number: int, *, is_last: bool = False) -> bytes:
    parts = text(f"Part {number}. "), text("", thoughtSignature=SIGNATURES[number - 1])
    if is_last:
        return chunk(*parts, finishReason="STOP")
    return chunk(*parts, finishReason="CONTINUATION", continuationToken=TOKEN)


def asked_in_hops(session: Session) -> list[Exchange]:
    """Three requests for one answer, the last of which has its turn."""
    run = make_run(session)
    exchanges: list[Exchange] = []
    for number in (1, 2, 3):
        before = exchanges[-1] if exchanges else None
        outcome = Outcome.CONTINUES if number < 3 else Outcome.COMPLETE
        one = make_exchange(run, [], continues=before, outcome=outcome)
        RawChunk.objects.create(exchange=one, seq=0, ms=1.0, body=hop(number, is_last=number == 3))
        Exchange.objects.filter(pk=one.pk).update(outcome=outcome)
        exchanges.append(one)
    reply = fold_hops(exchanges[-1])
    assert reply.wire is not None
    value = TurnValue(str(uuid4()), TurnKind.MODEL_RESPONSE, reply.wire, exchanges[-1].route)
    Turn.append(session, value, parent=session.head, run=run, exchange=exchanges[-1])
    finish(run)
    return exchanges


def told(exchange: Exchange) -> list[SignatureTrace]:
    """What came back, as the exchange's own page says it, which the table of the session repeats."""
    traces = received_traces(Exchange.objects.get(pk=exchange.pk))
    rows = [row.trace for row in signature_table(exchange.session, {}).rows]
    assert all(one in rows for one in traces)
    return traces


def test_a_signature_of_an_earlier_hop_waits_with_the_turn(session: Session) -> None:
    for one in asked_in_hops(session):
        assert [trace.state for trace in told(one)] == [SignatureState.NOT_DUE]


def test_each_comes_back_in_the_next_request(session: Session) -> None:
    exchanges = asked_in_hops(session)
    later = make_exchange(make_run(session, "Why?"))
    for one in exchanges:
        (trace,) = told(one)
        assert (trace.state, [seen.exchange for seen in trace.returned]) == (SignatureState.EQUAL, [4])
    sent = SentSignatureTracer(Exchange.objects.get(pk=later.pk)).traces()
    assert [trace.state for trace in sent] == [SignatureState.EQUAL] * 3
    assert [trace.received and trace.received.exchange for trace in sent] == [1, 2, 3]


@pytest.fixture
def program(alice: User) -> Asking:
    return Asking(CaptureAddress.issue(alice.pk, "Laptop")[0])


@pytest.mark.parametrize("comes_back", [True, False])
def test_a_program_sends_back_what_its_hops_brought(program: Asking, comes_back: bool) -> None:
    first = program.exchange(body_of([QUESTION]), event(hop(1)))
    second = program.exchange(body_of([QUESTION], continuationToken=TOKEN), event(hop(2, is_last=True)))
    turn = Turn.objects.get(exchange=second)
    kept = [part.raw for part in turn.parts]
    if not comes_back:
        kept = [part for part in kept if part.get("thoughtSignature") != SIGNATURES[0]]
    third = program.exchange(body_of([QUESTION, content("model", kept), NEXT]), says("Long."))
    assert (second.continues_id, third.continues_id) == (first.pk, None)
    state = SignatureState.EQUAL if comes_back else SignatureState.DROPPED
    assert [[one.state for one in told(each)] for each in (first, second)] == [
        [state],
        [SignatureState.EQUAL],
    ]
    sent = SentSignatureTracer(Exchange.objects.get(pk=third.pk)).traces()
    assert {one.received.exchange: one.state for one in sent if one.received} == {
        1: state,
        2: SignatureState.EQUAL,
    }


def test_a_program_that_goes_on_without_the_turn_has_dropped_both(program: Asking) -> None:
    first = program.exchange(body_of([QUESTION]), event(hop(1)))
    second = program.exchange(body_of([QUESTION], continuationToken=TOKEN), event(hop(2, is_last=True)))
    program.exchange(body_of([QUESTION, NEXT]), says("Long."))
    states = [one.state for each in (first, second) for one in told(each)]
    assert len(states) == 2 and len(set(states)) == 1
