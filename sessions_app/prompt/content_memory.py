"""What was computed of the bytes of a content, kept for the next request of the conversation.

The bytes of a turn never change, and a request carries those of all turns again. Functions that depend on
nothing else are remembered: of a thousand turns, those of the last request cost a look-up each.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import update_wrapper
from itertools import repeat
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")

LARGEST = 200_000
"""Bytes of a content that is remembered: a larger one is mostly media."""

LIMIT = 32_000_000
"""Bytes of all contents that one function remembers; beyond, it begins anew."""

_UNKNOWN: Any = object()


class Remembered(Generic[Value]):
    """A function of bytes that keeps its values."""

    def __init__(self, measure: Callable[[bytes], Value]) -> None:
        self._measure = measure
        self._known: dict[bytes, Value] = {}
        self._size = 0
        update_wrapper(self, measure)

    def __call__(self, content: bytes) -> Value:
        known = self._known.get(content, _UNKNOWN)
        return self._measured(content) if known is _UNKNOWN else known

    def of_all(self, contents: Sequence[bytes]) -> list[Value]:
        """The value of each content: for those of a long history faster than a call each."""
        found: Iterator[Any] = map(self._known.get, contents, repeat(_UNKNOWN))
        return [
            self._measured(content) if known is _UNKNOWN else known
            for content, known in zip(contents, found, strict=True)
        ]

    def forget(self) -> None:
        self._known.clear()
        self._size = 0

    def _measured(self, content: bytes) -> Value:
        value = self._measure(content)
        if len(content) <= LARGEST:
            # Threads may count one content twice; then it begins anew a little earlier.
            self._size += len(content)
            if self._size > LIMIT:
                self.forget()
                self._size = len(content)
            self._known[content] = value
        return value


def remembered(measure: Callable[[bytes], Value]) -> Remembered[Value]:
    """For a pure function of bytes; its errors are not remembered.

    Its values are immutable, and no larger than the content.
    """
    return Remembered(measure)
