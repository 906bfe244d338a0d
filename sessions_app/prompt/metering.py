"""Limits of time and memory inside a template: steps, sizes, names without a value.

Jinja's own sandbox limits neither. Here every value costs steps by its size and every iteration of a
loop by the size of its body (`Meter`). Steps are counted, not timed, so the limit works in any thread
and gives the same result on every machine.
"""

import json
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from typing import Any

from jinja2.exceptions import SecurityError
from jinja2.runtime import ChainableUndefined, Undefined

MAX_STEPS = 200_000
"""Per rendering: about 0.1 s."""

MAX_LENGTH = 400_000
"""Characters of any value and of the result."""

MAX_BITS = 4_096
"""The most bits of any integer."""

MAX_MISSING = 100
"""Names without a value that are listed, and in characters each of them."""

_PLAIN = (str, int, float, type(None), Undefined)


class Meter:
    """Counts the steps of one rendering, and collects the names without a value."""

    def __init__(self) -> None:
        self.missing: dict[str, None] = {}
        self._left = MAX_STEPS

    def spend(self, steps: int) -> None:
        """Raises SecurityError when no steps are left."""
        self._left -= steps
        if self._left < 0:
            raise SecurityError(f"it takes more than {MAX_STEPS:,} steps")

    def charge(self, value: Any) -> None:
        """Spend steps by a value's size. Raises SecurityError if it is too large or no data (methods)."""
        pending = [value]
        while pending:
            one = pending.pop()
            self.spend(1 + _size(one) // 64)
            if isinstance(one, dict):
                pending += one.keys()
                pending += one.values()
            elif isinstance(one, list | tuple):
                pending += one
            elif not isinstance(one, _PLAIN):
                raise SecurityError("it uses something that is not a value")

    def record_missing(self, value: Any) -> None:
        """Records the name of an undefined value, as the template wrote it."""
        if isinstance(value, Undefined) and len(self.missing) < MAX_MISSING:
            self.missing[str(value._undefined_name)[:MAX_MISSING]] = None


METER: ContextVar[Meter] = ContextVar("meter")
"""The meter of the current rendering."""


class Missing(ChainableUndefined):
    """Undefined: prints as empty text, as do its attributes; every comparison is false."""

    __slots__ = ()

    def __lt__(self, other: object) -> bool:  # type: ignore[override]  # the base fails
        METER.get().record_missing(self)
        return False

    __le__ = __gt__ = __ge__ = __lt__  # type: ignore[assignment]


def text_of(value: Any) -> str:
    """The text of a value, empty for None and for a name without a value, which is recorded.

    Raises SecurityError for anything but data.
    """
    METER.get().charge(value)
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return as_json(value) if isinstance(value, list | tuple | dict) else _plain(value)


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=_plain)


def _plain(value: Any) -> str:
    if isinstance(value, Undefined):
        METER.get().record_missing(value)
    return str(value)


def metered_loop(values: Iterable[Any], cost: int) -> Iterator[Any]:
    """The values of a loop; each iteration spends `cost` steps."""
    meter = METER.get()
    meter.record_missing(values)
    for value in values:
        meter.spend(cost)
        yield value


def check_length(length: float) -> None:
    """Raises SecurityError when a value of that many characters or items would be too large."""
    if length > MAX_LENGTH:
        raise SecurityError(f"it makes more than {MAX_LENGTH:,} characters")


def _size(value: Any) -> int:
    """Characters or items, 0 for a number. Raises SecurityError for what is too large."""
    if isinstance(value, str | list | tuple | dict):
        check_length(len(value))
        return len(value)
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise SecurityError("a number grows too large")
    return 0
