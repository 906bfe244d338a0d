"""The words for each kind of mistake in a field, and where they say it is."""

from typing import Any

import orjson
import pytest

from sessions_app.emulator import Emulator
from sessions_app.emulator.decisions import Rule
from tests.emulator.asking import ask, saying
from tests.emulator.helpers import Wire, generate, refusal, send

TYPES = "type.googleapis.com/google.ai.generativelanguage.v1beta."
STRUCT = "type.googleapis.com/google.protobuf.Struct"
BASE = {"role": "user", "parts": [{"text": "hello"}]}


def saying_part(**part: Any) -> Wire:
    return {"contents": [BASE, {"role": "model", "parts": [part]}]}


def configured(**config: Any) -> Wire:
    return saying(generationConfig=config)


def schema(**fields: Any) -> Wire:
    return configured(responseSchema={"properties": {"a": {}, "b": fields}})


@pytest.mark.parametrize(
    ("body", "where", "kind", "shown"),
    [
        (saying_part(text=5), "contents[1].parts[0].text", "TYPE_STRING", "5"),
        (saying_part(text="a", thought="perhaps"), "contents[1].parts[0].thought", "TYPE_BOOL", '"perhaps"'),
        (configured(maxOutputTokens="many"), "generation_config.max_output_tokens", "TYPE_INT32", '"many"'),
        (configured(seed=3812238859), "generation_config.seed", "TYPE_INT32", "3812238859"),
        (configured(top_p="high"), "generation_config.top_p", "TYPE_FLOAT", '"high"'),
        (configured(stopSequences=["a", 5]), "generation_config.stop_sequences[1]", "TYPE_STRING", "5"),
        (
            schema(minItems="few"),
            "generation_config.response_schema.properties[1].value.min_items",
            "TYPE_INT64",
            '"few"',
        ),
        (
            schema(minimum="low"),
            "generation_config.response_schema.properties[1].value.minimum",
            "TYPE_DOUBLE",
            '"low"',
        ),
        (
            schema(enum=["a", 1]),
            "generation_config.response_schema.properties[1].value.enum[1]",
            "TYPE_STRING",
            "1",
        ),
        (
            saying_part(text="a", thoughtSignature="not base64!"),
            "contents[1].parts[0].thought_signature",
            "TYPE_BYTES",
            'Base64 decoding failed for "not base64!"',
        ),
        ({"contents": "hello"}, "contents", f"{TYPES}Content", '"hello"'),
        ({"contents": ["hello"]}, "contents[0]", f"{TYPES}Content", '"hello"'),
        (saying(generationConfig=3), "generation_config", f"{TYPES}GenerationConfig", "3"),
        (saying(tools=[{"codeExecution": True}]), "tools[0].code_execution", f"{TYPES}CodeExecution", "true"),
        (
            saying_part(functionResponse={"name": "f", "response": "done"}),
            "contents[1].parts[0].function_response.response",
            STRUCT,
            '"done"',
        ),
    ],
)
def test_a_value_of_another_type_is_shown_with_the_type_of_the_field(
    emulator: Emulator, body: Wire, where: str, kind: str, shown: str
) -> None:
    error = generate(emulator, body)["error"]
    assert error["message"] == f"Invalid value at '{where}' ({kind}), {shown}"
    (detail,) = error["details"]
    assert detail["fieldViolations"] == [{"field": where, "description": error["message"]}]


def test_a_list_for_a_single_field_is_named_in_its_parent(emulator: Emulator) -> None:
    error = generate(emulator, saying_part(functionResponse={"name": "f", "response": []}))["error"]
    where = "contents[1].parts[0].function_response"
    assert error["message"] == (
        f"Invalid JSON payload received. Unknown name \"response\" at '{where}': "
        "Proto field is not repeating, cannot start list."
    )
    assert error["details"][0]["fieldViolations"][0]["field"] == where


@pytest.mark.parametrize(
    ("part", "second"),
    [
        ({"functionCall": {"name": "f"}, "text": "a"}, "text"),
        ({"text": "", "function_call": {"name": "f"}}, "function_call"),
        (
            {"text": "a", "inlineData": {"mimeType": "image/png", "data": "aGk="}, "thought": True},
            "inlineData",
        ),
    ],
)
def test_a_part_with_two_kinds_of_data_is_refused_in_the_quoted_words(
    emulator: Emulator, part: Wire, second: str
) -> None:
    assert refusal(emulator, saying_part(**part)) == (
        f"Invalid value at 'contents[1].parts[0]' (oneof), oneof field 'data' is already set. "
        f"Cannot set '{second}'"
    )


def test_a_part_with_one_kind_of_data_beside_null_is_taken(emulator: Emulator) -> None:
    assert not refusal(emulator, saying_part(text="a", thought=True, functionCall=None))


def test_an_object_for_a_scalar_is_named_beside_its_parent(emulator: Emulator) -> None:
    assert refusal(emulator, saying_part(text={"a": 1})) == (
        "Invalid value at 'contents[1].parts[0]' (text), Starting an object on a scalar field"
    )


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"model": "a", "tools": [{}]}, "Invalid value at 'tools[0].function' (Field required)"),
        (
            {"model": "a", "messages": [{"role": "ghost"}]},
            "Invalid value at 'messages[0].role' (Input should be",
        ),
    ],
)
def test_what_only_the_other_apis_demand_is_told_in_words_of_ours(
    emulator: Emulator, body: Wire, message: str
) -> None:
    headers = {"authorization": "Bearer emulator"}
    _, answer = send(emulator, "POST", "openai/chat/completions", body, headers=headers)
    assert orjson.loads(answer)[0]["error"]["message"].startswith(message)


def test_one_object_in_place_of_a_list_has_no_number(emulator: Emulator) -> None:
    assert "at 'contents[0].parts': Cannot" in refusal(emulator, {"contents": [{"parts": {"role": "user"}}]})
    assert "at 'contents.parts[0]': Cannot" in refusal(emulator, {"contents": {"parts": [{"role": "user"}]}})


def test_every_wrong_field_has_a_line_and_an_entry_in_the_order_of_the_body(emulator: Emulator) -> None:
    tools = [{"functionDeclarations": [{"name": "f", "parameters": {"$ref": "x", "items": {"$ref": "y"}}}]}]
    error = generate(emulator, {"bogus": 1, "tools": tools, "contents": [{"parts": [{"text": 5}]}]})["error"]
    where = "tools[0].function_declarations[0].parameters"
    fields = [violation.get("field", "") for violation in error["details"][0]["fieldViolations"]]
    assert fields == ["", where, f"{where}.items", "contents[0].parts[0].text"]
    described = [violation["description"] for violation in error["details"][0]["fieldViolations"]]
    assert error["message"].split("\n") == described


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        (saying(thunder=1), Rule.FIELD_UNKNOWN),
        (saying(generationConfig=3), Rule.VALUE_INVALID),
        (configured(thinkingConfig={"thinkingLevel": "deep"}), Rule.THINKING_UNSUPPORTED),
    ],
)
def test_a_wrong_field_keeps_the_rule_that_refused(emulator: Emulator, body: Wire, rule: Rule) -> None:
    assert ask(emulator, body)[1].rule is rule


def test_a_page_that_is_no_number_is_refused_in_proto_spelling(emulator: Emulator) -> None:
    error = orjson.loads(send(emulator, "GET", "models", pageSize="many")[1])["error"]
    assert error["message"] == "Invalid value at 'page_size' (TYPE_INT32), \"many\""
