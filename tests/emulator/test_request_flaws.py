"""What a prompt lacks, all of it in one answer."""

import orjson
import pytest

from sessions_app.emulator import Emulator
from sessions_app.emulator.decisions import Rule
from tests.emulator.asking import ask
from tests.emulator.helpers import FLASH, Wire, answers, call, declare, model, refusal, send, user


def places(message: str) -> list[str]:
    """Where each line says that something is wrong; every line begins with a star and ends with a break."""
    assert message.endswith("\n")
    return [line.removeprefix("* ").partition(": ")[0] for line in message.splitlines()]


def test_every_empty_content_and_part_has_a_line(emulator: Emulator) -> None:
    contents = [{"parts": []}, user("a"), model({"thought": True}, {"text": "b"}, {})]
    message = refusal(emulator, {"contents": contents, "tools": declare(**{"a b": []})})
    assert places(message) == [
        "GenerateContentRequest.contents[0].parts",
        "GenerateContentRequest.contents[2].parts[0].data",
        "GenerateContentRequest.contents[2].parts[2].data",
        "GenerateContentRequest.tools[0].function_declarations[0].name",
    ]


def test_an_empty_part_of_the_system_instruction_has_a_line(emulator: Emulator) -> None:
    body = {"contents": [user("a")], "systemInstruction": {"parts": [{"text": "a"}, {}]}}
    assert places(refusal(emulator, body)) == ["GenerateContentRequest.system_instruction.parts[1].data"]


def test_calls_and_responses_have_names(emulator: Emulator) -> None:
    contents = [user("a"), model(call("")), answers(("", {}))]
    message = refusal(emulator, {"contents": contents}, "gemini-2.5-flash")
    assert places(message) == [
        "GenerateContentRequest.contents[1].parts[0].function_call.name",
        "GenerateContentRequest.contents[2].parts[0].function_response.name",
    ]
    assert message.endswith(": Name cannot be empty.\n")


@pytest.mark.parametrize(
    ("content", "rule"), [({"parts": []}, Rule.PARTS_MISSING), ({"parts": [{}]}, Rule.PART_EMPTY)]
)
def test_the_first_line_is_the_rule_that_refused(emulator: Emulator, content: Wire, rule: Rule) -> None:
    assert ask(emulator, {"contents": [content, {"parts": [{}]}]})[1].rule is rule


def test_the_contents_of_a_cache_are_held_to_the_same(emulator: Emulator) -> None:
    body = {"model": f"models/{FLASH}", "contents": [user("a"), {"parts": []}]}
    error = orjson.loads(send(emulator, "POST", "cachedContents", body)[1])["error"]
    assert places(error["message"]) == ["CreateCachedContentRequest.contents[1].parts"]


@pytest.mark.parametrize("category", ["HARM_CATEGORY_TOXICITY", "HARM_CATEGORY_UNSPECIFIED", 2])
def test_a_safety_setting_of_another_category_is_refused_in_the_quoted_words(
    emulator: Emulator, category: str | int
) -> None:
    settings = [
        {"category": "HARM_CATEGORY_HARASSMENT", "threshold": "OFF"},
        {"category": category, "threshold": "OFF"},
    ]
    assert refusal(emulator, {"contents": [user("a")], "safetySettings": settings}) == (
        "* GenerateContentRequest.safety_settings[1]: element predicate failed: $.category in "
        "(HarmCategory.HARM_CATEGORY_HATE_SPEECH, HarmCategory.HARM_CATEGORY_SEXUALLY_EXPLICIT, "
        "HarmCategory.HARM_CATEGORY_DANGEROUS_CONTENT, HarmCategory.HARM_CATEGORY_HARASSMENT, "
        "HarmCategory.HARM_CATEGORY_CIVIC_INTEGRITY)\n"
    )
    assert not refusal(emulator, {"contents": [user("a")], "safetySettings": settings[:1]})
