"""A value that fits a schema: what a model with nothing to say would answer in JSON.

Reads OpenAPI and JSON Schema alike: types in either case, `anyOf`, `$ref`, `enum`, limits.
Deterministic; a string is the name of its property.
"""

from collections.abc import Mapping, Sequence
from typing import Any

_DEEPEST = 8
_MOST_ITEMS = 100
_FORMATS = {"date": "2026-01-01", "date-time": "2026-01-01T00:00:00Z", "time": "00:00:00"}
_CHOICES = ("anyOf", "any_of", "oneOf", "allOf")

Schema = Mapping[str, Any]


def sample(schema: Any, name: str = "value") -> Any:
    """One value for the schema; None when it describes nothing that can be made."""
    found = schema if isinstance(schema, dict) else {}
    return _value(found, name, found, 0)


def _value(schema: Schema, name: str, root: Schema, depth: int) -> Any:
    schema = _resolved(schema, root)
    if fixed := _fixed(schema):
        return fixed[0]
    kind = _kind(schema)
    if depth > _DEEPEST or kind == "null":
        return None
    if kind == "object":
        return _object(schema, root, depth)
    if kind == "array":
        return _array(schema, name, root, depth)
    return _plain(kind, schema, name)


def _resolved(schema: Schema, root: Schema) -> Schema:
    """The schema behind a reference or the first of its choices."""
    for _ in range(_DEEPEST):
        choices = next((schema[word] for word in _CHOICES if schema.get(word)), None)
        if isinstance(choices, list) and isinstance(choices[0], dict):
            schema = choices[0]
        elif isinstance(path := schema.get("$ref"), str):
            schema = _pointed(root, path)
        else:
            break
    return schema


def _pointed(root: Any, path: str) -> Schema:
    for step in path.removeprefix("#/").split("/"):
        root = root.get(step, {}) if isinstance(root, dict) else {}
    return root if isinstance(root, dict) else {}


def _fixed(schema: Schema) -> Sequence[Any]:
    """What the schema names itself: a constant, its first word or its default."""
    if "const" in schema:
        return [schema["const"]]
    listed = schema.get("enum")
    if isinstance(listed, list) and listed:
        return listed
    return [schema["default"]] if schema.get("default") is not None else []


def _kind(schema: Schema) -> str:
    kind = schema.get("type")
    first = kind[0] if isinstance(kind, list) and kind else kind
    guess = "object" if "properties" in schema else "array" if "items" in schema else "string"
    return str(first or guess).lower()


def _object(schema: Schema, root: Schema, depth: int) -> dict[str, Any]:
    fields = schema.get("properties")
    if not isinstance(fields, dict):
        return {}
    order = schema.get("propertyOrdering") or schema.get("property_ordering")
    names = (
        [name for name in order if isinstance(name, str) and name in fields]
        if isinstance(order, list)
        else list(fields)
    )
    described = {str(name): fields[name] for name in names if isinstance(fields[name], dict)}
    return {name: _value(inner, name, root, depth + 1) for name, inner in described.items()}


def _array(schema: Schema, name: str, root: Schema, depth: int) -> list[Any]:
    items = schema.get("items")
    least = str(schema.get("minItems") or schema.get("min_items") or 1)
    count = min(int(least), _MOST_ITEMS) if least.isdecimal() and len(least) < 9 else 1
    return [_value(items if isinstance(items, dict) else {}, name, root, depth + 1)] * count


def _plain(kind: str, schema: Schema, name: str) -> Any:
    if kind == "boolean":
        return True
    if kind in {"integer", "number"}:
        return schema.get("minimum", 1)
    return _FORMATS.get(str(schema.get("format", "")), name)
