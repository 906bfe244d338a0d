"""JSON as it travels: bytes in, bytes out, always well-formed UTF-8.

orjson and SQLite both refuse lone surrogates, and a provider can cut an emoji into two `\\uXXXX`
escapes of two chunks, so every text passes `well_formed` before it is serialised.
"""

import json
from typing import Any

import orjson


def well_formed(text: str) -> str:
    """The same text with surrogate pairs joined and each lone surrogate as U+FFFD."""
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
        return json.loads(body)


def dumps(value: Any) -> bytes:
    """Compact JSON, key order kept, non-ASCII raw. Raises TypeError for what JSON cannot hold."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return orjson.dumps(_scrubbed(value), option=orjson.OPT_NON_STR_KEYS)


def escaped(text: str) -> bytes:
    """The text as it stands inside a JSON string, without the quotes.

    Escaping works character by character, so escaped pieces can be joined.
    """
    return dumps(text)[1:-1]


def _scrubbed(value: Any) -> Any:
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, dict):
        return {_scrubbed(key): _scrubbed(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_scrubbed(item) for item in value]
    # orjson stops at 64 bits; a model may write more digits than that into its arguments.
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**64:
        return float(value)
    return value
