"""A function call that arrives in pieces: `streamFunctionCallArguments`.

The first piece has the name, then one value at a time by its JSON path, a string closed by an
empty one, and at the end an empty functionCall (recorded-traffic "Streams"). A call without
arguments comes whole.
"""

from collections.abc import Iterator
from typing import Any

Wire = dict[str, Any]

_LONGEST_PIECE = 40


def fragments(call: Wire) -> list[Wire]:
    """`call` is a whole functionCall; the pieces are functionCalls too."""
    head = {key: value for key, value in call.items() if key != "args"}
    values = list(_values(call["args"], "$"))
    if not values:
        return [head]
    pieces = [{"partialArgs": [value], "willContinue": True} for value in values]
    return [head | {"willContinue": True}, *pieces, {}]


def _values(value: Any, path: str) -> Iterator[Wire]:
    """Leaves in order; an empty object or list has none and is left out."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _values(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _values(inner, f"{path}[{index}]")
    elif isinstance(value, str):
        yield from _string(value, path)
    else:
        yield {"jsonPath": path, **_scalar(value)}


def _string(text: str, path: str) -> Iterator[Wire]:
    for start in range(0, len(text), _LONGEST_PIECE):
        piece = text[start : start + _LONGEST_PIECE]
        yield {"jsonPath": path, "stringValue": piece, "willContinue": True}
    yield {"jsonPath": path, "stringValue": ""}


def _scalar(value: Any) -> Wire:
    if value is None:
        return {"nullValue": None}
    return {"boolValue": value} if isinstance(value, bool) else {"numberValue": value}
