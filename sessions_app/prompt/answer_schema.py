"""The JSON schema of an answer: which the provider takes, and whether an answer fits it.

What `responseJsonSchema` takes is told in google-genai 3.4.0 (`GenerationConfig.response_json_schema`); the
rest of JSON Schema is refused here with its place, since the provider ignores it without a word.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from sessions_app.prompt import wire

LONGEST, DEEPEST, MOST_PLACES = 20_000, 20, 100
"""Characters of a schema, levels of it, and places that are told of an answer that does not fit."""

TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")


class SchemaProblem(StrEnum):
    """Why a schema is refused. The comments name the figures beside `path`."""

    # line, column.
    NOT_JSON = "not_json"
    NOT_OBJECT = "not_object"
    # keyword.
    UNKNOWN_KEYWORD = "unknown_keyword"
    WRONG_VALUE = "wrong_value"
    BESIDE_REFERENCE = "beside_reference"
    # name.
    UNKNOWN_TYPE = "unknown_type"
    NO_TARGET = "no_target"
    NOT_DESCRIBED = "not_described"
    # limit.
    TOO_LONG = "too_long"
    TOO_DEEP = "too_deep"


class SchemaFault(NamedTuple):
    """The first thing that is wrong with a schema; `path` is a place such as `$.properties.city`."""

    problem: SchemaProblem
    path: str = "$"
    figures: Mapping[str, Any] = MappingProxyType({})


class Fit(BaseModel):
    """Whether an answer fits its schema. `path` is the first place that does not, `rule` the keyword that it
    breaks; `places` counts them, `MOST_PLACES` at most.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    case: Literal["fits", "misfit", "no_json", "unchecked"] = "unchecked"
    path: str = ""
    rule: str = ""
    places: int = 0

    def stored(self) -> dict[str, Any]:
        return self.model_dump(mode="json", exclude_defaults=True) | {"case": self.case}

    @classmethod
    def restored(cls, stored: Any) -> "Fit | None":
        """None for an answer without a schema, and for what has another shape."""
        try:
            return cls.model_validate(stored) if stored else None
        except ValueError:
            return None


def fault_of(text: str) -> SchemaFault | None:
    """What is wrong with the text of a schema; None for one that the provider takes."""
    if len(text) > LONGEST:
        return SchemaFault(SchemaProblem.TOO_LONG, figures={"limit": LONGEST})
    try:
        schema = wire.loads(text)
    except ValueError as error:
        place = {name: getattr(error, name, 1) for name in ("lineno", "colno")}
        return SchemaFault(
            SchemaProblem.NOT_JSON, figures={"line": place["lineno"], "column": place["colno"]}
        )
    if not isinstance(schema, dict):
        return SchemaFault(SchemaProblem.NOT_OBJECT)
    return next(_faults(schema, "$", schema, 0), None)


def parsed(text: str) -> dict[str, Any] | None:
    """The schema of a session; None without one, or for one that an earlier version took."""
    return wire.loads(text) if text and fault_of(text) is None else None


def fit_of(text: str, schema: Mapping[str, Any]) -> Fit:
    """Whether the text of an answer is JSON that fits."""
    from referencing.exceptions import Unresolvable

    from sessions_app.prompt.schema_checks import TooManyChecks, errors_within_bound

    try:
        value = wire.loads(text)
    except ValueError:
        return Fit(case="no_json")
    try:
        errors = errors_within_bound(_as_checked(schema), value)
        found = sorted(
            (error for error, _ in zip(errors, range(MOST_PLACES), strict=False)),
            key=lambda error: _order_of(error.absolute_path),
        )
    except (RecursionError, TooManyChecks, Unresolvable):
        return Fit(case="unchecked")
    if not found:
        return Fit(case="fits")
    first = found[0]
    path = wire.well_formed(first.json_path.replace("\0", ""))  # Its names are the answer's.
    return Fit(case="misfit", path=path, rule=str(first.validator), places=len(found))


def _order_of(path: Iterable[str | int]) -> list[tuple[bool, int, str]]:
    return [(True, step, "") if isinstance(step, int) else (False, 0, step) for step in path]


def _as_checked(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The provider reads `oneOf` as `anyOf`."""
    checked: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in ("properties", "$defs"):
            checked[keyword] = {name: _as_checked(one) for name, one in value.items()}
        elif keyword == "oneOf":
            # A schema may have an `anyOf` of its own, which holds as well.
            checked["allOf"] = [{"anyOf": [_as_checked(one) for one in value]}]
        elif keyword in ("prefixItems", "anyOf"):
            checked[keyword] = [_as_checked(one) for one in value]
        else:
            checked[keyword] = _as_checked(value) if isinstance(value, Mapping) else value
    return checked


_Check = Callable[[Any], bool]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -1e308 <= value <= 1e308


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _are_constants(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(_is_text(one) or _is_number(one) for one in value)


def _is_schema(value: Any) -> bool:
    return isinstance(value, dict)


def _is_open(value: Any) -> bool:
    return isinstance(value, bool | dict)


def _are_schemas(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_schema, value))


def _are_named_schemas(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_schema, value.values()))


def _is_type(value: Any) -> bool:
    return _is_text(value) or (isinstance(value, list) and bool(value) and all(map(_is_text, value)))


KEYWORDS: Mapping[str, _Check] = MappingProxyType(
    {
        "type": _is_type,
        **dict.fromkeys(("$id", "$anchor", "$ref", "format", "title", "description"), _is_text),
        **dict.fromkeys(("minItems", "maxItems"), _is_count),
        **dict.fromkeys(("minimum", "maximum"), _is_number),
        **dict.fromkeys(("required", "propertyOrdering"), _are_names),
        **dict.fromkeys(("properties", "$defs"), _are_named_schemas),
        **dict.fromkeys(("prefixItems", "anyOf", "oneOf"), _are_schemas),
        "enum": _are_constants,
        "items": _is_schema,
        "additionalProperties": _is_open,
    }
)
"""What the provider takes, and which values each may have."""

_REFERENCE = re.compile(r"#(?:/\$defs/([^/]+))?")


def _faults(
    schema: Mapping[str, Any], path: str, root: Mapping[str, Any], depth: int
) -> Iterator[SchemaFault]:
    if depth > DEEPEST:
        yield SchemaFault(SchemaProblem.TOO_DEEP, path, {"limit": DEEPEST})
        return
    for keyword, value in schema.items():
        known = KEYWORDS.get(keyword)
        if known is None:
            yield SchemaFault(SchemaProblem.UNKNOWN_KEYWORD, path, {"keyword": keyword})
        elif not known(value):
            yield SchemaFault(SchemaProblem.WRONG_VALUE, path, {"keyword": keyword})
    yield from _faults_of_names(schema, path, root)
    for name, inner in _inner(schema):
        yield from _faults(inner, f"{path}.{name}", root, depth + 1)


def _faults_of_names(schema: Mapping[str, Any], path: str, root: Mapping[str, Any]) -> Iterator[SchemaFault]:
    kinds = schema.get("type", [])
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        if kind not in TYPES:
            yield SchemaFault(SchemaProblem.UNKNOWN_TYPE, path, {"name": kind})
    described = schema.get("properties", {})
    for name in (*schema.get("required", ()), *schema.get("propertyOrdering", ())):
        if name not in described:
            yield SchemaFault(SchemaProblem.NOT_DESCRIBED, path, {"name": name})
    if "$ref" in schema:
        yield from _faults_of_reference(schema, path, root)


def _faults_of_reference(
    schema: Mapping[str, Any], path: str, root: Mapping[str, Any]
) -> Iterator[SchemaFault]:
    named = _REFERENCE.fullmatch(schema["$ref"])
    if named is None or (named[1] and named[1] not in root.get("$defs", {})):
        yield SchemaFault(SchemaProblem.NO_TARGET, path, {"name": schema["$ref"]})
    for keyword in schema:
        if not keyword.startswith("$"):
            yield SchemaFault(SchemaProblem.BESIDE_REFERENCE, path, {"keyword": keyword})


def _inner(schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The schemas inside of one, by their place."""
    for keyword, value in schema.items():
        if keyword in ("properties", "$defs"):
            yield from ((f"{keyword}.{name}", one) for name, one in value.items())
        elif keyword in ("prefixItems", "anyOf", "oneOf"):
            yield from ((f"{keyword}[{index}]", one) for index, one in enumerate(value))
        elif keyword in ("items", "additionalProperties") and isinstance(value, dict):
            yield keyword, value
