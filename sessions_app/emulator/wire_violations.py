"""What is wrong with the fields of a body, in the words of Google's JSON reader.

Sources of the forms: a scalar, ruby_llm#521 (bytes) and errors quoted for `seed` and `enum`; an enum,
agno#3298 and zereight/gitlab-mcp#166; a message, randombet/bodhi#10; a list, vercel/ai#3589; an object for a
scalar is quoted of Google Fitness only ("Starting an object on a scalar field").
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from pydantic.alias_generators import to_snake
from pydantic_core import ErrorDetails, PydanticCustomError

from sessions_app.emulator.api_errors import FieldViolation, unknown_name
from sessions_app.emulator.decisions import Rule

TYPES = "type.googleapis.com/google.ai.generativelanguage.v1beta."
_WELL_KNOWN = "type.googleapis.com/google.protobuf."
STRUCT, DURATION, TIMESTAMP = (f"{_WELL_KNOWN}{name}" for name in ("Struct", "Duration", "Timestamp"))

_MAPS = frozenset({"properties"})
_SCALARS = {
    "string": "STRING",
    "bool": "BOOL",
    "int": "INT32",
    "float": "FLOAT",
    "bytes": "BYTES",
    "greater": "INT32",
    "less": "INT32",
}
"""The types of scalars by the first word of pydantic's."""
_WIDE = {"INT32": "INT64", "FLOAT": "DOUBLE"}
_WIDE_FIELDS = frozenset(
    {
        *("min_items", "max_items", "min_properties", "max_properties", "min_length", "max_length"),
        *("minimum", "maximum", "size_bytes"),
    }
)
_RULES = {
    "thinking_level": Rule.THINKING_UNSUPPORTED,
    "ttl": Rule.CACHE_EXPIRY_INVALID,
    "expire_time": Rule.CACHE_EXPIRY_INVALID,
}


def wrong_value(kind: str, reason: str = "") -> PydanticCustomError:
    """For a validator: the value is none of this type, with the reason in place of the value."""
    return PydanticCustomError("wire_type", "not of type {kind}", {"kind": kind, "reason": reason})


@dataclass(frozen=True, slots=True)
class WrongField:
    """A field of `body` that pydantic refused. `within` is the field of the request that the body is."""

    error: ErrorDetails
    body: Any
    within: str = ""

    @property
    def violation(self) -> FieldViolation:
        if self.error["type"] == "extra_forbidden":
            return unknown_name(self.name, self.parent, "Cannot find field.")
        if not self.kind:
            return FieldViolation(self.path, f"Invalid value at '{self.path}' ({self.error['msg']})")
        if isinstance(self.error["input"], list) and isinstance(self.error["loc"][-1], str):
            reason = "Proto field is not repeating, cannot start list."
            return unknown_name(self.name, self.parent, reason)
        if isinstance(self.error["input"], dict) and not self.reason:
            where = f"'{self.parent}' ({to_snake(self.name)})"
            return FieldViolation(
                self.parent, f"Invalid value at {where}, Starting an object on a scalar field"
            )
        where = f"'{self.path}' ({self.kind})"
        return FieldViolation(self.path, f"Invalid value at {where}, {self.reason or self.shown}")

    @property
    def rule(self) -> Rule:
        default = Rule.FIELD_UNKNOWN if self.error["type"] == "extra_forbidden" else Rule.VALUE_INVALID
        return _RULES.get(to_snake(self.name), default)

    @property
    def name(self) -> str:
        """The name of the field, as the body spells it."""
        return str(self.error["loc"][self._depth])

    @property
    def parent(self) -> str:
        return self._path(self.error["loc"][: self._depth])

    @property
    def path(self) -> str:
        return self._path(self.error["loc"])

    @property
    def position(self) -> tuple[int, ...]:
        """What orders fields as they stand in the body."""
        found, value = list[int](), self.body
        for step in self.error["loc"]:
            names = list(value) if isinstance(value, dict) else []
            spelled = step if step in names else to_snake(str(step))
            found.append(step if isinstance(step, int) else names.index(spelled) if spelled in names else 0)
            value = _child(value, step)
        return tuple(found)

    @property
    def kind(self) -> str:
        """The type the field has; "" for what only the other APIs demand: a field that must be there, one of
        several words. What is said of those is ours."""
        if self.error["type"] == "wire_type":
            return str(self.error["ctx"]["kind"])
        if self.error["type"] == "dict_type":
            return STRUCT
        scalar = _SCALARS.get(self.error["type"].partition("_")[0], "")
        if not scalar:
            return ""
        return f"TYPE_{_WIDE.get(scalar, scalar) if to_snake(self.name) in _WIDE_FIELDS else scalar}"

    @property
    def reason(self) -> str:
        found = self.error.get("ctx", {}).get("reason", "")
        return f"Field '{self.name}', {found}" if found and self.kind in {DURATION, TIMESTAMP} else found

    @property
    def shown(self) -> str:
        """The value as JSON."""
        return orjson.dumps(self.error["input"]).decode()

    def _path(self, location: Sequence[str | int]) -> str:
        return ".".join(filter(None, (self.within, field_path(location, self.body))))

    @property
    def _depth(self) -> int:
        """Where in the location the name of the field stands: before the index of an entry."""
        location = self.error["loc"]
        return max(at for at, step in enumerate(location) if isinstance(step, str))


def field_path(location: Sequence[str | int], value: Any) -> str:
    """`contents[0].parts[1].function_call`, in proto spelling; the entries of a map are numbered and
    called `value`, as in `properties[1].value`. One object in place of a list has no number
    (gera2ld/ai.nvim#13)."""
    path, parent = "", ""
    for step in location:
        if parent in _MAPS and isinstance(step, str):
            position = list(value).index(step) if isinstance(value, dict) and step in value else 0
            path += f"[{position}].value"
        elif isinstance(step, str):
            path += f".{to_snake(step)}"
        elif isinstance(value, list):
            path += f"[{step}]"
        value, parent = _child(value, step), "" if parent in _MAPS else str(step)
    return path.removeprefix(".")


def _child(value: Any, step: str | int) -> Any:
    """The value at `step`; one object stands for a list of one."""
    if isinstance(value, list):
        return value[step] if isinstance(step, int) and step < len(value) else None
    if isinstance(step, int):
        return value
    return value.get(step, value.get(to_snake(step))) if isinstance(value, dict) else None
