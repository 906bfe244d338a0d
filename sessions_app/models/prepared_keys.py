"""Compiled queries for lists of keys, whose length is another one each time."""

from collections.abc import Callable, Collection, Iterable
from typing import Any, Generic, TypeVar

from django.db.models import BigIntegerField, QuerySet

from sessions_app.models.prepared import NONE, Parameter, Reading

Found = TypeVar("Found")

FEWEST, MOST = 8, 512
"""Keys of one statement: it is compiled for the next power of two, and what is over is NONE."""


class ReadingOf(Generic[Found]):
    """A `Reading` of the rows that some keys name; `build` is given expressions for `…__in`."""

    def __init__(self, build: "Callable[[Iterable[Any]], QuerySet[Any, Any]]") -> None:
        self._build = build
        self._readings: dict[int, Reading[Found]] = {}

    def all(self, keys: Collection[int], **given: Any) -> list[Found]:
        """The rows in the order of the query, for each MOST of the keys; no query without keys."""
        wanted = list(keys)
        found: list[Found] = []
        for start in range(0, len(wanted), MOST):
            found += self._some(wanted[start : start + MOST], given)
        return found

    def _some(self, keys: list[int], given: dict[str, Any]) -> list[Found]:
        size = max(FEWEST, 1 << (len(keys) - 1).bit_length())
        named = zip(_NAMES, [*keys, *[NONE] * (size - len(keys))], strict=False)
        return self._of_size(size).all(**dict(named), **given)

    def _of_size(self, size: int) -> Reading[Found]:
        reading = self._readings.get(size)
        if reading is None:
            keys = [Parameter(name, BigIntegerField()) for name in _NAMES[:size]]
            reading = self._readings[size] = Reading(lambda: self._build(keys))
        return reading


_NAMES = [f"key{place}" for place in range(MOST)]
