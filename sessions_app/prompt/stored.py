"""Value types of the core as JSON for a database row, and back."""

from collections.abc import Collection, Mapping
from enum import StrEnum
from functools import cache
from typing import Any, Self, TypeVar

from pydantic import TypeAdapter, ValidationError

T = TypeVar("T")


class Code(StrEnum):
    """An enum that is stored in rows. A value of another version reads as UNKNOWN, which every one has."""

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return cls.__members__.get("UNKNOWN")


def to_json(value: Any, *, exclude: Collection[str] = ()) -> dict[str, Any]:
    """A dataclass as JSON, without the fields that have a column of their own; decimals become strings."""
    kind: Any = type(value)
    dumped = _adapter(kind).dump_python(value, mode="json", exclude=set(exclude))
    return dict(dumped)


def from_json(kind: type[T], stored: Mapping[str, Any]) -> T | None:
    """What `to_json` wrote; None when it is empty or this version cannot read it."""
    if not stored:
        return None
    known: Any = kind
    try:
        found: T = _adapter(known).validate_python(dict(stored))
    except ValidationError:
        return None
    return found


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
