"""The filters and tests of prompt templates, each with metered arguments and result."""

from collections.abc import Callable, Iterator, KeysView, Sized, ValuesView
from functools import wraps
from typing import Any, cast

from jinja2 import pass_eval_context
from jinja2.exceptions import SecurityError
from jinja2.filters import FILTERS as JINJA
from jinja2.nodes import EvalContext
from jinja2.runtime import Context, Undefined, markup_join
from jinja2.sandbox import SandboxedEnvironment
from jinja2.tests import TESTS as JINJA_TESTS

from sessions_app.prompt.metering import METER, as_json, check_length, metered_loop, text_of

MAX_PRECISION = 30

MAX_PATH = 8
"""Dots and commas in the `attribute` of a filter."""

CONCAT, SLICE, CHECKED, LOOP = "~", "[:]", "(…)", "for"
"""Filters that `syntax` inserts; these names are no valid template syntax."""

_FROM_JINJA = """
    abs count default d dictsort first float int items last length list reject reverse select
"""

_OF_TEXTS = "capitalize e escape lower safe title trim truncate upper wordcount"
"""Filters of Jinja's that take a text; of any other value they take what is written of it."""

_PATH_PLACES = {"max": 1, "min": 1, "rejectattr": 0, "selectattr": 0, "sort": 2, "unique": 1}
"""Filters whose `attribute` may stand without its name, and its place after the value."""

_UNMETERED = (Context, EvalContext, SandboxedEnvironment)


def _metered(function: Callable[..., Any]) -> Callable[..., Any]:
    """The filter with metered arguments and result; a lazy result becomes a list."""

    @wraps(function)
    def metered(*args: Any, **kwargs: Any) -> Any:
        meter = METER.get()
        for value in (*args, *kwargs.values()):
            if not isinstance(value, _UNMETERED):
                meter.charge(value)
                if function is not JINJA["default"]:
                    meter.record_missing(value)
        return checked(function(*args, **kwargs))

    return metered


def _with_path(name: str) -> Callable[..., Any]:
    """A filter of Jinja's that may look up an attribute of each item: `sort(attribute="a.b,c")`."""
    function, place = JINJA[name], _PATH_PLACES.get(name)

    @wraps(function)
    def bounded(scope: Any, value: Any, *args: Any, **kwargs: Any) -> Any:
        path = kwargs.get("attribute")
        if path is None and place is not None and len(args) > place:
            path = args[place]
        if isinstance(path, str):
            steps = path.count(".") + path.count(",")
            if steps > MAX_PATH:
                raise SecurityError(f"“attribute” takes at most {MAX_PATH} dots and commas")
            METER.get().spend(steps * len(value) if isinstance(value, Sized) else 0)
        return function(scope, value, *args, **kwargs)

    return bounded


def _of_text(function: Callable[..., Any]) -> Callable[..., Any]:
    """The filter with `text_of` its value, which Jinja would write as Python does."""

    @wraps(function)
    def written(*args: Any, **kwargs: Any) -> Any:
        at = int(isinstance(args[0], _UNMETERED))
        return function(*args[:at], text_of(args[at]), *args[at + 1 :], **kwargs)

    return written


def _metered_test(function: Callable[..., Any]) -> Callable[..., Any]:
    """The test with metered arguments; asking about a name without a value is not using it."""

    @wraps(function)
    def metered(*args: Any, **kwargs: Any) -> Any:
        meter = METER.get()
        for value in (*args, *kwargs.values()):
            if not isinstance(value, _UNMETERED):
                meter.charge(value)
        return function(*args, **kwargs)

    return metered


def checked(value: Any) -> Any:
    if isinstance(value, Iterator | KeysView | ValuesView) or type(value).__name__ == "dict_items":
        value = list(metered_loop(value, 1))
    METER.get().charge(value)
    return value


@pass_eval_context
def _concat(scope: EvalContext, values: list[Any]) -> str:
    """`a ~ b ~ c`; where nothing is escaped by itself, what `escape` wrote is a text like any other."""
    texts = [text_of(value) for value in values]
    check_length(sum(map(len, texts)))
    return markup_join(texts) if scope.autoescape else "".join(texts)


def _slice(value: Any, *bounds: int | None) -> Any:
    """`value[a:b:c]`."""
    return [] if isinstance(value, Undefined) else value[slice(*bounds)]


@pass_eval_context
def _join(scope: EvalContext, values: Any, separator: Any = "") -> str:
    texts, between = [text_of(value) for value in values], text_of(separator)
    check_length(sum(map(len, texts)) + len(texts) * len(between))
    joined: str = JINJA["join"](scope, texts, between)
    return joined


@pass_eval_context
def _replace(scope: EvalContext, text: Any, old: Any, new: Any, count: int | None = None) -> str:
    written, sought, put = text_of(text), text_of(old), text_of(new)
    limit = None if count is None or count < 0 else count
    times = written.count(sought)
    check_length(len(written) + (times if limit is None else min(limit, times)) * len(put))
    replaced: str = JINJA["replace"](scope, written, sought, put, limit)
    return replaced


def _round(value: float, precision: int = 0) -> float:
    if abs(precision) > MAX_PRECISION:
        raise SecurityError(f"“round” takes at most {MAX_PRECISION} digits")
    return round(value, precision)


FILTERS: dict[str, Callable[..., Any]] = {
    **{name: _metered(JINJA[name]) for name in _FROM_JINJA.split()},
    **{name: _metered(_of_text(JINJA[name])) for name in _OF_TEXTS.split()},
    **{name: _metered(_with_path(name)) for name in ("map", *_PATH_PLACES)},
    "join": _metered(_join),
    "json": _metered(as_json),
    "replace": _metered(_replace),
    "round": _metered(_round),
    "string": _metered(text_of),
    "tojson": _metered(as_json),
    CONCAT: _metered(_concat),
    SLICE: _metered(_slice),
    CHECKED: checked,
    LOOP: metered_loop,
}

TESTS: dict[str, Callable[..., Any]] = {
    name: _metered_test(cast("Callable[..., Any]", test)) for name, test in JINJA_TESTS.items()
}
