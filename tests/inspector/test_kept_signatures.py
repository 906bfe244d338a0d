"""What a reply's page says of its signatures agrees with what the later request's page says."""

import pytest

from sessions_app.inspector.received_signatures import received_traces
from sessions_app.inspector.session_records import SessionRecords
from sessions_app.inspector.signature_trace import SignatureState
from sessions_app.prompt.signatures import DUMMIES
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

QUESTION, NEXT = user("Look at the first oven, please"), user("And what about the second oven?")
CALL = called("look", "id-1", oven=1)
CODE, SAID = {"executableCode": {"language": "PYTHON", "code": "1"}}, {"text": "The first oven is hot."}
ANSWERED = results(returned("look", "id-1"))


def test_one_of_two_signatures_may_be_dropped(program: Program) -> None:
    first = asked(program, [QUESTION], signed(CODE), signed(SAID, OTHER))
    second = asked(program, [QUESTION, model(signed(CODE), SAID), NEXT], SAID)
    assert received(first) == sent(second) == [SignatureState.EQUAL, SignatureState.DROPPED]


def test_other_bytes_stand_for_the_signature_of_their_own_part(program: Program) -> None:
    first = asked(program, [QUESTION], signed(SAID), signed(CALL, OTHER))
    stand_in = signed(CALL, DUMMIES[0].decode())
    second = asked(program, [QUESTION, model(SAID, stand_in), ANSWERED], SAID)
    assert received(first) == [SignatureState.DROPPED, SignatureState.DUMMY]
    assert sent(second) == [SignatureState.DUMMY, SignatureState.DROPPED]


def test_the_documented_stand_in_is_no_alarm(program: Program) -> None:
    first = asked(program, [QUESTION], signed(CALL))
    second = asked(program, [QUESTION, model(signed(CALL, DUMMIES[0].decode())), ANSWERED], SAID)
    assert received(first) == sent(second) == [SignatureState.DUMMY]


@pytest.mark.parametrize(("part", "later"), [(CALL, ANSWERED), (SAID, NEXT)])
def test_other_bytes_are_an_alarm(program: Program, part: Part, later: object) -> None:
    first = asked(program, [QUESTION], signed(part))
    second = asked(program, [QUESTION, model(signed(part, OTHER)), later], SAID)
    assert received(first) == sent(second) == [SignatureState.ALTERED]


@pytest.mark.parametrize("later", [[ANSWERED], [NEXT]])
def test_a_program_that_goes_on_without_the_turn_has_dropped_it(
    program: Program, later: list[object]
) -> None:
    first = asked(program, [QUESTION], signed(CALL))
    assert received(first) == [SignatureState.NOT_DUE]
    asked(program, [QUESTION, *later], SAID)
    assert received(first) == [SignatureState.DROPPED]


def test_a_request_that_was_sent_again_continues_what_the_first_one_did(program: Program) -> None:
    first = asked(program, [QUESTION], signed(CALL))
    asked(program, [QUESTION, NEXT], status=503)
    again = asked(program, [QUESTION, NEXT], SAID)
    asked(program, [QUESTION, NEXT, model(SAID), QUESTION], SAID)
    (trace,) = received_traces(first)
    assert trace.state is SignatureState.DROPPED
    tracer = SessionRecords(first.session_id, is_captured=True)
    assert tracer.continued_from(first.number) == {again.number - 1, again.number, again.number + 1}


def test_a_branch_from_before_the_reply_owes_nothing(program: Program) -> None:
    asked(program, [QUESTION], signed(CALL))
    contents = [QUESTION, model(signed(CALL))]
    second = asked(program, [*contents, ANSWERED], signed(SAID, OTHER))
    third = asked(program, [*contents, NEXT], SAID)
    assert third.session_id == second.session_id
    assert received(second) == [SignatureState.NOT_DUE]


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("gemini-3-flash-preview", SignatureState.LOST),
        ("gemini-2.5-flash", SignatureState.DROPPED),
        ("unlisted-model", SignatureState.LOST),
    ],
)
def test_a_dropped_signature_is_an_alarm_where_the_model_may_check(
    program: Program, name: str, state: SignatureState
) -> None:
    first = asked(program, [QUESTION], signed(CALL), name=name)
    second = asked(program, [QUESTION, model(CALL), ANSWERED], SAID, name=name)
    assert received(first) == sent(second) == [state]


def test_a_signature_of_a_call_that_is_not_the_first_may_be_dropped(program: Program) -> None:
    other = called("look", "id-2", oven=2)
    first = asked(program, [QUESTION], signed(CALL), signed(other, OTHER))
    answers = results(returned("look", "id-1"), returned("look", "id-2"))
    asked(program, [QUESTION, model(signed(CALL), other), answers], SAID)
    assert received(first) == [SignatureState.EQUAL, SignatureState.DROPPED]
