"""Which texts and JSON values can be stored in both databases and sent unchanged.

One rule for what a person, a file or a tool gives. A value that breaks it is refused with a code
(`wording.values`) or, where nobody could correct it, `mended`.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

DEPTH_LIMIT = 100
"""Levels of lists and objects inside each other; serialisers give up at about 250."""

CONTAINER_LIMIT = 100_000
"""Lists and objects of one value; parsed, each takes some sixty times the two bytes that it may have."""

YEARS = range(1970, 2200)
"""Years of a moment that can be shown in every time zone."""

STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
"""Pattern of a JSON string. Possessive, since a string may have megabytes."""

_BRACKETS = re.compile(STRING + rb'|[\[\]{}"]', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")


class ValueProblem(StrEnum):
    """Why a value is refused. The comments name the figures."""

    NUL = "nul"
    LONE_SURROGATE = "lone_surrogate"
    NOT_FINITE = "not_finite"
    LARGE_INTEGER = "large_integer"
    MOMENT = "moment"
    # limit.
    TOO_DEEP = "too_deep"
    # limit.
    TOO_MANY_CONTAINERS = "too_many_containers"
    # name.
    REPEATED_NAME = "repeated_name"
    # line, column, problem.
    NOT_JSON = "not_json"


def refused(problem: ValueProblem, /, **figures: Any) -> PydanticCustomError:
    """A ValueError; in a pydantic error, `type` is the code and `ctx` has the figures."""
    return PydanticCustomError(problem.value, problem.value, figures)


def check_text(text: str, *, in_bytes: bool = False) -> str:
    """The same text. Raises the error of `refused`.

    Text inside of JSON that is kept `in_bytes` may hold NUL, which PostgreSQL refuses in columns.
    """
    if not in_bytes and "\0" in text:
        raise refused(ValueProblem.NUL)
    if not text.isascii() and _SURROGATE.search(text):
        raise refused(ValueProblem.LONE_SURROGATE)
    return text


Text = Annotated[str, AfterValidator(check_text)]


def check_json(value: Any, *, in_bytes: bool = False) -> Any:
    """The same parsed JSON. Raises the error of `refused`.

    JSON that is kept `in_bytes` may hold NUL and integers of any size: nothing parses it to send it.
    """
    containers, level = 0, [value]
    for _ in range(DEPTH_LIMIT + 1):
        below: list[Any] = []
        for one in level:
            below += _checked_members(one, in_bytes)
        containers += sum(isinstance(one, Mapping | list | tuple) for one in level)
        _check_containers(containers)
        if not below:
            return value
        level = below
    raise refused(ValueProblem.TOO_DEEP, limit=DEPTH_LIMIT)


def _checked_members(value: Any, in_bytes: bool) -> Iterable[Any]:
    """What a list or an object holds, names included; nothing for a checked single value."""
    if isinstance(value, str):
        check_text(value, in_bytes=in_bytes)
    elif isinstance(value, float) and not math.isfinite(value):
        raise refused(ValueProblem.NOT_FINITE)
    elif isinstance(value, int) and not in_bytes and not _has_64_bits(value):
        raise refused(ValueProblem.LARGE_INTEGER)
    elif isinstance(value, Mapping):
        return [*value, *value.values()]
    elif isinstance(value, list | tuple):
        return value
    return ()


def check_moment(moment: datetime) -> datetime:
    """The moment in UTC; one without a zone is in UTC. Raises the error of `refused`."""
    if moment.year not in YEARS:
        raise refused(ValueProblem.MOMENT)
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def uuid_or_none(text: str) -> UUID | None:
    """The id that a text spells; None for any other text."""
    try:
        return UUID(text)
    except ValueError:
        return None


def check_nesting(body: bytes) -> None:
    """Counts lists and objects, and their levels, without parsing. Raises the error of `refused`."""
    depth = containers = 0
    for match in _BRACKETS.finditer(body):
        # Not `match[0]`: that would copy every string.
        token = body[match.start()]
        if token in b"[{":
            depth, containers = depth + 1, containers + 1
            if depth > DEPTH_LIMIT:
                raise refused(ValueProblem.TOO_DEEP, limit=DEPTH_LIMIT)
            _check_containers(containers)
        elif token in b"]}":
            depth -= 1


def _check_containers(containers: int) -> None:
    if containers > CONTAINER_LIMIT:
        raise refused(ValueProblem.TOO_MANY_CONTAINERS, limit=CONTAINER_LIMIT)


def parse_json(text: str) -> Any:
    """A JSON text whose value is kept as it is written. Raises the error of `refused`."""
    check_nesting(text.encode(errors="replace"))
    try:
        value = json.loads(
            text, parse_constant=_not_finite, parse_int=_integer, object_pairs_hook=_distinct_names
        )
    except json.JSONDecodeError as error:
        where = {"line": error.lineno, "column": error.colno}
        raise refused(ValueProblem.NOT_JSON, **where, problem=error.msg) from error
    return check_json(value)


def _has_64_bits(number: int) -> bool:
    """Whether every part of the way can hold it."""
    return -(2**63) <= number < 2**64


def _not_finite(_: str) -> float:
    raise refused(ValueProblem.NOT_FINITE)


def _integer(digits: str) -> int:
    # Python refuses to convert thousands of digits.
    if len(digits) > 20 or not _has_64_bits(int(digits)):
        raise refused(ValueProblem.LARGE_INTEGER)
    return int(digits)


def _distinct_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise refused(
            ValueProblem.REPEATED_NAME, name=next(name for name in names if names.count(name) > 1)[:80]
        )
    return found


def mended(value: Any, *, levels: int = DEPTH_LIMIT) -> Any:
    """The nearest JSON value that passes `check_json`. Raises TypeError for what is none."""
    if isinstance(value, Mapping | list | tuple):
        return _mended_members(value, levels - 1) if levels else "…"
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value) if _has_64_bits(value) else _digits(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(value)
    if not isinstance(value, str):
        raise TypeError(type(value).__name__)
    return _mended_text(value)


def _mended_members(value: Any, levels: int) -> Any:
    if isinstance(value, Mapping):
        return {_mended_text(str(key)): mended(below, levels=levels) for key, below in value.items()}
    return [mended(below, levels=levels) for below in value]


def _mended_text(text: str) -> str:
    return _SURROGATE.sub("\ufffd", text.replace("\0", "\ufffd"))


def _digits(number: int) -> str:
    try:
        return str(number)
    except ValueError:
        return f"{number:#x}"
