"""Templates that users write: rendering in the sandbox, and a lint for variables that break a cache."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any, Literal

from jinja2 import Template
from jinja2.exceptions import SecurityError

from sessions_app.prompt.argument_maps import expand_dotted, over_defaults
from sessions_app.prompt.metering import MAX_LENGTH, METER, Meter
from sessions_app.prompt.sandbox import environment
from sessions_app.prompt.syntax import MAX_CHARACTERS, Use, parse_template

__all__ = ["RenderFailure", "Rendered", "Unrendered", "Use", "is_template", "render", "uses_of"]

CACHE_SIZE = 128
"""Compiled templates."""

_OPENERS = ("{{", "{%", "{#")
_UNFIT_FOR_RAW = re.compile(r"\r|{%[-+]?\s*endraw")
"""What Jinja would write as a line feed, and what would end the block."""


class RenderFailure(StrEnum):
    """Why rendering was ended from outside; the comments say what `limit` of Rendered counts."""

    TOO_SLOW = "too_slow"  # seconds
    TOO_MUCH_MEMORY = "too_much_memory"  # megabytes
    TOO_LARGE = "too_large"  # characters of all texts and arguments
    NO_TIME = "no_time"  # seconds of the request, which others used up


@dataclass(frozen=True, slots=True)
class Unrendered:
    """A text before rendering; `defaults` stand behind the arguments."""

    text: str
    defaults: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rendered:
    """A text after rendering.

    `plain`: no template. `rendered`: `undefined` are names without a value. `fallback`: the source text,
    since rendering failed: with `reason`, in the words of the template engine, at `line` (0: unknown), or
    with `failure` at its `limit`.
    """

    text: str
    status: Literal["plain", "rendered", "fallback"] = "plain"
    reason: str = ""
    line: int = 0
    undefined: tuple[str, ...] = ()
    uses: tuple[Use, ...] = ()
    failure: RenderFailure | None = None
    limit: float = 0

    def failure_figures(self) -> dict[str, Any]:
        """Why it fell back, as a remark keeps it."""
        if self.failure is None:
            return {"line": self.line, "reason": self.reason}
        return {"failure": self.failure.value, "limit": self.limit}


@dataclass(frozen=True, slots=True)
class _Program:
    template: Template
    uses: tuple[Use, ...]


@dataclass(frozen=True, slots=True)
class _Invalid:
    reason: str
    line: int


def is_template(text: str) -> bool:
    return "{" in text and any(opener in text for opener in _OPENERS)


def verbatim(text: str) -> str:
    """A template that renders to this text; one that is too long for a template is returned as it is."""
    if not is_template(text):
        return text
    written = f"{{% raw %}}{text}{{% endraw %}}"
    if _UNFIT_FOR_RAW.search(text):
        quoted = text.replace("\\", r"\\").replace('"', r"\"").replace("\r", r"\r")
        written = f'{{{{ "{quoted}" }}}}'
    return written if len(written) <= MAX_CHARACTERS else text


def render(text: str, values: Mapping[str, Any], defaults: Mapping[str, Any] | None = None) -> Rendered:
    """Render a text; on any error the result is the text itself, with the reason (seed 3).

    `values` that are not empty take precedence over `defaults`, whose dotted keys are expanded. Bounded in
    steps only, and raises MemoryError: `rendering` calls it in a process that is bounded in time and memory.
    """
    if not is_template(text):
        return Rendered(text)
    program = _compiled(text)
    if isinstance(program, _Invalid):
        return Rendered(text, "fallback", program.reason, program.line)
    known = over_defaults(values, expand_dotted(defaults)) if defaults else dict(values)
    meter = Meter()
    token = METER.set(meter)
    try:
        output = _run(program.template, known)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 (a template may fail in any way)
        return Rendered(text, "fallback", _reason(error), _line(program.template, error), uses=program.uses)
    finally:
        METER.reset(token)
    return Rendered(output, "rendered", undefined=tuple(meter.missing), uses=program.uses)


def uses_of(text: str) -> tuple[Use, ...]:
    """The variables of a template; empty for a text that is none or cannot be parsed."""
    program = _compiled(text) if is_template(text) else None
    return program.uses if isinstance(program, _Program) else ()


def _run(template: Template, values: dict[str, Any]) -> str:
    pieces: list[str] = []
    length = 0
    for piece in template.root_render_func(template.new_context(values)):
        length += len(piece)
        if length > MAX_LENGTH:
            raise SecurityError(f"it writes more than {MAX_LENGTH:,} characters")
        pieces.append(piece)
    return "".join(pieces)


@lru_cache(maxsize=CACHE_SIZE)
def _compiled(text: str) -> _Program | _Invalid:
    sandbox = environment()
    try:
        tree, uses = parse_template(sandbox, text)
        template = Template.from_code(sandbox, sandbox.compile(tree), sandbox.make_globals(None))
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 (parsing may fail in any way, deep nesting included)
        return _Invalid(_reason(error), getattr(error, "lineno", None) or 0)
    return _Program(template, uses)


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, OverflowError):
        return "a number grows too large"
    return (str(getattr(error, "message", None) or error) or type(error).__name__)[:200]


def _line(template: Template, error: Exception) -> int:
    """The line of the template at which the error was raised, 0 when unknown."""
    found = 0
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<template>":
            found = template.get_corresponding_lineno(trace.tb_lineno)
        trace = trace.tb_next
    return found


class ChangeRate(StrEnum):
    """How often a volatile value changes."""

    DAILY = "daily"
    ALWAYS = "always"


VOLATILE = {
    "system": ChangeRate.ALWAYS,
    "system.current_date": ChangeRate.DAILY,
    "system.day_of_week": ChangeRate.DAILY,
    "message": ChangeRate.ALWAYS,
    "conversation": ChangeRate.ALWAYS,
    "conversation.duration": ChangeRate.ALWAYS,
    "conversation.updated_date": ChangeRate.ALWAYS,
}
"""A namespace applies to all its names that are not listed themselves."""

_STABLE = {
    "conversation.id",
    "conversation.identifier",
    "conversation.source",
    "conversation.direction",
    "conversation.created_date",
}


_DESCRIBED = {"assistant", "assistant.description"}


@dataclass(frozen=True, slots=True)
class CacheBreaker:
    """A volatile variable in a text of a cached layer, at its first line."""

    path: str
    line: int
    rate: ChangeRate


def cache_breakers(uses: Iterable[Use], described: Iterable[Use] = ()) -> tuple[CacheBreaker, ...]:
    """The variables that change between requests, each once, in text order.

    `described` are those of the assistant's description, which changes as they do.
    """
    found: dict[str, CacheBreaker] = {}
    rates = [rate for use in described if (rate := _change_rate(use.path))]
    description = ChangeRate.ALWAYS if ChangeRate.ALWAYS in rates else next(iter(rates), None)
    for use in uses:
        rate = _change_rate(use.path, description)
        if rate:
            found.setdefault(use.path, CacheBreaker(use.path, use.line, rate))
    return tuple(found.values())


def _change_rate(path: str, description: ChangeRate | None = None) -> ChangeRate | None:
    """None for a stable variable; `description` is the rate of the assistant's description."""
    root, _, rest = path.partition(".")
    named = f"{root}.{rest.partition('.')[0]}" if rest else root
    if named in _DESCRIBED:
        return description
    return None if named in _STABLE else VOLATILE.get(named) or VOLATILE.get(root)
