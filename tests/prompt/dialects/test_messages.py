from typing import Any

import pytest

from sessions_app.prompt.calls import CallResponse, FunctionCall
from sessions_app.prompt.dialects.messages import (
    CallBlock,
    MediaBlock,
    Message,
    ResultBlock,
    TextBlock,
    declarations_of,
    joined,
    messages_of,
    schema_of,
)
from sessions_app.prompt.turns import tool_response
from tests.prompt.examples import call, content, text
from tests.prompt.renditions.examples import FLIGHT


def answer(name: str, key: str = "", response: Any = None) -> dict[str, Any]:
    named = {"id": key} if key else {}
    return {"functionResponse": {**named, "name": name, "response": response or {}}}


def ids(messages: list[Message]) -> list[str]:
    blocks = (block for message in messages for block in message.blocks)
    return [block.id for block in blocks if isinstance(block, CallBlock | ResultBlock)]


def test_roles_and_texts_are_kept_and_signatures_stay_on_their_part() -> None:
    told = messages_of([content("user", text("Hi")), content("model", text("Yo", thoughtSignature="QQ=="))])
    assert told == [Message("user", (TextBlock("Hi"),)), Message("assistant", (TextBlock("Yo", "QQ=="),))]


def test_thoughts_are_left_out_and_a_content_of_thoughts_is_no_message() -> None:
    assert messages_of([content("model", text("Hm", thought=True))]) == []


def test_an_empty_text_stays_only_for_its_signature() -> None:
    told = messages_of([content("model", text("Yo"), text(""), text("", thoughtSignature="QQ=="))])
    assert told[0].blocks == (TextBlock("Yo"), TextBlock("", "QQ=="))


def test_calls_without_ids_get_ids_that_their_answers_share() -> None:
    calls = content("model", call("a", "QQ=="), call("b"))
    told = messages_of([calls, content("user", answer("a"), answer("b"))])
    assert ids(told) == ["call-0-0", "call-0-1", "call-0-0", "call-0-1"]
    assert [one.signature for one in told[0].calls] == ["QQ==", ""]


def test_two_calls_of_one_function_are_answered_in_order() -> None:
    told = messages_of([content("model", call("a"), call("a")), content("user", answer("a"), answer("a"))])
    assert ids(told)[2:] == ["call-0-0", "call-0-1"]


def test_an_id_that_comes_back_is_made_unique_for_call_and_answer() -> None:
    turn = FunctionCall(0, "function-call-1", "a", {})
    calling = content("model", {"functionCall": {"id": turn.id, "name": "a", "args": {}}})
    answered = tool_response("k", [CallResponse(turn, {})]).wire
    told = messages_of([calling, answered, calling, answered])
    assert ids(told)[:2] == ["function-call-1"] * 2
    assert ids(told)[2:] == ["function-call-1-2-0"] * 2


def test_an_id_has_only_characters_that_every_provider_takes() -> None:
    """What another text would lead to as well has a hash."""
    odd, long = (
        content("model", {"functionCall": {"id": one, "name": "f", "args": {}}})
        for one in ("a.b/ç", "c" * 41)
    )
    assert ids(messages_of([odd, long])) == ["a-b---7df56368", f"{'c' * 31}-2d55900a"]
    longest = content("model", {"functionCall": {"id": "c" * 40, "name": "f", "args": {}}})
    assert ids(messages_of([longest])) == ["c" * 40]


def test_answers_find_their_calls_by_id_in_any_order() -> None:
    parts: list[dict[str, Any]] = [
        {"functionCall": {"id": key, "name": "f", "args": {}}} for key in ("x", "y", "z")
    ]
    given = (answer("f", key) for key in ("z", "x", "y"))
    told = messages_of([content("model", *parts), content("user", *given)])
    assert ids(told)[3:] == ["z", "x", "y"]


@pytest.mark.parametrize("key", ["", "x"])
def test_an_answer_finds_its_call_where_one_of_the_two_has_no_id(key: str) -> None:
    calls = content("model", {"functionCall": {"name": "f", "args": {}} | ({"id": key} if key else {})})
    told = messages_of([calls, content("user", answer("f", "" if key else "own"))])
    assert ids(told) == [key or "call-0-0"] * 2


def test_an_answer_in_a_content_of_its_own_finds_a_call_that_still_waits() -> None:
    told = messages_of(
        [content("model", call("a"), call("a")), *(content("user", answer("a")) for _ in range(3))]
    )
    assert ids(told)[2:] == ["call-0-0", "call-0-1", "unasked-3-0"]


def test_an_answer_that_nobody_asked_for_says_so() -> None:
    assert ids(messages_of([content("user", answer("ghost"))])) == ["unasked-0-0"]


@pytest.mark.parametrize(("response", "failed"), [({"error": "no"}, True), ({"result": 1}, False)])
def test_a_failed_tool_is_known_by_its_error(response: dict[str, object], failed: bool) -> None:
    block = messages_of([content("user", answer("f", response=response))])[0].blocks[0]
    assert isinstance(block, ResultBlock) and (block.name, block.failed) == ("f", failed)


def test_a_result_of_elsewhere_without_a_response_or_with_files_is_told() -> None:
    picture = {"inlineData": {"mimeType": "image/png", "data": "QQ=="}}
    found = {"name": "f"}, {"name": "f", "response": {"output": "Here."}, "parts": [picture]}
    told = messages_of([content("user", {"functionResponse": one}) for one in found])
    assert [one.answers[0].content for one in told] == ["null", '{"output":"Here."}']


def test_what_stands_in_place_of_a_part_is_a_paragraph() -> None:
    code = TextBlock("```1```", is_apart=True)
    told = [code, TextBlock("One"), TextBlock(" and"), code, TextBlock(""), code]
    assert joined(told) == "```1```\n\nOne and\n\n```1```\n\n```1```"
    assert joined([TextBlock(""), code]) == "```1```"


def test_arguments_that_came_in_pieces_are_put_together() -> None:
    opening = {"functionCall": {"name": "f", "willContinue": True}}
    piece = {"functionCall": {"partialArgs": [{"jsonPath": "$.a", "stringValue": "1"}], "willContinue": True}}
    told = messages_of([content("model", opening, piece, {"functionCall": {}}, text("And"), call("g"))])
    called = CallBlock("call-0-0", "f", {"a": "1"}), CallBlock("call-0-1", "g", {})
    assert told[0].blocks == (called[0], TextBlock("And"), called[1])


def test_files_are_kept_inline_or_by_address() -> None:
    inline = {"inlineData": {"mimeType": "image/png", "data": "QQ=="}}
    stored = {"file_data": {"mime_type": "application/pdf", "file_uri": "https://files.example/1"}}
    told = messages_of([content("user", inline, stored)])
    assert told[0].blocks == (
        MediaBlock("image/png", "QQ=="),
        MediaBlock("application/pdf", uri="https://files.example/1"),
    )


def test_declarations_are_found_in_both_spellings() -> None:
    tools: list[dict[str, Any]] = [
        {"functionDeclarations": [FLIGHT]},
        {"function_declarations": [{"name": "b"}]},
        {"googleSearch": {}},
    ]
    assert [one["name"] for one in declarations_of(tools)] == ["check_flight", "b"]


def test_type_names_become_lower_case_and_a_property_called_type_is_no_type() -> None:
    schema = schema_of(FLIGHT)
    assert schema["type"] == "object"
    assert schema["properties"] == {"flight": {"type": "string"}, "type": {"type": "string"}}


def test_nested_types_become_lower_case_and_values_do_not() -> None:
    inner = {"type": "ARRAY", "items": {"type": "STRING", "enum": ["A"]}, "anyOf": [{"type": "NULL"}]}
    assert schema_of({"parameters": inner}) == {
        "type": "array",
        "items": {"type": "string", "enum": ["A"]},
        "anyOf": [{"type": "null"}],
    }


def test_types_become_lower_case_wherever_a_schema_stands_and_nowhere_else() -> None:
    prices = {"type": "OBJECT", "additionalProperties": {"type": "NUMBER"}, "properties": None}
    kept = {"default": {"type": "ROUND"}, "example": [{"type": "FLAT"}], "enum": ["STRING"]}
    told = schema_of({"parameters": {**prices, **kept, "defs": {"Price": prices}}})
    lower = {"type": "object", "additionalProperties": {"type": "number"}, "properties": None}
    assert told == {**lower, **kept, "defs": {"Price": lower}}


def test_a_function_without_parameters_has_an_empty_object() -> None:
    assert schema_of({"name": "now"}) == {"type": "object", "properties": {}}


def test_json_schema_is_taken_as_it_is() -> None:
    schema = {"type": "object", "properties": {"a": {"const": 1}}}
    assert schema_of({"parametersJsonSchema": schema}) == schema
