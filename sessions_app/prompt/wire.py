"""JSON of requests and responses: always well-formed UTF-8.

orjson and SQLite both refuse lone surrogates, and a provider can cut an emoji into two `\\uXXXX`
escapes of two chunks, so every text passes `well_formed` before it is serialised.
"""

import json
import re
from typing import Any

import orjson

DEPTH_LIMIT = 100
"""Levels of objects and lists; Gemini's own limit is not documented, orjson writes 254."""

CONTAINER_LIMIT = 100_000
"""Objects and lists; each costs some sixty times its two bytes once it is parsed."""

_MARKS = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[{\[]|[}\]]', re.DOTALL)
"""Strings, to be skipped, and brackets. Possessive: a long string must not cost a stack."""

TOO_DEEP = "⟨nested too deeply to be shown⟩"

_OPENERS, _CLOSERS = b"{[", b"}]"


def is_too_complex(body: bytes | bytearray) -> bool:
    """Whether JSON is nested beyond DEPTH_LIMIT or holds more than CONTAINER_LIMIT objects and lists.

    Parses nothing and does not recurse. The count is all that most bodies need.
    """
    if body.count(b"{") + body.count(b"[") <= DEPTH_LIMIT:
        return False
    depth = containers = 0
    for found in _MARKS.finditer(body):
        # Not `found[0]`: that would copy every string.
        mark = body[found.start()]
        if mark in _OPENERS:
            depth, containers = depth + 1, containers + 1
            if depth > DEPTH_LIMIT or containers > CONTAINER_LIMIT:
                return True
        elif mark in _CLOSERS:
            depth -= 1
    return False


def well_formed(text: str) -> str:
    """The same text with surrogate pairs joined and each lone surrogate as U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def loads(body: bytes | str) -> Any:
    """Parse JSON; what orjson refuses but JSON writers produce (lone surrogates, NaN) is accepted.

    Raises ValueError when it is not JSON at all.
    """
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        pass
    try:
        return json.loads(body)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def dumps(value: Any) -> bytes:
    """Compact JSON, key order kept, non-ASCII raw. Raises TypeError for what JSON cannot hold."""
    try:
        return _fitted(orjson.dumps(value))
    except TypeError:
        pass
    try:
        return _fitted(orjson.dumps(_scrubbed(value), option=orjson.OPT_NON_STR_KEYS))
    except RecursionError:
        raise TypeError("nested too deeply") from None


def canonical(value: Any) -> bytes:
    """JSON with sorted keys: equal for two values that say the same, however they were written."""
    try:
        return _fitted(orjson.dumps(value, option=orjson.OPT_SORT_KEYS))
    except TypeError:
        option = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS
        return _fitted(orjson.dumps(_scrubbed(value), option=option))


def readable(value: Any, *, indent: bool = True) -> str:
    """JSON for people; a placeholder for what is nested beyond what JSON is written from."""
    option = orjson.OPT_INDENT_2 if indent else 0
    try:
        return orjson.dumps(value, option=option).decode()
    except TypeError:
        pass
    try:
        return orjson.dumps(_scrubbed(value), option=option | orjson.OPT_NON_STR_KEYS).decode()
    except (TypeError, RecursionError):
        return TOO_DEEP


def as_list(value: Any) -> list[Any]:
    """The value, where it is a list."""
    return value if isinstance(value, list) else []


def as_objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; the API takes one that stands alone for a list of one."""
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, dict)]


def as_dict(value: Any) -> dict[str, Any]:
    """The value, where it is an object."""
    return value if isinstance(value, dict) else {}


def escaped(text: str) -> bytes:
    """The text as it stands inside a JSON string, without the quotes.

    Escaping works character by character, so escaped pieces can be joined.
    """
    return dumps(text)[1:-1]


def _fitted(body: bytes) -> bytes:
    """A copy that takes the memory of its length: orjson's result keeps the buffer that it was written into,
    which is up to thirty times as large.
    """
    return bytes(memoryview(body))


def _scrubbed(value: Any) -> Any:
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, dict):
        return {_scrubbed(key): _scrubbed(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_scrubbed(item) for item in value]
    # orjson stops at 64 bits; a model may write more digits than that into its arguments.
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**64:
        return _large_number(value)
    return value


def _large_number(value: int) -> float | str:
    """The nearest float, which JSON can hold up to 1e308; beyond, the digits as text."""
    try:
        return float(value)
    except OverflowError:
        return str(value)
