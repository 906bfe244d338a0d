"""An answer may come back in several contents, as google-genai keeps the chunks of a stream."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from sessions_app.inspector.received_signatures import received_traces
from sessions_app.inspector.signature_trace import SignatureState
from sessions_app.inspector.signature_tracers import SentSignatureTracer
from sessions_app.inspector.tabs.diff_tab import DiffTab
from sessions_app.models import CaptureAddress, Exchange, Turn
from sessions_app.prompt.comparisons import StateSubject
from sessions_app.prompt.parts import RawPart, call_part, content, text_part, without_signature
from tests.capture.answers import Asking, audited, counted, event
from tests.capture.conversations import body_of, model, result, user
from tests.factories import chunk
from tests.prices import make_price

pytestmark = pytest.mark.django_db

MODEL = "gemini-3-flash-preview"
FIRST, SECOND = user("How do I scale the loaf to two kilograms?"), user("And how long does it bake then?")
SIGNATURE = "c2lnbmVkLCBhbmQgbG9uZyBlbm91Z2g="
TALE: list[RawPart] = [
    {"text": "Two loaves?", "thought": True},
    *map(text_part, ("Double everything ", "but the yeast.")),
    {"text": "", "thoughtSignature": SIGNATURE},
]
CALLS: list[RawPart] = [
    call_part("weather", {"city": "Oslo"}, call_id="id-weather") | {"thoughtSignature": SIGNATURE},
    call_part("weather", {"city": "Rome"}, call_id="id-other"),
]


@pytest.fixture
def program(alice: User) -> Asking:
    make_price(MODEL)
    return Asking(CaptureAddress.issue(alice.pk, "Laptop")[0])


def streamed(program: Asking, parts: list[RawPart]) -> Exchange:
    ends = [""] * (len(parts) - 1) + ["STOP"]
    chunks = [chunk(part, usage=counted(9_000), finish=end) for part, end in zip(parts, ends, strict=True)]
    return program.exchange(body_of([FIRST]), b"".join(map(event, chunks)))


def asked(program: Asking, pieces: list[RawPart], *then: Any) -> Exchange:
    history = [FIRST, *(content("model", [part]) for part in pieces), *then]
    return program.exchange(body_of(history), event(chunk(text_part("An hour."), usage=counted(9_100))))


def names(exchange: Exchange) -> list[str]:
    return [item.source.name for item in exchange.sent_items() if item.source.role == "model"]


@pytest.mark.parametrize(("pieces", "then"), [(TALE, SECOND), (CALLS, result("weather", sky="clear"))])
def test_the_pieces_are_the_turn_of_the_answer(program: Asking, pieces: list[RawPart], then: Any) -> None:
    first, second = streamed(program, pieces), asked(program, pieces, then)
    answer = Turn.objects.get(exchange=first)
    assert names(second) == [f"turn:{answer.public}"] * len(pieces)
    assert Turn.objects.get(exchange=second).parent.parent == answer  # type: ignore[union-attr]
    assert Turn.objects.count() == 4 and not audited()


@pytest.mark.parametrize("pieces", [TALE, CALLS])
def test_a_signature_in_one_of_the_pieces_came_back(program: Asking, pieces: list[RawPart]) -> None:
    first, second = streamed(program, pieces), asked(program, pieces, SECOND)
    for traces in (received_traces(first), SentSignatureTracer(second).traces()):
        (trace,) = traces
        assert trace.state is SignatureState.EQUAL
        assert trace.received is not None and trace.received.exchange == first.number


def test_what_none_of_the_pieces_has_was_dropped_once(program: Asking) -> None:
    bare = [without_signature(part) for part in TALE]
    first, second = streamed(program, TALE), asked(program, bare, SECOND)
    answer = Turn.objects.get(exchange=first)
    assert set(names(second)) == {f"turn:{answer.public}"}
    for traces in (received_traces(first), SentSignatureTracer(second).traces()):
        assert [one.state for one in traces] == [SignatureState.DROPPED]


def test_what_a_program_puts_behind_an_answer_is_no_piece_of_it(program: Asking) -> None:
    first = streamed(program, TALE)
    second = asked(program, [*TALE, text_part("It was asked in the kitchen.")], SECOND)
    answer = Turn.objects.get(exchange=first)
    assert names(second)[-1] != f"turn:{answer.public}" and not audited()


def test_the_pieces_stay_what_they_were_in_the_next_request(program: Asking) -> None:
    streamed(program, TALE)
    second = asked(program, TALE, SECOND)
    third = asked(program, TALE, SECOND, model("An hour."), FIRST)
    assert names(third)[:-1] == names(second) and third.break_line == {}
    told = {
        one.how: one.name for one in DiffTab().read(second, {}).state if one.subject is StateSubject.HISTORY
    }
    assert told == {"new": "2 turns"}
