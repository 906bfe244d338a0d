from typing import Any

import jsonschema
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.emulator import Emulator
from sessions_app.emulator.sample_content import sample
from tests.emulator.helpers import generate, text_of, user

LEAVES = st.sampled_from([{"type": "string"}, {"type": "INTEGER"}, {"type": "boolean"}, {"enum": ["a", "b"]}])
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(lambda items: {"type": "array", "items": items}, inner),
        st.builds(
            lambda fields: {"type": "object", "properties": fields},
            st.dictionaries(st.text("abc", min_size=1), inner, max_size=3),
        ),
    ),
    max_leaves=6,
)
KINDS = {"string": str, "integer": int, "boolean": bool}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "STRING"}, "value"),
        ({"type": ["integer", "null"], "minimum": 7}, 7),
        ({"type": "number"}, 1),
        ({"type": "null"}, None),
        ({"const": 5}, 5),
        ({"type": "string", "format": "date"}, "2026-01-01"),
        ({"anyOf": [{"type": "boolean"}, {"type": "string"}]}, True),
        ({"type": "array", "items": {"type": "string"}, "minItems": 2}, ["value", "value"]),
        ({"type": "object", "properties": {"word": {"type": "STRING"}}}, {"word": "word"}),
        ({"$ref": "#/$defs/City", "$defs": {"City": {"enum": ["Paris"]}}}, "Paris"),
        ({"type": "integer", "minimum": 1e300}, 1),
        (None, "value"),
    ],
)
def test_a_sample_fits_its_schema(schema: Any, value: Any) -> None:
    assert sample(schema) == value


def test_the_declared_order_is_kept() -> None:
    fields = {"a": {"type": "string"}, "b": {"type": "string"}}
    assert list(sample({"properties": fields, "propertyOrdering": ["b", "a"]})) == ["b", "a"]


def test_a_schema_that_contains_itself_ends() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
    assert sample({"$ref": "#/$defs/Node", "$defs": {"Node": node}})["next"]["next"]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "minimum": 5.0},
        {"type": "integer", "minimum": 4.5},
        {"type": "integer", "maximum": 0},
        {"type": "number", "maximum": 0.5},
        {"type": "number", "minimum": -3, "maximum": -2},
        {"type": "string", "minLength": 12},
        {"type": "string", "maxLength": 3},
        {"type": "array", "items": {"type": "string"}, "maxItems": 0},
        {
            "type": "array",
            "prefixItems": [{"type": "number"}, {"type": "boolean"}],
            "items": {"type": "string"},
        },
        {"type": "array", "prefixItems": [{"type": "number"}], "items": {"type": "null"}, "minItems": 3},
        {
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
            "propertyOrdering": ["a"],
            "required": ["b"],
        },
        {"type": "object", "properties": {"next": {"$ref": "#"}}},
        {
            "$ref": "#/$defs/node",
            "$defs": {
                "node": {
                    "type": "object",
                    "properties": {"next": {"$ref": "#/$defs/node"}, "word": {"type": "string"}},
                    "required": ["word"],
                }
            },
        },
        {
            "type": "object",
            "properties": {"below": {"type": "array", "items": {"$ref": "#"}}},
            "required": ["below"],
        },
    ],
)
def test_limits_of_a_schema_are_kept(schema: dict[str, Any]) -> None:
    """Told by a validator that shares nothing with it."""
    value = orjson.loads(orjson.dumps(sample(schema)))
    jsonschema.validate(value, schema)
    assert schema.get("type") != "integer" or isinstance(value, int)


@pytest.mark.parametrize(("kind", "written"), [("INTEGER", "5"), ("NUMBER", "5.0")])
def test_a_limit_of_a_whole_number_is_written_as_one(emulator: Emulator, kind: str, written: str) -> None:
    config = {"responseMimeType": "application/json", "responseSchema": {"type": kind, "minimum": 5}}
    answer = generate(emulator, {"contents": [user("hello")], "generationConfig": config})
    assert text_of([answer]) == written


@given(SCHEMAS)
def test_any_schema_is_fitted(schema: dict[str, Any]) -> None:
    assert fits(sample(schema), schema)


WORDS = st.sampled_from(
    ["type", "items", "properties", "enum", "anyOf", "$ref", "minItems", "propertyOrdering", "minimum", "a"]
)
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-9, 9), st.text(max_size=5), st.sampled_from(["#/a", "array"])
)
NONSENSE = st.recursive(
    VALUES, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=4))
)


@given(NONSENSE)
def test_nonsense_is_sampled_without_complaint(schema: Any) -> None:
    orjson.dumps(sample(schema), option=orjson.OPT_NON_STR_KEYS)


def fits(value: Any, schema: dict[str, Any]) -> bool:
    if "enum" in schema:
        return value in schema["enum"]
    if schema["type"] == "array":
        return all(fits(item, schema["items"]) for item in value)
    if schema["type"] == "object":
        return all(fits(value[name], inner) for name, inner in schema["properties"].items())
    return isinstance(value, KINDS[schema["type"].lower()])
