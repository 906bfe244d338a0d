"""The sandbox of the texts that people write: what a template may say, and what it pays for it.

Jinja's own sandbox keeps a template away from Python's insides and does nothing about time and
memory. Here every value that is made pays for its whole size and every turn of a loop for its
body, from one purse of steps (`Meter`). The purse is a count, not a clock: it works in any thread,
and the same template ends the same way on a slow machine.
"""

import json
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from typing import Any

from jinja2 import pass_context
from jinja2.exceptions import SecurityError, TemplateRuntimeError
from jinja2.runtime import ChainableUndefined, Context, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import missing

STEPS = 200_000
"""What one rendering may spend: about a tenth of a second."""

LARGEST = 400_000
"""Characters of any value and of the whole result."""

BITS = 4_096
"""Of any whole number."""

PRECISION = 30
METHODS = frozenset({"items", "keys", "values", "get", "startswith", "endswith", "split", "cycle"})
"""The only things a template may call; everything else it may do is a filter."""

_PLAIN = (str, int, float, type(None), Undefined)


class Meter:
    """The purse of one rendering, and the names that had no value."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.missing: dict[str, None] = {}
        self._left = STEPS
        self._values = values

    def pay(self, steps: int) -> None:
        """Raises SecurityError when the purse is empty."""
        self._left -= steps
        if self._left < 0:
            raise SecurityError(f"it takes more than {STEPS:,} steps")

    def weigh(self, value: Any) -> None:
        """Pays for a value by its whole size, so that nothing grows for free.

        Raises SecurityError for what is too large, and for what is no value: a method, a loop.
        """
        pending = [value]
        while pending:
            one = pending.pop()
            self.pay(1 + _size(one) // 64)
            if isinstance(one, dict):
                pending += one.keys()
                pending += one.values()
            elif isinstance(one, list | tuple):
                pending += one
            elif not isinstance(one, _PLAIN):
                raise SecurityError("it uses something that is not a value")

    def miss(self, value: Any) -> None:
        """Notes the name when `value` is none."""
        if isinstance(value, Undefined):
            name = str(value._undefined_name)
            obj = value._undefined_obj
            holder = None if obj is missing else _path_to(self._values, obj)
            self.missing[f"{holder}.{name}" if holder else name] = None


METER: ContextVar[Meter] = ContextVar("meter")
"""The purse of the rendering that goes on in this thread."""


class Missing(ChainableUndefined):
    """A name without a value: empty text, and so is everything below it; smaller than nothing."""

    __slots__ = ()

    def __getattr__(self, name: str) -> "Missing":
        if name.startswith("_"):
            raise AttributeError(name)
        return Missing(name=f"{self._undefined_name}.{name}")

    def __getitem__(self, name: object) -> "Missing":  # type: ignore[override]  # the base fails
        return Missing(name=f"{self._undefined_name}.{name}")

    def __lt__(self, other: object) -> bool:  # type: ignore[override]  # the base fails
        METER.get().miss(self)
        return False

    __le__ = __gt__ = __ge__ = __lt__  # type: ignore[assignment]


class Sandbox(ImmutableSandboxedEnvironment):
    """Jinja without loaders, globals and macros, where operators and look-ups are ours."""

    intercepted_binops = frozenset({"+", "-", "*", "/", "//", "%", "**"})

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Keys of a map come before its methods. Raises TemplateRuntimeError below a scalar."""
        if isinstance(obj, dict):
            if attribute in obj:
                return obj[attribute]
            return (
                super().getattr(obj, attribute) if attribute in METHODS else Missing(obj=obj, name=attribute)
            )
        if isinstance(obj, str | int | float) and attribute not in METHODS:
            raise TemplateRuntimeError(f"a {_kind(obj)} has no “{attribute}”")
        return super().getattr(obj, attribute)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        meter = METER.get()
        for operand in (left, right):
            meter.miss(operand)
            meter.weigh(operand)
        _foresee(operator, left, right)
        result = super().call_binop(context, operator, left, right)
        meter.weigh(result)
        return result


@pass_context
def printed(context: Context, value: Any) -> str:
    """A value as the model reads it: nothing for None, compact JSON for lists and maps."""
    meter = METER.get()
    meter.miss(value)
    return text_of(value)


def text_of(value: Any) -> str:
    """Raises SecurityError for what is no value."""
    METER.get().weigh(value)
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, Undefined):
        return ""
    return as_json(value) if isinstance(value, list | tuple | dict) else str(value)


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)


def steps(values: Iterable[Any], cost: int) -> Iterator[Any]:
    """What a loop goes through; each turn pays for the loop's body."""
    meter = METER.get()
    meter.miss(values)
    for value in values:
        meter.pay(cost)
        yield value


def check_length(length: float) -> None:
    """Raises SecurityError; called before anything of that many characters or items is made."""
    if length > LARGEST:
        raise SecurityError(f"it makes more than {LARGEST:,} characters")


def _foresee(operator: str, left: Any, right: Any) -> None:
    """Refuses what would be too large before it exists."""
    if operator == "%" and not isinstance(left, int | float):
        raise SecurityError("“%” is for numbers here; write the text with {{ … }}")
    if operator == "*":
        for many, times in ((left, right), (right, left)):
            if isinstance(many, str | list | tuple) and isinstance(times, int):
                check_length(len(many) * times)
    whole = isinstance(left, int) and isinstance(right, int)
    if operator == "**" and whole and abs(left).bit_length() * abs(right) > BITS:
        raise SecurityError("a number grows too large")


def _size(value: Any) -> int:
    """Characters or items; for a number its bits. Raises SecurityError for what is too large."""
    if isinstance(value, str | list | tuple | dict):
        check_length(len(value))
        return len(value)
    if isinstance(value, int) and value.bit_length() > BITS:
        raise SecurityError("a number grows too large")
    return 0


def _path_to(values: Any, wanted: object) -> str | None:
    """Dotted path to this very object, so that a missing key is named as it was written."""
    if not isinstance(values, dict):
        return None
    for key, value in values.items():
        if value is wanted:
            return str(key)
        below = _path_to(value, wanted)
        if below is not None:
            return f"{key}.{below}"
    return None


def _kind(value: object) -> str:
    return "text" if isinstance(value, str) else "number"
