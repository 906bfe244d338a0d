"""Messages between the server and its workers: JSON behind its length in four bytes."""

import json
import struct
from collections.abc import Callable
from typing import Any

MAX_FRAME = 16_000_000
"""Bytes. Results are bounded in characters; this only keeps a length from being believed."""

_LENGTH = struct.Struct(">I")


def frame(value: Any) -> bytes:
    """The value as one frame. Lone surrogates travel, as texts of models hold them."""
    body = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return _LENGTH.pack(len(body)) + body


def read_frame(read: Callable[[int], bytes]) -> Any:
    """The next value; `read` returns at least one byte, and at most as many as asked for.

    Raises EOFError when there is nothing more, ValueError for what is no frame, and what `read` raises.
    """
    (length,) = _LENGTH.unpack(_read_exactly(read, _LENGTH.size))
    if length > MAX_FRAME:
        raise ValueError(f"a frame of {length} bytes")
    return json.loads(_read_exactly(read, length).decode("utf-8", "surrogatepass"))


def _read_exactly(read: Callable[[int], bytes], length: int) -> bytes:
    received = bytearray()
    while len(received) < length:
        piece = read(length - len(received))
        if not piece:
            raise EOFError
        received += piece
    return bytes(received)
