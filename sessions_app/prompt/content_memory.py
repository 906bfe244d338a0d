"""What was computed of a content, kept for the next request of the conversation.

The bytes of a turn never change, and a request carries those of all turns again. Functions that depend on
nothing else are remembered: of a thousand turns, those of the last request cost a look-up each.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import update_wrapper
from itertools import repeat
from typing import Any, Generic, TypeVar

Given = TypeVar("Given", bound=Hashable)
Value = TypeVar("Value")

LARGEST = 200_000
"""Bytes of a content that is remembered: a larger one is mostly media."""

LIMIT = 16_000_000
"""Bytes of all contents that one function remembers; beyond, it begins anew."""

ENTRY = 150
"""Bytes that a content counts besides its own, for its value and its place."""

_UNKNOWN: Any = object()


class Remembered(Generic[Given, Value]):
    """A pure function of one content that keeps its values; its errors are not remembered.

    Its values are immutable, and no larger than the content, whose bytes `size` says.
    """

    def __init__(self, measure: Callable[[Given], Value], size: Callable[[Given], int]) -> None:
        self._measure = measure
        self._size_of = size
        self._known: dict[Given, Value] = {}
        self._size = 0
        update_wrapper(self, measure)

    def __call__(self, content: Given) -> Value:
        known = self._known.get(content, _UNKNOWN)
        return self._measured(content) if known is _UNKNOWN else known

    def of_all(self, contents: Sequence[Given]) -> list[Value]:
        """The value of each content: for those of a long history faster than a call each."""
        found: Iterator[Any] = map(self._known.get, contents, repeat(_UNKNOWN))
        return [
            self._measured(content) if known is _UNKNOWN else known
            for content, known in zip(contents, found, strict=True)
        ]

    def forget(self) -> None:
        self._known.clear()
        self._size = 0

    def _measured(self, content: Given) -> Value:
        value = self._measure(content)
        if (size := self._size_of(content)) <= LARGEST:
            # Threads may count one content twice; then it begins anew a little earlier.
            self._size += size + ENTRY
            if self._size > LIMIT:
                self.forget()
                self._size = size + ENTRY
            self._known[content] = value
        return value


def remembered(measure: Callable[[bytes], Value]) -> Remembered[bytes, Value]:
    """For a function of the bytes alone."""
    return Remembered(measure, len)
