"""What was computed of the bytes of a content, kept for the next request of the conversation.

The bytes of a turn never change, and a request carries those of all turns again. Functions that depend on
nothing else are remembered: of a thousand turns, those of the last request cost a look-up each.
"""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

Value = TypeVar("Value")

LARGEST = 200_000
"""Bytes of a content that is remembered: a larger one is mostly media."""

LIMIT = 32_000_000
"""Bytes of all contents that one function remembers; beyond, it begins anew."""


def remembered(measure: Callable[[bytes], Value]) -> Callable[[bytes], Value]:
    """For a pure function of bytes with a small, immutable value; its errors are not remembered."""
    known: dict[bytes, Value] = {}
    size = 0

    @wraps(measure)
    def recall(content: bytes) -> Value:
        nonlocal size
        try:
            return known[content]
        except KeyError:
            value = measure(content)
        if len(content) <= LARGEST:
            # Threads may count one content twice; then it begins anew a little earlier.
            size += len(content)
            if size > LIMIT:
                known.clear()
                size = len(content)
            known[content] = value
        return value

    return recall
