"""Schemas that the provider takes, and answers held against them."""

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


def test_places_are_counted_to_a_limit() -> None:
    answer = orjson.dumps(["x"] * (MOST_PLACES + 5)).decode()
    assert fit_of(answer, {"items": {"type": "integer"}}).places == MOST_PLACES


def test_a_schema_without_end_is_not_checked() -> None:
    endless = {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}
    assert fit_of("1", endless).case == "unchecked"


def test_what_is_stored_in_another_shape_is_nothing() -> None:
    assert Fit.restored({}) is None and Fit.restored({"case": "maybe"}) is None
