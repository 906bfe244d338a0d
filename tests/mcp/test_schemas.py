"""JSON Schemas in Gemini's subset: what goes, what is left out and said, whatever a server lists."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.mcp.listing import DECLARATION_LIMIT, TOOL_LIMIT, RawTool, function_name, listing_of
from sessions_app.mcp.schemas import LOSS_LIMIT, REFERRED_LIMIT, TYPES, parameters_of
from sessions_app.mcp_codes import ListingLoss, SchemaLoss

KEPT = {"type", "description", "enum", "items", "properties", "required", "nullable", "anyOf"}


def of(properties: dict[str, Any], **more: Any) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    found, losses = parameters_of({"type": "object", "properties": properties, **more})
    return found.get("properties", {}), list(losses)


def test_a_plain_schema_goes_whole_and_loses_nothing() -> None:
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string", "description": "Where"}, "days": {"type": "integer"}},
        "required": ["city"],
    }
    assert parameters_of({"$schema": "x", "additionalProperties": False, "title": "T", **schema}) == (
        schema,
        (),
    )


@pytest.mark.parametrize(
    ("schema", "expected", "losses"),
    [
        ({"type": ["string", "null"]}, {"type": "string", "nullable": True}, []),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, {"type": "integer", "nullable": True}, []),
        ({"oneOf": [{"type": "integer"}, {"type": "string"}]}, None, []),
        ({"const": "a"}, {"type": "string", "enum": ["a"]}, []),
        ({"type": "integer", "enum": [1, 2]}, {"type": "integer"}, [("enum", "x")]),
        ({"type": "integer", "minimum": 1}, {"type": "integer"}, [("keyword", "x:minimum")]),
        ({}, {"type": "string"}, [("type_assumed", "x")]),
        ({"type": ["integer", "string"]}, {"type": "integer"}, [("choices", "x")]),
        ({"$ref": "#/$defs/Missing"}, {"type": "string"}, [("reference", "x")]),
        ({"$ref": "https://example.org/s.json"}, {"type": "string"}, [("reference", "x")]),
        ({"type": "array"}, {"type": "array", "items": {"type": "string"}}, [("type_assumed", "x[]")]),
    ],
)
def test_each_form_has_its_translation_and_says_what_it_loses(
    schema: Any, expected: Any, losses: list[tuple[str, str]]
) -> None:
    properties, lost = of({"x": schema})
    if expected is None:
        expected = {"anyOf": [{"type": "integer"}, {"type": "string"}]}
    assert (properties["x"], lost) == (expected, losses)


def test_a_reference_is_resolved_and_a_schema_that_contains_itself_ends() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}, "name": {"type": "string"}}}
    properties, lost = of({"list": {"$ref": "#/$defs/Node"}}, **{"$defs": {"Node": node}})
    assert properties["list"]["properties"]["name"] == {"type": "string"}
    assert lost == [(SchemaLoss.RECURSION, "list.next")]


def test_what_is_required_and_left_out_is_not_required() -> None:
    found, losses = parameters_of(
        {"type": "object", "properties": {"a b": {"type": "string"}, "c": {"type": "string"}}}
        | {"required": ["a b", "c"]}
    )
    assert found["required"] == ["c"] and losses == ((SchemaLoss.PROPERTY_NAME, "a b"),)


@pytest.mark.parametrize("joined", ["anyOf", "oneOf", "allOf"])
def test_references_that_multiply_have_a_bound(joined: str) -> None:
    """Seven definitions, each of which names the next one two hundred times: 200 to the power of 7."""
    definitions: dict[str, Any] = {f"d{n}": {joined: [{"$ref": f"#/$defs/d{n + 1}"}] * 200} for n in range(7)}
    definitions["d7"] = {"required": ["x"] * 1_000, "properties": {"x": {}}}
    properties, lost = of({"a": {"$ref": "#/$defs/d0"}, "b": {"type": "string"}}, **{"$defs": definitions})
    assert len(orjson.dumps(properties)) < 20 * REFERRED_LIMIT and properties["b"] == {"type": "string"}
    assert {SchemaLoss.TOO_MANY_REFERENCES, SchemaLoss.CHOICES} & {code for code, _ in lost}


def is_in_subset(schema: Any) -> bool:
    if not isinstance(schema, dict) or not set(schema) <= KEPT:
        return False
    below = [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]
    below += [schema["items"]] if "items" in schema else []
    return (schema.get("type") in TYPES or "anyOf" in schema) and all(map(is_in_subset, below))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["object", "array"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "properties", "items", "anyOf", "allOf", "$ref", "enum", "required", "a"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@given(json_values)
def test_whatever_a_server_says_becomes_a_schema_of_the_subset(schema: Any) -> None:
    found, losses = parameters_of(schema)
    assert not found or is_in_subset(found)
    assert len(losses) <= LOSS_LIMIT


@given(st.lists(st.text(min_size=1, max_size=90), max_size=20, unique=True))
def test_the_names_of_functions_are_valid_and_never_the_same(names: list[str]) -> None:
    functions = [function_name("server", name) for name in names]
    assert len(set(functions)) == len(names)
    for name in functions:
        assert name.isascii() and len(name) <= 64 and name.replace("-", "_").isidentifier()


def test_a_list_has_a_bound_and_says_what_is_left_out() -> None:
    tools = [RawTool(f"tool{number:03d}", "", "", {"type": "object"}) for number in range(TOOL_LIMIT + 5)]
    huge = RawTool("huge", "", "", {"properties": {f"p{n}": {"description": "d" * 1_900} for n in range(50)}})
    listing = listing_of("s", [huge, tools[0], *tools])
    assert len(listing.tools) == TOOL_LIMIT
    assert dict(listing.losses) == {
        ListingLoss.TOO_LARGE: 1,
        ListingLoss.SAME_NAME: 1,
        ListingLoss.TOO_MANY_TOOLS: 5,
    }
    assert all(len(orjson.dumps(one.declaration)) <= DECLARATION_LIMIT for one in listing.tools)


def test_the_same_list_in_another_order_is_the_same_list() -> None:
    tools = [RawTool("b", "", "B", {"type": "object"}), RawTool("a", "", "A", {"type": "object"})]
    assert listing_of("s", tools) == listing_of("s", tools[::-1])


def test_a_tool_with_other_words_has_another_digest() -> None:
    one, two = (listing_of("s", [RawTool("a", "", text, {})]).tools[0] for text in ("A", "A, and more"))
    assert one.function == two.function and one.sha256 != two.sha256
