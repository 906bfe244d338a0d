"""A signature belongs on the part that it came on; the first call of a step needs its own."""

import pytest

from sessions_app.inspector.received_signatures import received_traces
from sessions_app.inspector.signature_trace import SignatureState
from sessions_app.inspector.signature_tracers import SentSignatureTracer
from sessions_app.models import Blob, Exchange, Run, Session
from sessions_app.prompt.parts import raw_parts, signature_of, with_parts, with_signature, without_signature
from sessions_app.prompt.signatures import DUMMIES
from tests.capture.conversations import user
from tests.capture.program import Program
from tests.factories import answer_calls, call_chunk, finish, make_exchange, make_run
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

EQUAL, MOVED, FREELY = SignatureState.EQUAL, SignatureState.MOVED, SignatureState.MOVED_FREELY
QUESTION, NEXT = user("Look at both of the ovens, please"), user("And what about the third oven?")
FIRST, SECOND = called("look", "id-1", oven=1), called("look", "id-2", oven=2)
BARE = [called("look", oven=1), called("look", oven=2)]
DONE = {"text": "Both of them are hot."}


def both(
    program: Program, calls: list[Part], parts: list[Part], name: str = "gemini-3-flash-preview"
) -> list[SignatureState]:
    """What is said of the first call's signature where the program sends these parts for the calls."""
    first = asked(program, [QUESTION], signed(calls[0]), calls[1], name=name)
    ids = [str(one["functionCall"].get("id", "")) for one in calls]
    answers = results(*(returned("look", one) for one in ids))
    second = asked(program, [QUESTION, model(*parts), answers], DONE, name=name)
    return [*received(first), *sent(second)]


@pytest.mark.parametrize(
    ("calls", "parts", "state"),
    [
        ([FIRST, SECOND], [signed(FIRST), SECOND], EQUAL),
        (BARE, [signed(BARE[0]), BARE[1]], EQUAL),
        ([FIRST, SECOND], [signed(BARE[0]), BARE[1]], EQUAL),
        ([FIRST, SECOND], [signed(called("look", "other", oven=1)), SECOND], EQUAL),
        ([FIRST, SECOND], [FIRST, signed(SECOND)], MOVED),
        (BARE, [BARE[0], signed(BARE[1])], MOVED),
        ([FIRST, SECOND], [SECOND, signed(FIRST)], MOVED),
        ([FIRST, SECOND], [signed(SECOND), FIRST], MOVED),
        ([FIRST, SECOND], [FIRST, SECOND, signed({"text": ""})], MOVED),
    ],
)
def test_a_signature_is_equal_on_its_own_call_only(
    program: Program, calls: list[Part], parts: list[Part], state: SignatureState
) -> None:
    assert both(program, calls, parts) == [state, state]
    assert MOVED.is_alarm and not FREELY.is_alarm


def test_a_moved_signature_is_no_alarm_where_none_is_checked(program: Program) -> None:
    assert both(program, [FIRST, SECOND], [FIRST, signed(SECOND)], name="gemini-2.5-flash") == [FREELY] * 2


def test_a_moved_signature_of_an_earlier_turn_is_no_alarm(program: Program) -> None:
    first = asked(program, [QUESTION], signed(FIRST), SECOND)
    answers = results(returned("look", "id-1"), returned("look", "id-2"))
    asked(program, [QUESTION, model(signed(FIRST), SECOND), answers], DONE)
    contents = [QUESTION, model(FIRST, signed(SECOND)), answers, model(DONE), NEXT]
    third = asked(program, contents, {"text": "Hot as well."})
    assert (received(first), sent(third)) == ([FREELY], [FREELY])
    (trace,) = received_traces(first)
    assert [one.exchange for one in trace.returned] == [2, 3]


def test_a_signature_of_another_turn_is_found_where_it_came(program: Program) -> None:
    first = asked(program, [QUESTION], signed(FIRST))
    call = [QUESTION, model(signed(FIRST)), results(returned("look", "id-1"))]
    asked(program, call, signed(DONE, OTHER))
    third = asked(program, [*call, model(signed(DONE)), NEXT], {"text": "Hot as well."})
    own, moved = SentSignatureTracer(Exchange.objects.get(pk=third.pk)).traces()
    assert (own.state, moved.state) == (EQUAL, SignatureState.ALTERED)
    assert moved.received == own.received and moved.received is not None
    assert moved.received.exchange == first.number


def test_a_copy_beside_its_signature_is_told_apart(program: Program) -> None:
    assert both(program, [FIRST, SECOND], [signed(FIRST), signed(SECOND)]) == [EQUAL, EQUAL, FREELY]


def test_a_copy_in_front_of_its_signature_is_told_apart(program: Program) -> None:
    first = asked(program, [QUESTION], FIRST, signed(SECOND))
    answers = results(returned("look", "id-1"), returned("look", "id-2"))
    second = asked(program, [QUESTION, model(signed(FIRST), signed(SECOND)), answers], DONE)
    assert (received(first), sent(second)) == ([EQUAL], [FREELY, EQUAL])


def test_other_bytes_stand_for_the_signature_of_their_own_call(program: Program) -> None:
    first = asked(program, [QUESTION], signed(FIRST), signed(SECOND, OTHER))
    answers = results(returned("look", "id-1"), returned("look", "id-2"))
    stand_in = signed(SECOND, DUMMIES[0].decode())
    second = asked(program, [QUESTION, model(FIRST, stand_in), answers], DONE)
    assert received(first) == [SignatureState.LOST, SignatureState.DUMMY]
    assert sent(second) == [SignatureState.DUMMY, SignatureState.LOST]


def test_bytes_that_nothing_brought_are_no_copy(program: Program) -> None:
    first = asked(program, [QUESTION], signed(FIRST), SECOND)
    answers = results(returned("look", "id-1"), returned("look", "id-2"))
    parts = model(signed({"text": "So:"}, OTHER), signed(FIRST), SECOND)
    second = asked(program, [QUESTION, parts, answers], DONE)
    assert (received(first), sent(second)) == ([EQUAL], [SignatureState.ALTERED, EQUAL])


def test_a_call_that_came_in_pieces_is_compared_as_a_whole(program: Program) -> None:
    begun = {"functionCall": {"name": "look", "args": {}, "willContinue": True}}
    piece = {"functionCall": {"partialArgs": [{"jsonPath": "$.oven", "numberValue": 1}]}}
    first = asked(program, [QUESTION], signed(begun), piece)
    whole = model(signed(called("look", oven=1)))
    second = asked(program, [QUESTION, whole, results(returned("look"))], DONE)
    assert (received(first), sent(second)) == ([EQUAL], [EQUAL])


def asked_after_two_calls(run: Run) -> tuple[Exchange, Exchange]:
    """An exchange whose reply signed the first of two calls, and the one that sent their results."""
    calls = [
        call_chunk("look", {"oven": 1}, signature=b"signature"),
        call_chunk("look", {"oven": 2}, finish="STOP"),
    ]
    first = make_exchange(run, calls)
    answer_calls(run, {"done": True})
    return first, make_exchange(run, step=2)


def test_pipeweb_itself_moves_none(session: Session) -> None:
    run = make_run(session)
    first, second = asked_after_two_calls(run)
    assert (received(first), sent(Exchange.objects.get(pk=second.pk))) == ([EQUAL], [EQUAL])


def test_one_that_pipeweb_moved_is_an_alarm_wherever_it_is(session: Session) -> None:
    run = make_run(session)
    first, _ = asked_after_two_calls(run)
    finish(run)
    turn = first.turns.get()
    one, other = raw_parts(turn.wire)
    moved = [without_signature(one), with_signature(other, str(signature_of(one)))]
    (turn.content_id,) = Blob.objects.store(session.owner_id, [with_parts(turn.wire, moved)]).values()
    turn.save()
    session.refresh_from_db()
    third = make_exchange(make_run(session, "And now?"))
    assert sent(Exchange.objects.get(pk=third.pk))[0] is received(first)[0] is MOVED
