"""Programs put calls into other contents than those in which they came: their signatures are known there."""

import pytest

from sessions_app.inspector.received_signatures import received_traces
from sessions_app.inspector.signature_trace import SignatureState, SignatureTrace
from sessions_app.inspector.signature_tracers import SentSignatureTracer
from sessions_app.models import Exchange
from sessions_app.wording import signature_traces
from tests.capture.conversations import user
from tests.capture.program import Program
from tests.inspector.captured_signatures import (
    OTHER,
    Part,
    asked,
    called,
    model,
    received,
    results,
    returned,
    sent,
    signed,
)

pytestmark = pytest.mark.django_db

EQUAL, FREELY = SignatureState.EQUAL, SignatureState.MOVED_FREELY
QUESTION, NEXT = user("Look at both of the ovens, please"), user("And what about the third oven?")
FIRST, SECOND = called("look", "id-1", oven=1), called("look", "id-2", oven=2)
DONE = {"text": "Both of them are hot."}


def two_steps(program: Program) -> tuple[Exchange, Exchange]:
    """A call, and another one after its result, each with a signature of its own."""
    contents = [QUESTION, model(signed(FIRST)), results(returned("look", "id-1"))]
    first, second = asked(program, [QUESTION], signed(FIRST)), asked(program, contents, signed(SECOND, OTHER))
    asked(program, [*contents, model(signed(SECOND, OTHER)), results(returned("look", "id-2"))], DONE)
    return first, second


def merged(program: Program, *calls: Part) -> Exchange:
    """As Mastra asks the next question: all calls in one content, all results in the next."""
    answers = results(returned("look", "id-1"), returned("look", "id-2"))
    return asked(program, [QUESTION, model(*calls), answers, model(DONE), NEXT], DONE)


def traces(exchange: Exchange) -> list[SignatureTrace]:
    return SentSignatureTracer(Exchange.objects.get(pk=exchange.pk)).traces()


def test_calls_of_two_steps_in_one_content_have_their_signatures(program: Program) -> None:
    first, second = two_steps(program)
    last = merged(program, signed(FIRST), signed(SECOND, OTHER))
    assert sent(last) == [EQUAL, FREELY]
    moved = traces(last)[1]
    assert moved.received is not None and moved.received.exchange == second.number
    assert moved.explanation == signature_traces.regrouped(last.number)
    assert (received(first), received(second)) == ([EQUAL], [FREELY])
    (trace,) = received_traces(Exchange.objects.get(pk=second.pk))
    assert [one.exchange for one in trace.returned] == [3, last.number]
    assert trace.returned[-1].place == "turn 2, part 2"


def test_bytes_that_no_answer_brought_are_an_alarm_still(program: Program) -> None:
    _, second = two_steps(program)
    last = merged(program, signed(FIRST), signed(SECOND, "b3RoZXIgYnl0ZXM="))
    assert sent(last) == [EQUAL, SignatureState.ALTERED]
    assert received(second) == [SignatureState.DROPPED]


def test_a_call_of_its_own_content_may_have_a_copy(program: Program) -> None:
    """As google-adk for JavaScript sends parallel calls of a stream: one step each, signed alike."""
    asked(program, [QUESTION], signed(FIRST), SECOND)
    steps = [model(signed(FIRST)), results(returned("look", "id-1"))]
    again = [model(signed(SECOND)), results(returned("look", "id-2"))]
    last = asked(program, [QUESTION, *steps, *again], DONE)
    assert sent(last) == [EQUAL, FREELY]
    copy = traces(last)[1]
    assert copy.received is not None and copy.received.exchange == 1
    assert copy.explanation == signature_traces.copied(last.number)
