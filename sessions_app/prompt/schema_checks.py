"""Holding a value against a JSON schema within a bound: a person writes the one, a model the other.

A few definitions that name one another many times, or a choice of many for a long list, would keep the
process busy for hours.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

STEPS_LIMIT = 200_000
"""About two seconds. A usual answer of 300,000 characters takes less."""

SIZE_OF_STEP = 100
"""Characters of a value that take as long as a step: errors quote the value."""

Check = Callable[[Any, Any, Any, Any], Any]
"""What `jsonschema` calls for one keyword: the validator, the keyword's value, the value held, the schema."""


class TooManyChecks(Exception):
    """Holding the value against the schema takes more than `STEPS_LIMIT`."""


def errors_within_bound(schema: Mapping[str, Any], value: Any) -> Iterator[ValidationError]:
    """Raises TooManyChecks, also between two errors, and RecursionError."""
    meter = _Meter(value)
    checks = {name: meter.counted(check) for name, check in Draft202012Validator.VALIDATORS.items()}
    found: Iterator[ValidationError] = extend(Draft202012Validator, checks)(schema).iter_errors(value)
    return found


class _Meter:
    def __init__(self, value: Any) -> None:
        self._left = STEPS_LIMIT
        self._sizes: dict[int, int] = {}
        self._measure(value)

    def counted(self, check: Check) -> Check:
        def checked(validator: Any, keyword: Any, value: Any, schema: Any) -> Any:
            size = len(value) if isinstance(value, str) else self._sizes.get(id(value), 1)
            self._left -= 1 + size // SIZE_OF_STEP
            if isinstance(keyword, list | dict):
                self._left -= len(keyword)
            if self._left < 0:
                raise TooManyChecks
            return check(validator, keyword, value, schema)

        return checked

    def _measure(self, value: Any) -> int:
        """Characters, names and values in a value; those of lists and objects are kept."""
        if isinstance(value, str):
            return len(value)
        if isinstance(value, Mapping):
            size = sum(len(name) + self._measure(one) for name, one in value.items())
        elif isinstance(value, list):
            size = sum(map(self._measure, value)) + len(value)
        else:
            return 1
        self._sizes[id(value)] = 1 + size
        return 1 + size
