"""Where an answer is cut into chunks: its text, and the arguments of a function call.

Sources: recorded-traffic "Streams".
"""

from collections.abc import Iterator
from typing import Any

from sessions_app.emulator.wire_model import JsonObject

_ARGUMENT_SIZE = 40


def split_text(text: str, pieces: int = 0, *, opening: int = 0, size: int = 100) -> list[str]:
    """Chunks that join to `text`: so many `pieces`, or chunks of about `size` characters.

    The first is as long as `opening`, or the first word where that is 0.
    """
    if pieces:
        size = max(1, -(-len(text) // pieces))
        return [text[at : at + size] for at in range(0, len(text), size)]
    first = _end(text, opening) if opening else max(0, text.find(" ", 1, size))
    chunks = [text[:first]] if first else []
    rest = text[first:]
    while rest:
        end = _end(rest, size)
        chunks.append(rest[:end])
        rest = rest[end:]
    return chunks


def _end(text: str, size: int) -> int:
    """Where a chunk of about `size` characters ends: before a word, if one begins there."""
    if len(text) <= size:
        return len(text)
    end = text.rfind(" ", max(1, size - 10), size + 10)
    return end if end > 0 else size


def split_call(part: JsonObject) -> list[JsonObject]:
    """A functionCall part as the parts that stream its arguments; the signature stays on the first."""
    first, *rest = split_arguments(part["functionCall"])
    return [part | {"functionCall": first}, *({"functionCall": piece} for piece in rest)]


def split_arguments(call: JsonObject) -> list[JsonObject]:
    """The functionCalls of `streamFunctionCallArguments` for a whole one.

    The first has the name, then comes one value at a time by its JSON path, a string closed by an
    empty one, and at the end an empty functionCall. A call without arguments stays whole.
    """
    head = {key: value for key, value in call.items() if key != "args"}
    values = list(_values(call["args"], "$"))
    if not values:
        return [head]
    pieces = [{"partialArgs": [value], "willContinue": True} for value in values]
    return [head | {"willContinue": True}, *pieces, {}]


def _values(value: Any, path: str) -> Iterator[JsonObject]:
    """Leaves in order; an empty object or list has none and is left out."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _values(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _values(inner, f"{path}[{index}]")
    elif isinstance(value, str):
        for start in range(0, len(value), _ARGUMENT_SIZE):
            piece = value[start : start + _ARGUMENT_SIZE]
            yield {"jsonPath": path, "stringValue": piece, "willContinue": True}
        yield {"jsonPath": path, "stringValue": ""}
    elif value is None:
        yield {"jsonPath": path, "nullValue": None}
    else:
        yield {"jsonPath": path, "boolValue" if isinstance(value, bool) else "numberValue": value}
