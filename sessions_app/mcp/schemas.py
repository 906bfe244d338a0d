"""JSON Schemas of MCP tools in the subset that Gemini's function declarations know.

What has no place there is left out and reported: the server checks the arguments in any case, so that a loss
costs the model a hint and never a check. A schema is data of a stranger: depth, properties and lengths of
texts are bounded, and references are resolved within the document only.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sessions_app.mcp_codes import SchemaLoss

DEPTH_LIMIT = 8
"""Objects and lists inside one another."""

PROPERTY_LIMIT = 200
"""The most properties of a whole schema."""

ENUM_LIMIT = 200
"""Values to choose from, choices of an `anyOf`, parts of an `allOf`."""

REFERRED_LIMIT = 5_000
"""Keys and values that the references of a whole schema may lead to, counted again for each: a few that name
one another many times would never be translated.
"""

TEXT_LIMIT = 2_000
"""Characters of a description, and of a value to choose from."""

LOSS_LIMIT = 20
"""Losses of one kind that are kept of a tool."""

TYPES = frozenset({"string", "number", "integer", "boolean", "array", "object"})

SILENT = frozenset(
    {"$schema", "$id", "$defs", "definitions", "$comment", "title", "additionalProperties", "examples"}
)
"""Left out without a word: they say nothing that a model needs."""

TRANSLATED = frozenset(
    {"type", "description", "enum", "const", "items", "properties", "required", "nullable"}
    | {"anyOf", "oneOf", "allOf", "$ref"}
)

_PROPERTY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")

Loss = tuple[str, str]
"""A SchemaLoss and its place: `properties.city`, or that with a keyword behind a colon."""


@dataclass
class Translation:
    """One schema while it is translated."""

    root: Mapping[str, Any]
    losses: list[Loss] = field(default_factory=list)
    properties: int = 0
    referred: int = 0

    def lose(self, code: SchemaLoss, place: str) -> None:
        alike = [known for known in self.losses if known[0] == code]
        if len(alike) < LOSS_LIMIT and (code.value, place) not in alike:
            self.losses.append((code.value, place[:TEXT_LIMIT]))

    def of(self, schema: Any, place: str, depth: int, seen: tuple[str, ...] = ()) -> dict[str, Any]:
        if not isinstance(schema, Mapping):
            if schema is not True:
                self.lose(SchemaLoss.TYPE_ASSUMED, place)
            return {"type": "string"}
        if "$ref" in schema:
            return self._referred(schema, place, depth, seen)
        for keyword in sorted({str(key) for key in schema} - TRANSLATED - SILENT):
            self.lose(SchemaLoss.KEYWORD, f"{place}:{keyword}" if place else keyword)
        merged = self._merged(schema, place)
        choices = merged.get("anyOf", merged.get("oneOf"))
        if isinstance(choices, list) and "type" not in merged:
            return self._chosen(choices, place, depth, seen) | self._described(merged, place)
        return self._typed(merged, place, depth, seen)

    def _typed(
        self, merged: Mapping[str, Any], place: str, depth: int, seen: tuple[str, ...]
    ) -> dict[str, Any]:
        types = self._types(merged, place)
        if len(types) > 1:
            self.lose(SchemaLoss.CHOICES, place)
        found: dict[str, Any] = {"type": types[0], **self._described(merged, place)}
        if merged.get("nullable") is True or _is_nullable(merged):
            found["nullable"] = True
        self._add_enum(found, merged, place)
        if types[0] == "array":
            found["items"] = self._below(merged.get("items", {}), f"{place}[]", depth, seen)
        if types[0] == "object":
            self._add_properties(found, merged, place, depth, seen)
        return found

    def _below(self, schema: Any, place: str, depth: int, seen: tuple[str, ...]) -> dict[str, Any]:
        if depth >= DEPTH_LIMIT:
            self.lose(SchemaLoss.TOO_DEEP, place)
            return {"type": "string"}
        return self.of(schema, place, depth + 1, seen)

    def _referred(
        self, schema: Mapping[str, Any], place: str, depth: int, seen: tuple[str, ...]
    ) -> dict[str, Any]:
        name = str(schema["$ref"])
        if name in seen:
            self.lose(SchemaLoss.RECURSION, place)
            return {"type": "object"}
        target = self._target(name)
        if target is None:
            is_there = self._at(name) is not None
            self.lose(SchemaLoss.TOO_MANY_REFERENCES if is_there else SchemaLoss.REFERENCE, place)
            return {"type": "string"}
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        return self.of({**target, **beside}, place, depth, (*seen, name))

    def _target(self, reference: str) -> Mapping[str, Any] | None:
        """What a reference within the document points at, while there is room for it."""
        found = self._at(reference) if self.referred < REFERRED_LIMIT else None
        self.referred += 0 if found is None else _count(found, REFERRED_LIMIT)
        return found if self.referred <= REFERRED_LIMIT else None

    def _at(self, reference: str) -> Mapping[str, Any] | None:
        if not reference.startswith("#"):
            return None
        found: Any = self.root
        for step in filter(None, reference.removeprefix("#").split("/")):
            name = step.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, Mapping) or name not in found:
                return None
            found = found[name]
        return found if isinstance(found, Mapping) else None

    def _merged(self, schema: Mapping[str, Any], place: str) -> Mapping[str, Any]:
        """The schema with the plain objects of its `allOf` merged into it."""
        parts = schema.get("allOf")
        if not isinstance(parts, list):
            return schema
        merged: dict[str, Any] = {key: value for key, value in schema.items() if key != "allOf"}
        if len(parts) > ENUM_LIMIT:
            self.lose(SchemaLoss.CHOICES, f"{place}:allOf" if place else "allOf")
        for part in parts[:ENUM_LIMIT]:
            target = self._target(str(part["$ref"])) if isinstance(part, Mapping) and "$ref" in part else part
            if not isinstance(target, Mapping) or set(target) - {"type", "properties", "required", *SILENT}:
                self.lose(SchemaLoss.CHOICES, f"{place}:allOf" if place else "allOf")
                continue
            merged = {**target, **merged}
            merged["properties"] = {**_mapping(target, "properties"), **_mapping(merged, "properties")}
            merged["required"] = [*_texts(target.get("required")), *_texts(merged.get("required"))]
        return merged

    def _chosen(self, choices: list[Any], place: str, depth: int, seen: tuple[str, ...]) -> dict[str, Any]:
        """One of several: `null` among two makes the other nullable, more stay a choice."""
        real = [one for one in choices if not (isinstance(one, Mapping) and one.get("type") == "null")]
        nullable = {"nullable": True} if len(real) < len(choices) else {}
        if len(real) == 1:
            return self._below(real[0], place, depth, seen) | nullable
        if not real:
            self.lose(SchemaLoss.TYPE_ASSUMED, place)
            return {"type": "string", **nullable}
        if len(real) > ENUM_LIMIT:
            self.lose(SchemaLoss.CHOICES, place)
        offered = [
            self._below(one, f"{place}|{number}", depth, seen)
            for number, one in enumerate(real[:ENUM_LIMIT], 1)
        ]
        return {"anyOf": offered, **nullable}

    def _types(self, schema: Mapping[str, Any], place: str) -> list[str]:
        named = schema.get("type")
        found = [str(one).lower() for one in (named if isinstance(named, list) else [named]) if one]
        known = [one for one in found if one in TYPES]
        if known:
            return known
        if "properties" in schema:
            return ["object"]
        if "items" in schema:
            return ["array"]
        if not _values(schema):
            self.lose(SchemaLoss.TYPE_ASSUMED, place)
        return ["string"]

    def _described(self, schema: Mapping[str, Any], place: str) -> dict[str, str]:
        text = schema.get("description")
        return {"description": self.text(text, place)} if isinstance(text, str) and text else {}

    def text(self, text: str, place: str) -> str:
        if len(text) <= TEXT_LIMIT:
            return text
        self.lose(SchemaLoss.TEXT_CUT, place)
        return f"{text[: TEXT_LIMIT - 1]}…"

    def _add_enum(self, found: dict[str, Any], schema: Mapping[str, Any], place: str) -> None:
        values = _values(schema)
        if not values:
            return
        texts = [value for value in values if isinstance(value, str) and 0 < len(value) <= TEXT_LIMIT]
        if found["type"] != "string" or len(texts) < len(values) or len(texts) > ENUM_LIMIT:
            self.lose(SchemaLoss.ENUM, place)
        if found["type"] == "string" and texts:
            found["enum"] = list(dict.fromkeys(texts[:ENUM_LIMIT]))

    def _add_properties(
        self,
        found: dict[str, Any],
        schema: Mapping[str, Any],
        place: str,
        depth: int,
        seen: tuple[str, ...],
    ) -> None:
        properties: dict[str, Any] = {}
        for name, below in _mapping(schema, "properties").items():
            where = f"{place}.{name}" if place else str(name)
            if not _PROPERTY.fullmatch(str(name)):
                self.lose(SchemaLoss.PROPERTY_NAME, where)
                continue
            self.properties += 1
            if self.properties > PROPERTY_LIMIT:
                self.lose(SchemaLoss.TOO_MANY_PROPERTIES, place)
                break
            properties[str(name)] = self._below(below, where, depth, seen)
        required = [name for name in dict.fromkeys(_texts(schema.get("required"))) if name in properties]
        found |= {"properties": properties} if properties else {}
        found |= {"required": required} if required else {}


def parameters_of(schema: Any) -> tuple[dict[str, Any], tuple[Loss, ...]]:
    """The `parameters` of a declaration, empty for a tool without arguments, and what was left out."""
    if not isinstance(schema, Mapping):
        return {}, ((SchemaLoss.NOT_AN_OBJECT.value, ""),)
    translation = Translation(schema)
    found = translation.of(schema, "", 0)
    if found.get("type") != "object":
        translation.lose(SchemaLoss.NOT_AN_OBJECT, "")
        return {}, tuple(translation.losses)
    return (found if found.get("properties") else {}), tuple(translation.losses)


def _values(schema: Mapping[str, Any]) -> list[Any]:
    if "const" in schema:
        return [schema["const"]]
    values = schema.get("enum")
    return [value for value in values if value is not None] if isinstance(values, list) else []


def _is_nullable(schema: Mapping[str, Any]) -> bool:
    named = schema.get("type")
    return isinstance(named, list) and "null" in named


def _mapping(schema: Mapping[str, Any], key: str) -> Mapping[Any, Any]:
    found = schema.get(key)
    return found if isinstance(found, Mapping) else {}


def _count(value: Any, limit: int) -> int:
    """Keys and values in a schema, beginning with itself; counting ends beyond the limit."""
    count, left = 0, [value]
    while left and count <= limit:
        count += 1
        one = left.pop()
        if isinstance(one, Mapping):
            left += one.values()
        elif isinstance(one, list):
            left += one
    return count


def _texts(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
