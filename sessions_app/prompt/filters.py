"""The filters of prompt templates: Jinja's, as far as they cannot grow without measure, and our own."""

from collections.abc import Callable, Iterator, KeysView, ValuesView
from functools import cache, wraps
from typing import Any

from jinja2.exceptions import SecurityError
from jinja2.filters import FILTERS as JINJA
from jinja2.nodes import EvalContext
from jinja2.runtime import Context, Undefined
from markupsafe import Markup

from sessions_app.prompt.sandbox import (
    METER,
    PRECISION,
    Missing,
    Sandbox,
    as_json,
    check_length,
    printed,
    steps,
    text_of,
)

JOINED, CUT, MADE, TURNS = "~", "[:]", "(…)", "for"
"""Filters that stand for syntax; no template can write their names."""

_FROM_JINJA = [
    "abs",
    "capitalize",
    "count",
    "default",
    "d",
    "dictsort",
    "e",
    "escape",
    "first",
    "float",
    "int",
    "items",
    "last",
    "length",
    "list",
    "lower",
    "map",
    "max",
    "min",
    "reject",
    "rejectattr",
    "reverse",
    "safe",
    "select",
    "selectattr",
    "sort",
    "title",
    "trim",
    "truncate",
    "unique",
    "upper",
    "wordcount",
]

_UNSEEN = (Context, EvalContext, Sandbox)


def _paid(function: Callable[..., Any]) -> Callable[..., Any]:
    """The filter, paying for what goes in and what comes out; what Jinja makes lazily is made now."""

    @wraps(function)
    def paying(*args: Any, **kwargs: Any) -> Any:
        meter = METER.get()
        for value in (*args, *kwargs.values()):
            if not isinstance(value, _UNSEEN):
                meter.weigh(value)
                if function is not JINJA["default"]:
                    meter.miss(value)
        return _made(function(*args, **kwargs))

    return paying


def _made(value: Any) -> Any:
    """A value that was just made, and is paid for."""
    if isinstance(value, Iterator | KeysView | ValuesView) or type(value).__name__ == "dict_items":
        value = list(steps(value, 1))
    METER.get().weigh(value)
    return value


def _joined(values: list[Any]) -> str:
    """`a ~ b ~ c`."""
    texts = [text_of(value) for value in values]
    check_length(sum(map(len, texts)))
    safe = any(isinstance(text, Markup) for text in texts)
    return Markup("").join(texts) if safe else "".join(texts)


def _cut(value: Any, *bounds: int | None) -> Any:
    """`value[a:b:c]`."""
    return [] if isinstance(value, Undefined) else value[slice(*bounds)]


def _join(values: Any, separator: str = "") -> str:
    texts = [text_of(value) for value in values]
    check_length(sum(map(len, texts)) + len(texts) * len(separator))
    return separator.join(texts)


def _replace(text: Any, old: str, new: str, count: int = -1) -> str:
    written = text_of(text)
    times = written.count(old) if count < 0 else min(count, written.count(old))
    check_length(len(written) + times * len(new))
    return written.replace(old, new, count)


def _round(value: float, precision: int = 0) -> float:
    if abs(precision) > PRECISION:
        raise SecurityError(f"“round” takes at most {PRECISION} digits")
    return round(value, precision)


FILTERS: dict[str, Callable[..., Any]] = {
    **{name: _paid(JINJA[name]) for name in _FROM_JINJA},
    "join": _paid(_join),
    "json": _paid(as_json),
    "replace": _paid(_replace),
    "round": _paid(_round),
    "string": _paid(text_of),
    "tojson": _paid(as_json),
    JOINED: _paid(_joined),
    CUT: _paid(_cut),
    MADE: _made,
    TURNS: steps,
}


@cache
def environment() -> Sandbox:
    """The one environment; it keeps no state of a rendering, so threads share it."""
    made = Sandbox(
        # The text is read by a model; a template that wants HTML says {% autoescape true %}.
        autoescape=False,
        undefined=Missing,
        finalize=printed,
        keep_trailing_newline=True,
        # Folding constants would run filters and operators outside any purse.
        optimized=False,
        cache_size=0,
    )
    # `on` and `off` are how the original engine writes {% autoescape … %}.
    made.globals = {"on": True, "off": False}
    made.filters = dict(FILTERS)
    return made
