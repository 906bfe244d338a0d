"""What a model can bring beside its text: an image it made, and code it ran."""

import base64
import struct
import zlib
from functools import cache
from math import hypot
from typing import Any

_WIDTH, _HEIGHT = 320, 200
_SKY, _GLOW, _SUN, _SEA = (28, 42, 84), (244, 154, 96), (255, 222, 150), (18, 26, 52)
_HORIZON, _RADIUS = 140, 34

CODE_RUN: tuple[dict[str, Any], ...] = (
    {
        "executableCode": {
            "language": "PYTHON",
            "code": "primes = [n for n in range(2, 30)\n          if all(n % d for d in range(2, n))]\n"
            "print(sum(primes))",
        }
    },
    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "129\n"}},
)


@cache
def drawing() -> dict[str, Any]:
    """A sunset over the sea as a part: the same PNG every time."""
    rows = b"".join(b"\0" + _row(y) for y in range(_HEIGHT))
    header = struct.pack(">IIBBBBB", _WIDTH, _HEIGHT, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    png = b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, body) for name, body in chunks)
    return {"inlineData": {"mimeType": "image/png", "data": base64.b64encode(png).decode()}}


def _row(y: int) -> bytes:
    if y > _HORIZON:
        return bytes(_mixed(_SEA, _GLOW, 0.25 * (_HEIGHT - y) / (_HEIGHT - _HORIZON))) * _WIDTH
    sky = bytes(_mixed(_SKY, _GLOW, (y / _HORIZON) ** 2))
    is_sun = (hypot(x - _WIDTH / 2, y - _HORIZON + 8) < _RADIUS for x in range(_WIDTH))
    return b"".join(bytes(_SUN) if here else sky for here in is_sun)


def _mixed(one: tuple[int, ...], other: tuple[int, ...], share: float) -> list[int]:
    return [round(a + (b - a) * share) for a, b in zip(one, other, strict=True)]


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
