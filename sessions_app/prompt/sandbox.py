"""The Jinja sandbox for templates that users write: operators, attributes and methods.

An attribute is what the data hold, never what Python knows of a value: `{{ args.items }}` is an argument,
and `args.items()` one of the few METHODS. `syntax` puts a filter in place of each, with the name that
the template wrote. What all of it may cost is in `metering`.
"""

from functools import cache
from typing import Any

from jinja2 import pass_context
from jinja2.exceptions import SecurityError, TemplateRuntimeError
from jinja2.runtime import Context, LoopContext, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from sessions_app.prompt.filters import FILTERS, TESTS
from sessions_app.prompt.metering import MAX_BITS, METER, Missing, check_length, text_of

ATTRIBUTE, ITEM, METHOD = ".", "[]", "()"
"""Filters that `syntax` inserts; these names are no valid template syntax."""

_METHODS: dict[type, frozenset[str]] = {
    dict: frozenset({"items", "keys", "values", "get"}),
    str: frozenset({"startswith", "endswith", "split"}),
    LoopContext: frozenset({"cycle"}),
}

METHODS = frozenset().union(*_METHODS.values())
"""The only methods a template may call."""

_LOOP_NAMES = frozenset(
    {"depth", "depth0", "first", "index", "index0", "last", "length", "nextitem", "previtem"}
    | {"revindex", "revindex0"}
)


class Sandbox(ImmutableSandboxedEnvironment):
    """Jinja's sandbox with metered operators and no attribute access."""

    intercepted_binops = frozenset({"+", "-", "*", "/", "//", "%", "**"})

    def getattr(self, obj: Any, attribute: str) -> Any:
        return look_up(obj, attribute, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """Filters with an `attribute` look it up here."""
        return look_up(obj, argument, str(argument))

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        meter = METER.get()
        for operand in (left, right):
            meter.record_missing(operand)
            meter.charge(operand)
        _check_operands(operator, left, right)
        result = super().call_binop(context, operator, left, right)
        meter.charge(result)
        return result


def look_up(value: Any, key: Any, name: str) -> Any:
    """What a map, a list or a text holds under the key; else Missing of that name."""
    try:
        if isinstance(value, dict) or (isinstance(value, list | tuple | str) and isinstance(key, int)):
            return value[key]
    except (LookupError, TypeError):
        return Missing(name=name)
    if isinstance(value, LoopContext) and isinstance(key, str) and key in _LOOP_NAMES:
        return getattr(value, key)
    return Missing(name=name)


def _attribute(value: Any, key: str, name: str) -> Any:
    """`value.key`. Raises TemplateRuntimeError for a text or a number, which hold nothing."""
    if isinstance(value, str | int | float) and not hasattr(type(value), key):
        raise TemplateRuntimeError(f"a {_kind(value)} has no “{key}”")
    return look_up(value, key, name)


def _call(value: Any, method: str, *args: Any, **kwargs: Any) -> Any:
    """`value.method(…)`. Raises TemplateRuntimeError, UndefinedError."""
    if isinstance(value, Undefined):
        return value()
    if not any(isinstance(value, kind) and method in names for kind, names in _METHODS.items()):
        raise TemplateRuntimeError(f"a {_kind(value)} has no “{method}()”")
    for each in (value, *args, *kwargs.values()):
        if not isinstance(each, LoopContext):
            METER.get().charge(each)
    return getattr(value, method)(*args, **kwargs)


def _kind(value: Any) -> str:
    kinds = ((str, "text"), (int | float, "number"), (dict, "map"), (list | tuple, "list"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "value")


@pass_context
def finalize(context: Context, value: Any) -> str:
    """A value as text: empty for None, compact JSON for lists and maps."""
    return text_of(value)


def _check_operands(operator: str, left: Any, right: Any) -> None:
    """Raises SecurityError when the result would be too large."""
    if operator == "%" and not isinstance(left, int | float):
        raise SecurityError("“%” is for numbers here; write the text with {{ … }}")
    if operator == "*":
        for many, times in ((left, right), (right, left)):
            if isinstance(many, str | list | tuple) and isinstance(times, int):
                check_length(len(many) * times)
    whole = isinstance(left, int) and isinstance(right, int)
    if operator == "**" and whole and abs(left).bit_length() * abs(right) > MAX_BITS:
        raise SecurityError("a number grows too large")


@cache
def environment() -> Sandbox:
    """The environment; it has no state of a rendering, so threads share it."""
    environment = Sandbox(
        # The output is for a model; a template that wants HTML sets {% autoescape true %}.
        autoescape=False,
        undefined=Missing,
        finalize=finalize,
        keep_trailing_newline=True,
        # Constant folding would run filters and operators without a meter.
        optimized=False,
        cache_size=0,
    )
    # The original engine writes {% autoescape on %} and {% autoescape off %}.
    environment.globals = {"on": True, "off": False}
    environment.filters = FILTERS | {ATTRIBUTE: _attribute, ITEM: look_up, METHOD: _call}
    environment.tests = dict(TESTS)
    return environment
