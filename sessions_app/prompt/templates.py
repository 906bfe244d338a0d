"""Texts that people write as templates: rendered in the sandbox, or sent as they were written.

`render` never fails. A text without template syntax is not looked at twice; one that cannot be
parsed or run is sent as it stands, with the reason (seed 3).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from jinja2 import Template
from jinja2.exceptions import SecurityError

from sessions_app.prompt.filters import environment
from sessions_app.prompt.maps import expand_dotted, merge_maps
from sessions_app.prompt.sandbox import LARGEST, METER, Meter
from sessions_app.prompt.syntax import Use, read

__all__ = ["Rendered", "Use", "is_template", "render", "uses_of"]

KEPT = 128
"""Compiled templates that stay in memory."""

_OPENERS = ("{{", "{%", "{#")


@dataclass(frozen=True, slots=True)
class Rendered:
    """What became of a text.

    `plain`: no template. `rendered`: `undefined` are the names that came out empty. `fallback`: the
    text as it was written, `reason` and `line` (0: unknown) say why.
    """

    text: str
    status: Literal["plain", "rendered", "fallback"] = "plain"
    reason: str = ""
    line: int = 0
    undefined: tuple[str, ...] = ()
    uses: tuple[Use, ...] = ()


@dataclass(frozen=True, slots=True)
class _Program:
    template: Template
    uses: tuple[Use, ...]


@dataclass(frozen=True, slots=True)
class _Refusal:
    reason: str
    line: int


def is_template(text: str) -> bool:
    return "{" in text and any(opener in text for opener in _OPENERS)


def render(text: str, values: Mapping[str, Any], defaults: Mapping[str, Any] | None = None) -> Rendered:
    """The text with its variables filled in; `defaults` stand behind `values`, dotted keys expanded."""
    if not is_template(text):
        return Rendered(text)
    program = _compiled(text)
    if isinstance(program, _Refusal):
        return Rendered(text, "fallback", program.reason, program.line)
    known = merge_maps(expand_dotted(defaults), values) if defaults else dict(values)
    meter = Meter(known)
    token = METER.set(meter)
    try:
        written = _written(program.template, known)
    except Exception as error:  # noqa: BLE001 (a person's template may fail in any way; their text is sent then)
        return Rendered(text, "fallback", _words(error), _line(program.template, error), uses=program.uses)
    finally:
        METER.reset(token)
    return Rendered(written, "rendered", undefined=tuple(meter.missing), uses=program.uses)


def uses_of(text: str) -> tuple[Use, ...]:
    """The variables a text names; none for a text that is sent as it was written."""
    program = _compiled(text) if is_template(text) else None
    return program.uses if isinstance(program, _Program) else ()


def _written(template: Template, values: dict[str, Any]) -> str:
    pieces: list[str] = []
    length = 0
    for piece in template.root_render_func(template.new_context(values)):
        length += len(piece)
        if length > LARGEST:
            raise SecurityError(f"it writes more than {LARGEST:,} characters")
        pieces.append(piece)
    return "".join(pieces)


@lru_cache(maxsize=KEPT)
def _compiled(text: str) -> _Program | _Refusal:
    sandbox = environment()
    try:
        tree, uses = read(sandbox, text)
        template = Template.from_code(sandbox, sandbox.compile(tree), sandbox.make_globals(None))
    except Exception as error:  # noqa: BLE001 (parsing a person's text may fail in any way, deep nesting included)
        return _Refusal(_words(error), getattr(error, "lineno", None) or 0)
    return _Program(template, uses)


def _words(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, OverflowError):
        return "a number grows too large"
    return (str(getattr(error, "message", None) or error) or type(error).__name__)[:200]


def _line(template: Template, error: Exception) -> int:
    """The template's line that was being run, 0 when it cannot be told."""
    found = 0
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<template>":
            found = template.get_corresponding_lineno(trace.tb_lineno)
        trace = trace.tb_next
    return found
