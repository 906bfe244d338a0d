"""Contents whose parts are one object, as in Google's examples for curl: the provider reads a list of one."""

import pytest
from django.contrib.auth.models import User

from sessions_app.models import CaptureAddress, Exchange
from sessions_app.prompt import wire
from tests.capture.answers import MODEL, Asking, audited, says
from tests.prices import make_price

pytestmark = pytest.mark.django_db

QUESTION = "How do I scale the loaf to two kilograms?"


@pytest.fixture
def program(alice: User) -> Asking:
    make_price(MODEL)
    return Asking(CaptureAddress.issue(alice.pk, "Laptop")[0])


def body_of(*texts: str, is_listed: bool) -> bytes:
    parts = [{"text": text} for text in texts]
    roles = ("user", "model") * len(texts)
    contents = [
        {"role": role, "parts": [part] if is_listed else part}
        for role, part in zip(roles, parts, strict=False)
    ]
    rule = {"text": "Answer as a baker who has two ovens would."}
    system = {"parts": [rule] if is_listed else rule}
    return wire.dumps({"systemInstruction": system, "contents": contents})


def layers(exchange: Exchange) -> tuple[str, dict[str, int]]:
    return exchange.run.trigger.text if exchange.run.trigger else "", exchange.layer_tokens


def test_the_message_is_the_same_with_a_list_and_without(program: Asking) -> None:
    asked, listed = (
        program.exchange(body_of(QUESTION, is_listed=one), says("Double it.")) for one in (False, True)
    )
    assert layers(asked) == layers(listed) and layers(asked)[0] == QUESTION
    assert asked.layer_tokens["trigger"] and asked.session.title.startswith("How do I scale")


@pytest.mark.parametrize("is_listed", [False, True])
def test_a_change_is_found_where_it_is(program: Asking, *, is_listed: bool) -> None:
    program.exchange(body_of(QUESTION, is_listed=is_listed), says("Double it.", 9_000), name="mine")
    second = (QUESTION, "Double it.", "And then?")
    program.exchange(body_of(*second, is_listed=is_listed), says("Bake it.", 9_050), name="mine")
    third = (QUESTION, "Double all of it.", "And then?", "Bake it.", "Thanks for that.")
    later = program.exchange(body_of(*third, is_listed=is_listed), says("Fine.", 9_100), name="mine")
    broken = later.found_break
    assert broken is not None and broken.at is not None
    assert broken.at.char == len("Double ") and not audited()


@pytest.mark.parametrize("parts", [[{}], {}, [], [{}, {}], [{"text": "And then?"}, {}], "words", None, [5]])
def test_the_audit_reads_contents_that_hold_nothing_as_the_page_does(program: Asking, parts: object) -> None:
    question = {"role": "user", "parts": [{"text": QUESTION}]}
    system = {"parts": [{"text": "Answer as a baker who has two ovens would."}]}
    for contents in ([question], [question, {"role": "user", "parts": parts}], [question, question]):
        body = wire.dumps({"systemInstruction": system, "contents": contents})
        program.exchange(body, says("Double it.", 9_000), name="mine")
    assert Exchange.objects.filter(previous__isnull=False).count() == 2 and not audited()
