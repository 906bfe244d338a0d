"""What is said of a signature that a captured program did not send back."""

import base64

import pytest

from sessions_app.inspector.received_signatures import received_traces
from sessions_app.inspector.signature_trace import SignatureState, SignatureTrace
from sessions_app.inspector.signature_tracers import SentSignatureTracer
from sessions_app.models import Exchange
from tests.capture.conversations import body_of, call, model, result, user
from tests.capture.program import Program
from tests.factories import call_chunk, text_chunk

pytestmark = pytest.mark.django_db

QUESTION, NEXT = user("What is the weather in Vienna today?"), user("And what shall I wear in the evening?")
SIGNATURE = b"signature of a part"
ENCODED = base64.b64encode(SIGNATURE).decode()


CALLED = call_chunk("weather", {"city": "Vienna"}, signature=SIGNATURE, finish="STOP")


def asked(program: Program, *contents: object, answer: bytes) -> Exchange:
    row = program.ask(body_of(contents), b"data: " + answer + b"\r\n\r\n")
    assert row.exchange is not None
    return row.exchange


def called(program: Program) -> Exchange:
    return asked(program, QUESTION, answer=CALLED)


def said_of(first: Exchange, later: Exchange) -> tuple[SignatureTrace, SignatureTrace]:
    """The trace of the first answer's signature, from both ends."""
    (received,) = received_traces(first)
    (sent,) = SentSignatureTracer(Exchange.objects.get(pk=later.pk)).traces()
    return received, sent


def test_a_call_of_the_current_turn_without_its_signature_is_an_alarm(program: Program) -> None:
    first = called(program)
    contents = [QUESTION, call("weather", city="Vienna"), result("weather", sky="clear")]
    second = asked(program, *contents, answer=text_chunk("It is clear.", finish="STOP"))
    assert [(one.state, one.state.is_alarm) for one in said_of(first, second)] == [
        (SignatureState.LOST, True)
    ] * 2


def test_a_signature_of_an_earlier_turn_may_be_dropped(program: Program) -> None:
    first = called(program)
    signed = call("weather", city="Vienna")
    signed["parts"][0]["thoughtSignature"] = ENCODED
    contents = [QUESTION, signed, result("weather", sky="clear")]
    second = asked(program, *contents, answer=text_chunk("It is clear.", finish="STOP"))
    assert [one.state for one in said_of(first, second)] == [SignatureState.EQUAL] * 2
    bare = [QUESTION, call("weather", city="Vienna"), result("weather", sky="clear"), model("It is clear.")]
    third = asked(program, *bare, NEXT, answer=text_chunk("A jacket.", finish="STOP"))
    assert [(one.state, one.state.is_alarm) for one in said_of(first, third)] == [
        (SignatureState.DROPPED, False)
    ] * 2


def test_a_signature_on_a_text_may_be_dropped_at_once(program: Program) -> None:
    first = asked(program, QUESTION, answer=text_chunk("It is clear.", finish="STOP", signature=SIGNATURE))
    second = asked(program, QUESTION, model("It is clear."), NEXT, answer=text_chunk("A jacket."))
    assert [one.state for one in said_of(first, second)] == [SignatureState.DROPPED] * 2


def test_a_turn_that_the_program_left_out_is_no_alarm(program: Program) -> None:
    first = called(program)
    signed = call("weather", city="Vienna")
    signed["parts"][0]["thoughtSignature"] = ENCODED
    contents = [QUESTION, signed, result("weather", sky="clear")]
    asked(program, *contents, answer=text_chunk("It is clear in Vienna.", finish="STOP"))
    asked(program, QUESTION, model("It is clear in Vienna."), NEXT, answer=text_chunk("A jacket."))
    (received,) = received_traces(first)
    assert not received.state.is_alarm
