"""Schemas that the provider takes, and answers held against them."""

from time import process_time
from typing import Any

import orjson
import pytest

from sessions_app.prompt.answer_schema import (
    DEEPEST,
    LONGEST,
    MOST_PLACES,
    Fit,
    SchemaProblem,
    fault_of,
    fit_of,
    parsed,
)
from sessions_app.wording.answer_schemas import fit, schema_fault

CITY: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "Its name."},
        "people": {"type": ["integer", "null"], "minimum": 0},
        "kinds": {"type": "array", "items": {"$ref": "#/$defs/kind"}, "maxItems": 2},
    },
    "required": ["city"],
    "propertyOrdering": ["city", "people"],
    "additionalProperties": False,
    "$defs": {"kind": {"enum": ["port", "capital"]}},
}


def of(schema: object) -> str:
    return orjson.dumps(schema).decode()


def test_a_schema_of_what_the_provider_takes_has_no_fault() -> None:
    assert fault_of(of(CITY)) is None and parsed(of(CITY)) == CITY
    assert fault_of(of({"oneOf": [{"type": "string"}, {"type": "null"}]})) is None
    assert parsed("") is None and parsed("{") is None


def nested(levels: int) -> dict[str, Any]:
    return {"items": nested(levels - 1)} if levels else {"type": "string"}


@pytest.mark.parametrize(
    ("text", "problem", "path", "figures"),
    [
        ("{", SchemaProblem.NOT_JSON, "$", {"line": 1, "column": 2}),
        ('{\n  "a": x}', SchemaProblem.NOT_JSON, "$", {"line": 2, "column": 8}),
        ("[1]", SchemaProblem.NOT_OBJECT, "$", {}),
        (of({"pattern": "a+"}), SchemaProblem.UNKNOWN_KEYWORD, "$", {"keyword": "pattern"}),
        (
            of({"properties": {"a": {"items": {"const": 1}}}}),
            SchemaProblem.UNKNOWN_KEYWORD,
            "$.properties.a.items",
            {"keyword": "const"},
        ),
        (of({"anyOf": [{}, {"type": 3}]}), SchemaProblem.WRONG_VALUE, "$.anyOf[1]", {"keyword": "type"}),
        (of({"enum": [True]}), SchemaProblem.WRONG_VALUE, "$", {"keyword": "enum"}),
        (of({"minItems": -1}), SchemaProblem.WRONG_VALUE, "$", {"keyword": "minItems"}),
        ('{"maximum": 1e400}', SchemaProblem.WRONG_VALUE, "$", {"keyword": "maximum"}),
        ('{"enum": [NaN]}', SchemaProblem.WRONG_VALUE, "$", {"keyword": "enum"}),
        (of({"type": "text"}), SchemaProblem.UNKNOWN_TYPE, "$", {"name": "text"}),
        (of({"properties": {}, "required": ["a"]}), SchemaProblem.NOT_DESCRIBED, "$", {"name": "a"}),
        (of({"$ref": "#/$defs/b"}), SchemaProblem.NO_TARGET, "$", {"name": "#/$defs/b"}),
        (
            of({"$ref": "#/$defs/b", "$defs": {"b": {}}, "type": "object"}),
            SchemaProblem.BESIDE_REFERENCE,
            "$",
            {"keyword": "type"},
        ),
        ("x" * (LONGEST + 1), SchemaProblem.TOO_LONG, "$", {"limit": LONGEST}),
        (
            of(nested(DEEPEST + 1)),
            SchemaProblem.TOO_DEEP,
            "$" + ".items" * (DEEPEST + 1),
            {"limit": DEEPEST},
        ),
    ],
)
def test_a_fault_has_its_place(text: str, problem: SchemaProblem, path: str, figures: dict[str, Any]) -> None:
    found = fault_of(text)
    assert found is not None
    assert (found.problem, found.path, dict(found.figures)) == (problem, path, figures)
    assert schema_fault(found)


FITTING: dict[str, list[Any]] = {
    "type": ["string", ["string", "null"]],
    "title": ["", "A name"],
    "minItems": [0, 1],
    "maxItems": [0, 7],
    "minimum": [0, -1.5],
    "maximum": [0, 1e308, -1e308],
    "required": [[]],
    "propertyOrdering": [[]],
    "properties": [{}, {"a": {}}],
    "prefixItems": [[{}]],
    "anyOf": [[{}]],
    "oneOf": [[{}]],
    "enum": [["a", 1, 0.5]],
    "items": [{}],
    "additionalProperties": [True, False, {}],
}
"""Values that each keyword takes."""

ODD: list[Any] = [
    "3",
    1.5,
    -1,
    True,
    None,
    [],
    [1],
    [True],
    ["a", None],
    {},
    {"a": 1},
    [{}],
    "object",
    ["string"],
]

TAKEN: dict[str, list[Any]] = {
    "type": ["3", "object", ["string"]],
    "title": ["3", "object"],
    "minimum": [1.5, -1],
    "maximum": [1.5, -1],
    "required": [[], ["string"]],
    "propertyOrdering": [[], ["string"]],
    "properties": [{}],
    "prefixItems": [[{}]],
    "anyOf": [[{}]],
    "oneOf": [[{}]],
    "enum": [[1], ["string"]],
    "items": [{}, {"a": 1}],
    "additionalProperties": [True, {}, {"a": 1}],
}
"""Those of ODD whose kind each keyword takes; what stands in them may be refused at another place."""


@pytest.mark.parametrize("keyword", FITTING)
def test_a_keyword_takes_values_of_its_kind_only(keyword: str) -> None:
    assert [fault_of(of({keyword: value})) for value in FITTING[keyword]] == [None] * len(FITTING[keyword])
    wrong = (SchemaProblem.WRONG_VALUE, "$", {"keyword": keyword})
    refused = [value for value in ODD if (found := fault_of(of({keyword: value}))) and tuple(found) == wrong]
    assert sorted(map(of, ODD)) == sorted(map(of, [*refused, *TAKEN.get(keyword, [])]))


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ('{"city": "Oslo", "people": null}', Fit(case="fits")),
        ('{"city": 3}', Fit(case="misfit", path="$.city", rule="type", places=1)),
        ('{"people": -1}', Fit(case="misfit", path="$", rule="required", places=2)),
        ('{"city": "O", "kinds": ["x"]}', Fit(case="misfit", path="$.kinds[0]", rule="enum", places=1)),
        ('{"city": "O", "more": 1}', Fit(case="misfit", path="$", rule="additionalProperties", places=1)),
        ("Oslo", Fit(case="no_json")),
        ("", Fit(case="no_json")),
    ],
)
def test_an_answer_fits_or_says_where_not(answer: str, expected: Fit) -> None:
    found = fit_of(answer, CITY)
    assert found == expected and Fit.restored(found.stored()) == found
    assert fit(found)


def test_one_of_is_read_as_any_of_as_the_provider_does() -> None:
    both = {"oneOf": [{"type": "integer"}, {"type": "number"}]}
    assert fit_of("1", both).case == "fits"


@pytest.mark.parametrize(("answer", "case"), [("5", "fits"), ('"x"', "misfit"), ("5.5", "misfit")])
def test_one_of_and_any_of_hold_both(answer: str, case: str) -> None:
    one, either = [{"type": "integer"}], [{"type": "string"}, {"type": "number"}]
    assert fit_of(answer, {"oneOf": one, "anyOf": either}).case == case
    assert fit_of(answer, {"anyOf": either, "oneOf": one}).case == case


@pytest.mark.parametrize("place", ["properties", "$defs"])
def test_a_name_that_is_a_keyword_elsewhere_is_a_name(place: str) -> None:
    named: dict[str, Any] = {"oneOf": {"oneOf": [{"type": "string"}, {"type": "null"}]}}
    below: dict[str, Any] = {"$defs": named, "properties": {"oneOf": {"$ref": "#/$defs/oneOf"}}}
    schema = below if place == "$defs" else {"properties": named}
    whole: dict[str, Any] = {"type": "object", "required": ["oneOf"], "additionalProperties": False} | schema
    assert fault_of(of(whole)) is None
    assert fit_of('{"oneOf": "x"}', whole).case == fit_of('{"oneOf": null}', whole).case == "fits"
    assert fit_of('{"oneOf": 1}', whole).path == "$.oneOf"


def test_a_place_is_told_without_what_no_database_takes() -> None:
    found = fit_of(r'{"a\u0000b\ud83d": "x"}', {"additionalProperties": {"type": "integer"}})
    assert found.case == "misfit" and "ab\ufffd" in found.path


def test_the_first_place_is_that_of_the_lowest_number() -> None:
    answer = orjson.dumps([0, 0, "x", *[0] * 7, "y"]).decode()
    schema = {"type": "array", "items": {"type": "integer"}}
    assert fit_of(answer, schema) == Fit(case="misfit", path="$[2]", rule="type", places=2)


def test_places_are_counted_to_a_limit() -> None:
    answer = orjson.dumps(["x"] * (MOST_PLACES + 5)).decode()
    assert fit_of(answer, {"items": {"type": "integer"}}).places == MOST_PLACES


def test_a_schema_without_end_is_not_checked() -> None:
    endless = {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}
    assert fit_of("1", endless).case == "unchecked"


def multiplying() -> dict[str, Any]:
    """Nine definitions, each of which names the next one ten times: a thousand million checks."""
    choices = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 10} for n in range(9)}
    return {"properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": {**choices, "d9": {"type": "integer"}}}


MANY: dict[str, Any] = {"items": {"enum": [*range(1, 1_000)]}}
WIDE: dict[str, Any] = {"anyOf": [{"type": "integer"}] * 500}


@pytest.mark.parametrize(
    ("answer", "schema"),
    [
        ({"a": "x"}, multiplying()),
        ([999] * 100_000, MANY),
        (["x" * 1_000_000], WIDE),
        (["x"] * 300_000, WIDE),
    ],
)
def test_what_takes_too_long_is_not_checked(answer: Any, schema: dict[str, Any]) -> None:
    """Such a schema is one that the provider takes, so a person may set it."""
    assert fault_of(of(schema)) is None
    began = process_time()
    assert fit_of(orjson.dumps(answer).decode(), schema).case == "unchecked"
    assert process_time() - began < 30


def test_a_long_usual_answer_is_checked() -> None:
    answer = orjson.dumps([{"city": "Lisbon", "people": 1, "kinds": ["port"]}] * 4_000).decode()
    assert fit_of(answer, {"items": CITY | {"properties": {}, "additionalProperties": True}}).case == "fits"


def test_what_is_stored_in_another_shape_is_nothing() -> None:
    assert Fit.restored({}) is None and Fit.restored({"case": "maybe"}) is None
