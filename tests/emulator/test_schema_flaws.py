"""Schemas that no answer fits, in the declaration of a function and of an answer alike."""

from typing import Any

import pytest

from sessions_app.emulator import Emulator
from sessions_app.emulator.schema_flaws import schema_flaws
from sessions_app.emulator.tool_declarations import Schema
from tests.emulator.asking import saying
from tests.emulator.helpers import Wire, refusal

TEXT = {"type": "STRING"}
PARAMETERS = "GenerateContentRequest.tools[0].function_declarations[0].parameters"
ANSWER = "GenerateContentRequest.generation_config.response_schema"


def within(**inner: Any) -> Wire:
    return {"type": "OBJECT", "properties": {"x": inner}}


def declaring(schema: Wire) -> Wire:
    return saying(tools=[{"functionDeclarations": [{"name": "f", "parameters": schema}]}])


def answering(schema: Wire) -> Wire:
    return saying(generationConfig={"responseMimeType": "application/json", "responseSchema": schema})


@pytest.mark.parametrize(
    ("schema", "lines"),
    [
        (within(type="ARRAY"), ["properties[x].items: missing field."]),
        (within(type="array", items={"type": "array"}), ["properties[x].items.items: missing field."]),
        (within(type="INTEGER", enum=["1"]), ["properties[x].enum: only allowed for STRING type"]),
        (within(enum=["a"]), ["properties[x].enum: only allowed for STRING type"]),
        (within(type="STRING", enum=["a", ""]), ["properties[x].enum[1]: cannot be empty"]),
        (
            within(type="STRING", properties={"y": TEXT}),
            ["properties[x].properties: only allowed for OBJECT type"],
        ),
        (within() | {"required": ["x", "y"]}, ["required[1]: property is not defined"]),
        (
            within(anyOf=[TEXT, {"required": ["y"]}]),
            [
                "properties[x].any_of[1].required: only allowed for OBJECT type",
                "properties[x].any_of[1].required[0]: property is not defined",
            ],
        ),
    ],
)
def test_a_schema_that_no_value_fits_is_refused(emulator: Emulator, schema: Wire, lines: list[str]) -> None:
    for root, body in ((PARAMETERS, declaring(schema)), (ANSWER, answering(schema))):
        assert refusal(emulator, body) == "".join(f"* {root}.{line}\n" for line in lines)


def test_a_list_of_types_is_a_list_for_a_single_field(emulator: Emulator) -> None:
    message = refusal(emulator, declaring(within(type=["string", "null"])))
    assert message == (
        'Invalid JSON payload received. Unknown name "type" at '
        "'tools[0].function_declarations[0].parameters.properties[0].value': "
        "Proto field is not repeating, cannot start list."
    )


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "OBJECT", "properties": {}},
        within(type="string", enum=["a", "b"], nullable=True) | {"required": ["x"]},
        within(type=5, items={"type": 1}),
        within(anyOf=[TEXT, {"type": "ARRAY", "items": TEXT}]),
    ],
)
def test_what_models_take_is_answered(emulator: Emulator, schema: Wire) -> None:
    assert not refusal(emulator, declaring(schema)) and not refusal(emulator, answering(schema))


def test_schemas_may_nest_deeper_than_the_stack() -> None:
    schema = Schema(type="ARRAY")
    for _ in range(3_000):
        schema = Schema(type="ARRAY", items=schema)
    (flaw,) = schema_flaws(schema, "s")
    assert flaw.where == f"s{'.items' * 3_001}"
