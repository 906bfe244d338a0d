"""What the API requires of a schema, of arguments as of an answer.

Sources: missing items, jackmusick/bifrost#225; undefined properties, AIStudioToAPI#154; enum,
musistudio/llms#20 and 9router#359; properties, opencode#11888; required of an alternative and the empty
name are quoted in converters of schemas. A schema without a type is of no type: that was reported for
properties beside any_of, and for enum. Empty `properties` were answered in April 2026.
"""

from collections.abc import Iterator

from sessions_app.emulator.api_errors import RequestFlaw
from sessions_app.emulator.tool_declarations import Schema


def schema_flaws(schema: Schema | None, where: str) -> Iterator[RequestFlaw]:
    """The flaws of a schema and of all inside it, the outer first. Not recursive: a body may nest deeply."""
    left = [(schema, where)] if schema else []
    while left:
        one, place = left.pop()
        yield from _own_flaws(one, place)
        left.extend(reversed(list(_inner(one, place))))


def _inner(schema: Schema, where: str) -> Iterator[tuple[Schema, str]]:
    for name, inner in (schema.properties or {}).items():
        yield inner, f"{where}.properties[{name}]"
    if schema.items:
        yield schema.items, f"{where}.items"
    for index, inner in enumerate(schema.any_of or ()):
        yield inner, f"{where}.any_of[{index}]"


def _own_flaws(schema: Schema, where: str) -> Iterator[RequestFlaw]:
    yield from _enum_flaws(schema, f"{where}.enum")
    if schema.type == "ARRAY" and schema.items is None:
        yield RequestFlaw(f"{where}.items", "missing field.")
    properties, required = schema.properties or {}, schema.required or []
    for field, value in (("properties", properties), ("required", required)):
        if value and schema.type != "OBJECT":
            yield RequestFlaw(f"{where}.{field}", "only allowed for OBJECT type")
    for index, name in enumerate(required):
        if name not in properties:
            yield RequestFlaw(f"{where}.required[{index}]", "property is not defined")


def _enum_flaws(schema: Schema, where: str) -> Iterator[RequestFlaw]:
    names = schema.enum or []
    if names and schema.type != "STRING":
        yield RequestFlaw(where, "only allowed for STRING type")
    for index, name in enumerate(names):
        if not name:
            yield RequestFlaw(f"{where}[{index}]", "cannot be empty")
