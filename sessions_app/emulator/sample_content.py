"""Made-up content: values that fit a schema, long texts, an image and a code execution.

`sample` reads OpenAPI and JSON Schema alike: types in either case, `anyOf`, `$ref`, `enum`, limits.
Everything is the same each time; a string is the name of its property, as often as its length wants it.
"""

import base64
import struct
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from math import ceil, floor, hypot
from typing import Any

from sessions_app.emulator.wire_model import JsonObject

_DEEP, _DEEPEST = 6, 8
_MOST_ITEMS = 100
_MOST_CHARACTERS = 10_000
_FORMATS = {"date": "2026-01-01", "date-time": "2026-01-01T00:00:00Z", "time": "00:00:00"}
_CHOICES = ("anyOf", "any_of", "oneOf", "allOf")

_WIDTH, _HEIGHT = 320, 200
_SKY, _GLOW, _SUN, _SEA = (28, 42, 84), (244, 154, 96), (255, 222, 150), (18, 26, 52)
_HORIZON, _RADIUS = 140, 34

CODE_EXECUTION: tuple[JsonObject, ...] = (
    {
        "executableCode": {
            "language": "PYTHON",
            "code": "primes = [n for n in range(2, 30)\n          if all(n % d for d in range(2, n))]\n"
            "print(sum(primes))",
        }
    },
    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "129\n"}},
)

LONG_THOUGHTS = (
    (
        "**Reading the question**\n\n"
        "The message asks to see thinking, so the first thing is to find out what there is to think about. "
        "The newest user text decides the scenario; everything before it is context, and none of it is a "
        "question of its own."
    ),
    (
        "**Weighing the options**\n\n"
        "A short answer would hide how thoughts arrive. Two summaries, each with a bold heading, are what a "
        "thinking model streams before the answer; they carry no signature themselves, since that sits on "
        "the answer or on the first call."
    ),
    (
        "**Settling on the answer**\n\n"
        "The plain account of the request is still the most useful text. The thoughts end here, and the "
        "answer begins in the next chunk."
    ),
)

LONG_ANSWER = """# How a four-layer prompt travels

A request is built from four layers, in this order. The order is what makes caching possible: \
what changes least stands first.

## The layers

1. **Static**: purpose, instructions, roles and rules. It changes when somebody edits them.
2. **Dynamic**: panels such as todos and files, and the current time.
3. **Buffered**: the recent turns, one content for each step.
4. **Trigger**: what asks for the answer now.

| layer | changes | cached |
|---|---|---|
| static | rarely | explicitly, by name |
| dynamic | with its panels | no |
| buffered | every turn | implicitly, as a prefix |
| trigger | every request | no |

## What comes back

A stream is a list of events. Each one is a complete JSON object:

```python
def fold(chunks):
    \"\"\"Join the text of a stream; the last usage wins.\"\"\"
    text, usage = "", {}
    for chunk in chunks:
        usage = chunk.get("usageMetadata", usage)
        for candidate in chunk.get("candidates", []):
            parts = candidate.get("content", {}).get("parts", [])
            text += "".join(part.get("text", "") for part in parts)
    return text, usage
```

> Counts are cumulative: the last chunk has the figures that are billed.

### Where the signature is

- in a text answer, on an **empty part** in the last chunk;
- in a function call, on the *first* call of the step;
- never on a thought.

Leaving one out is harmless in an old turn and an error in the current one: `400 INVALID_ARGUMENT`.

## A few awkward characters

Money such as $5 to $10 is not mathematics. Neither is 3 < 4 > 2. Umlauts (äöü), ligatures (ﬁ), \
Bahasa Indonesia, 日本語, and emoji such as 👩‍🚀 and 🇮🇩 must survive being cut between chunks.

## Summary

Keep what is stable in front, return signatures where they came from, and read the last usage. \
The rest is bookkeeping.
"""


def sample(schema: Any, name: str = "value") -> Any:
    """One value for the schema. Below six levels it has what is required only, below eight None alone."""
    found = schema if isinstance(schema, dict) else {}
    return _value(found, name, found, 0)


def _value(schema: Mapping[str, Any], name: str, root: Mapping[str, Any], depth: int) -> Any:
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


def _resolved(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
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


def _pointed(root: Any, path: str) -> Mapping[str, Any]:
    for step in filter(None, path.removeprefix("#").split("/")):
        root = root.get(step, {}) if isinstance(root, dict) else {}
    return root if isinstance(root, dict) else {}


def _fixed(schema: Mapping[str, Any]) -> Sequence[Any]:
    """The values that the schema gives itself: its constant, its enum or its default."""
    if "const" in schema:
        return [schema["const"]]
    listed = schema.get("enum")
    if isinstance(listed, list) and listed:
        return listed
    return [schema["default"]] if schema.get("default") is not None else []


def _kind(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    first = kind[0] if isinstance(kind, list) and kind else kind
    guess = "object" if "properties" in schema else "array" if "items" in schema else "string"
    return str(first or guess).lower()


def _object(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> dict[str, Any]:
    fields = schema.get("properties")
    if not isinstance(fields, dict):
        return {}
    order = schema.get("propertyOrdering") or schema.get("property_ordering")
    first = [name for name in order if isinstance(name, str)] if isinstance(order, list) else []
    required = schema.get("required")
    needed = fields if depth < _DEEP else required if isinstance(required, list) else ()
    names = [name for name in dict.fromkeys([*first, *fields]) if name in fields and name in needed]
    described = {str(name): fields[name] for name in names if isinstance(fields[name], dict)}
    return {name: _value(inner, name, root, depth + 1) for name, inner in described.items()}


def _array(schema: Mapping[str, Any], name: str, root: Mapping[str, Any], depth: int) -> list[Any]:
    listed, rest = schema.get("prefixItems"), schema.get("items")
    first = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    usual = 0 if depth >= _DEEP else len(first) or 1
    count = _fitting(usual, schema, ("minItems", "min_items"), ("maxItems", "max_items"), _MOST_ITEMS)
    items = [*first[:count], *[rest if isinstance(rest, dict) else {}] * (count - len(first))]
    return [_value(one, name, root, depth + 1) for one in items]


def _plain(kind: str, schema: Mapping[str, Any], name: str) -> Any:
    if kind == "boolean":
        return True
    if kind in {"integer", "number"}:
        return _number(kind, schema)
    if found := _FORMATS.get(str(schema.get("format", ""))):
        return found
    limits = ("minLength", "min_length"), ("maxLength", "max_length")
    size = _fitting(len(name), schema, *limits, _MOST_CHARACTERS)
    return ((name or "x") * size)[:size] if size > len(name) else name[:size]


def _number(kind: str, schema: Mapping[str, Any]) -> float:
    """The least that the schema allows; 1, or the most, where it names no least."""
    least, most = (_limit(schema.get(name)) for name in ("minimum", "maximum"))
    if least is None:
        value = 1 if most is None else min(1, most)
        return floor(value) if kind == "integer" else value
    return ceil(least) if kind == "integer" else least


def _limit(value: Any) -> float | None:
    """A number that JSON has a form for, as a whole one too."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and abs(value) <= 2**53 else None


def _fitting(
    usual: int, schema: Mapping[str, Any], least: Sequence[str], most: Sequence[str], bound: int
) -> int:
    """A size between two limits of the schema, which have either of two names each; `bound` at most."""
    lower, upper = (_count(schema, names) for names in (least, most))
    size = usual if lower is None else max(usual, lower)
    return min(size if upper is None else min(size, upper), bound)


def _count(schema: Mapping[str, Any], names: Sequence[str]) -> int | None:
    """A whole number, which JSON may give as a string."""
    text = str(next((schema[name] for name in names if schema.get(name) is not None), ""))
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else None


@cache
def sample_image() -> JsonObject:
    """A sunset over the sea as a part: the same PNG every time."""
    rows = b"".join(b"\0" + _image_row(y) for y in range(_HEIGHT))
    header = struct.pack(">IIBBBBB", _WIDTH, _HEIGHT, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    png = b"\x89PNG\r\n\x1a\n" + b"".join(_png_chunk(name, body) for name, body in chunks)
    return {"inlineData": {"mimeType": "image/png", "data": base64.b64encode(png).decode()}}


def _image_row(y: int) -> bytes:
    if y > _HORIZON:
        return bytes(_mix(_SEA, _GLOW, 0.25 * (_HEIGHT - y) / (_HEIGHT - _HORIZON))) * _WIDTH
    sky = bytes(_mix(_SKY, _GLOW, (y / _HORIZON) ** 2))
    is_sun = (hypot(x - _WIDTH / 2, y - _HORIZON + 8) < _RADIUS for x in range(_WIDTH))
    return b"".join(bytes(_SUN) if here else sky for here in is_sun)


def _mix(one: tuple[int, ...], other: tuple[int, ...], share: float) -> list[int]:
    return [round(a + (b - a) * share) for a, b in zip(one, other, strict=True)]


def _png_chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
