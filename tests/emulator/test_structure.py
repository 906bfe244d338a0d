import base64

import pytest

from sessions_app.emulator import Emulator
from sessions_app.emulator.signatures import DUMMY_WORDS
from tests.emulator.wire import Wire, answers, call, model, refusal, user

SIGNED = call("f", DUMMY_WORDS[0])
DONE = answers(("f", {}))


def test_no_contents_are_refused_in_the_recorded_words(emulator: Emulator) -> None:
    assert refusal(emulator, {}) == "* GenerateContentRequest.contents: contents is not specified\n"


@pytest.mark.parametrize(
    ("contents", "words"),
    [
        ([user("a"), DONE], "function response turn comes immediately after a function call turn"),
        ([user("a"), model({"text": "b"}), DONE], "function response turn comes immediately after"),
        ([model(SIGNED), DONE], "function call turn comes immediately after a user turn"),
        (
            [user("a"), model({"text": "b"}), model(SIGNED), DONE],
            "function call turn comes immediately after",
        ),
        ([user("a"), model(SIGNED), answers(("f", {}), ("f", {}))], "number of function response parts"),
        ([user("a"), model(SIGNED), user("b")], "number of function response parts"),
        ([user("a"), model(SIGNED)], "number of function response parts"),
        ([{"role": "banana", "parts": [{"text": "a"}]}], "Role 'banana' is not supported."),
        ([{"role": "user"}], "contents[0].parts: contents.parts must not be empty."),
        ([user("a"), model({"thought": True})], "contents[1].parts[0].data: required oneof field 'data'"),
    ],
)
def test_a_broken_order_is_refused(emulator: Emulator, contents: list[Wire], words: str) -> None:
    assert words in refusal(emulator, {"contents": contents})


@pytest.mark.parametrize("role", ["user", "function", "tool"])
def test_answers_come_under_any_of_their_roles(emulator: Emulator, role: str) -> None:
    assert not refusal(emulator, {"contents": [user("a"), model(SIGNED), {**DONE, "role": role}]})


def test_a_missing_role_is_the_user(emulator: Emulator) -> None:
    assert not refusal(emulator, {"contents": [{"parts": [{"text": "hello"}]}]})


def test_two_user_texts_in_a_row_are_fine(emulator: Emulator) -> None:
    assert not refusal(emulator, {"contents": [user("static", "dynamic"), user("hello")]})


def test_a_part_with_only_a_signature_is_accepted(emulator: Emulator) -> None:
    bare = {"thoughtSignature": base64.b64encode(DUMMY_WORDS[1].encode()).decode()}
    assert not refusal(emulator, {"contents": [user("a"), model({"text": "b"}, bare), user("c")]})


def test_an_empty_tool_is_refused(emulator: Emulator) -> None:
    message = refusal(emulator, {"contents": [user("a")], "tools": [{}]})
    assert message == "tools[0].tool_type: required one_of 'tool_type' must have one initialized field"


@pytest.mark.parametrize(
    ("served", "thinking", "words"),
    [
        ("gemini-2.5-flash", {"thinkingLevel": "HIGH"}, "Thinking level is not supported for this model."),
        ("gemini-4-argon", {"thinkingBudget": 10}, "Use thinking level instead."),
        ("gemini-3.5-flash", {"thinkingBudget": 1, "thinkingLevel": "LOW"}, "only set only one of"),
        ("gemini-3.5-flash", {"thinking_level": "LOW"}, ""),
        ("gemini-2.5-pro", {"thinking_budget": 100}, ""),
    ],
)
def test_thinking_is_what_the_model_knows(
    emulator: Emulator, served: str, thinking: Wire, words: str
) -> None:
    body = {"contents": [user("a")], "generationConfig": {"thinkingConfig": thinking}}
    message = refusal(emulator, body, served)
    assert words in message and bool(words) == bool(message)
