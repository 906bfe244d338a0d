"""What broke a captured request, where its program changed something and the conversation went on."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from sessions_app.audit.audit import audit_session
from sessions_app.models import CaptureAddress
from sessions_app.prompt.parts import content, without_signature
from sessions_app.prompt.prefix_diff import BreakKind
from tests.capture.conversations import TOOLS, asked, body_of, call, model, result, user
from tests.capture.program import Program
from tests.factories import text_chunk

USAGE = {"promptTokenCount": 90, "candidatesTokenCount": 5, "totalTokenCount": 95}
ANSWER = text_chunk("This.", finish="STOP", usage=USAGE)
CALLED = call("weather", city="Oslo")
CALLED["parts"][0] |= {"thoughtSignature": "c2lnbmF0dXJl"}
UNSIGNED = content("model", [without_signature(part) for part in CALLED["parts"]])
GONE = [{"functionDeclarations": [{"name": "weather"}, {"name": "scales"}]}]


SNAKE = [{"function_declarations": [{"name": "weather"}]}]


@pytest.mark.django_db
def test_tools_in_another_spelling_are_no_change(alice: User) -> None:
    program = Program(CaptureAddress.issue(alice.pk, "Laptop")[0])
    contents = [user("Which?")]
    program.ask(body_of(contents), ANSWER)
    exchange = program.ask(body_of([*contents, model("This."), user("Why?")], tools=SNAKE), ANSWER).exchange
    assert exchange is not None and exchange.number == 2 and exchange.found_break is None
    assert list(audit_session(exchange.session_id, "captured")) == []
    assert asked(*contents, tools=SNAKE).lane == asked(*contents).lane


@pytest.mark.django_db
def test_a_part_that_joins_the_last_content_is_no_change(alice: User) -> None:
    """A client puts two answers in a row into one content; what came before it counts as before."""
    program = Program(CaptureAddress.issue(alice.pk, "Laptop")[0])
    question = user("Which of the two loaves is done by now?")
    signed = {"text": "The first of them, by its crust.", "thoughtSignature": "c2lnbmF0dXJl"}
    program.ask(body_of([question]), ANSWER)
    program.ask(body_of([question, content("model", [signed])]), ANSWER)
    joined = content("model", [signed, {"text": "And another long answer. " * 9}])
    exchange = program.ask(body_of([question, joined, user("Why?")]), ANSWER).exchange
    assert exchange is not None and exchange.number == 3 and exchange.found_break is None
    seen, ledger = exchange.verdict_figures["seen"], exchange.ledger_entries()
    assert seen["prefix_tokens"] < sum(entry.tokens for entry in ledger[:4])
    assert list(audit_session(exchange.session_id, "captured")) == []


@pytest.mark.parametrize(
    ("changes", "kind", "source"),
    [
        ({"system": "Be brief. The time is 10:05."}, BreakKind.CHANGED, "system"),
        ({"tools": GONE}, BreakKind.CHANGED, "tools"),
        ({"tools": None}, BreakKind.GONE, "tools"),
        (
            {"contents": [user("Which?"), UNSIGNED, result("weather", sky="clear")]},
            BreakKind.SIGNED_OTHERWISE,
            "turn:",
        ),
    ],
)
@pytest.mark.django_db
def test_what_changed_is_named_not_what_stands_in_its_place(
    alice: User, changes: dict[str, Any], kind: BreakKind, source: str
) -> None:
    program = Program(CaptureAddress.issue(alice.pk, "Laptop")[0])
    contents = [user("Which?"), CALLED, result("weather", sky="clear")]
    before: dict[str, Any] = {"contents": contents, "system": "Be brief. The time is 10:00.", "tools": TOOLS}
    program.ask(body_of(**before), ANSWER)
    now = before | changes
    now["contents"] = [*now["contents"], model("This."), user("Why?")]
    exchange = program.ask(body_of(**now), ANSWER).exchange
    assert exchange is not None and exchange.number == 2, "the session goes on"
    broken = exchange.found_break
    assert broken is not None and broken.kind == kind and broken.source.startswith(source)
