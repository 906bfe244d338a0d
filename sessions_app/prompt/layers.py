"""The four layers of a request (seed 1), and the two templates that render the first two.

A template marks where a source begins and ends with three Unicode noncharacters. The `json` filter
escapes those in every value, so no input can forge a mark, and the rendered text splits into segments
whose concatenation is the text. A source that did not change keeps its bytes.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from functools import cache, cached_property, lru_cache
from hashlib import sha256
from itertools import compress
from pathlib import Path
from typing import Any

import jinja2

from sessions_app.error_codes import RefusalCode
from sessions_app.errors import PromptError
from sessions_app.prompt import provider_tools, wire
from sessions_app.prompt.clock import clock_text
from sessions_app.prompt.content_memory import remembered
from sessions_app.prompt.panels import Panel, sorted_panels
from sessions_app.prompt.parts import parts_of, raw_parts
from sessions_app.prompt.tokens import estimate
from sessions_app.prompt.turns import Turn, TurnKind

TEMPLATES = Path(__file__).resolve().parents[2] / "templates" / "prompt"

_BEGIN, _NAMED, _END = "\ufdd0", "\ufdd1", "\ufdd2"
_MARKED = re.compile(f"{_BEGIN}([^{_NAMED}]*){_NAMED}([^{_END}]*){_END}")
_ESCAPED_MARKS = str.maketrans({mark: f"\\u{ord(mark):04x}" for mark in (_BEGIN, _NAMED, _END)})


# No slots: the cached properties need the instance dictionary.
@dataclass(frozen=True)
class Segment:
    """A piece of a rendered layer and its source (`template:static`, `chunk:<key>`)."""

    source: str
    text: str

    @cached_property
    def wire(self) -> bytes:
        """The text as it is inside a JSON string."""
        return wire.escaped(self.text)

    @cached_property
    def sha256(self) -> str:
        return sha256(self.wire).hexdigest()

    @cached_property
    def tokens(self) -> int:
        return estimate(self.text)


def render_template(name: str, values: Mapping[str, Any], *, source: str) -> tuple[Segment, ...]:
    """Render a template of templates/prompt; text outside any mark belongs to `source`."""
    return tuple(_split(_environment().get_template(name).render(values), source))


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        # The output is JSON for a model, never HTML: every value passes the json filter instead.
        autoescape=False,  # noqa: S701
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters |= {"json": json_text, "marked": _marked}
    return environment


def json_text(value: Any) -> str:
    """JSON for a layer, in which no value can forge the mark of a source."""
    return wire.dumps(value).decode().translate(_ESCAPED_MARKS)


def _marked(text: str, source: str) -> str:
    return f"{_BEGIN}{json_text(source)}{_NAMED}{text}{_END}"


def _split(text: str, source: str) -> list[Segment]:
    segments: list[Segment] = []
    at = 0
    for found in _MARKED.finditer(text):
        segments += _plain(text[at : found.start()], source)
        segments.append(Segment(wire.loads(found[1]), found[2]))
        at = found.end()
    return segments + _plain(text[at:], source)


def _plain(text: str, source: str) -> list[Segment]:
    return [Segment(source, text)] if text else []


STATIC_SOURCE = "template:static"
DYNAMIC_SOURCE = "template:dynamic"


class Layer(StrEnum):
    STATIC = "static"
    DYNAMIC = "dynamic"
    BUFFERED = "buffered"
    TRIGGER = "trigger"


@dataclass(frozen=True, slots=True)
class NamedText:
    """A role, a procedure or a constraint from the library."""

    name: str
    body: str


_BLANK = '""'

STATIC_LAYERS = 200
"""So many are kept as they were rendered, without their history."""


@dataclass(frozen=True, slots=True)
class FrozenHistory:
    """Old turns frozen as text. The instance keeps its segment, so that it is escaped and hashed once."""

    key: str
    text: str
    tokens: int = field(default=0, compare=False)
    _segments: dict[str, Segment] = field(default_factory=dict, compare=False, repr=False)

    @property
    def source(self) -> str:
        return f"chunk:{self.key}"

    def segment(self, blank: Segment) -> Segment:
        """The rendered chunk: `blank` is what the template rendered for an empty text."""
        found = self._segments.get(blank.text)
        if found is None:
            text = blank.text.replace(_BLANK, json_text(self.text), 1)
            found = self._segments[blank.text] = Segment(blank.source, text)
        return found


@dataclass(frozen=True, slots=True)
class StaticSources:
    """What the static layer is made of. `tools` are the names of the offered tools, the name of one of the
    `examples` is its role.
    """

    purpose: str = ""
    background: str = ""
    roles: tuple[NamedText, ...] = ()
    procedure: NamedText | None = None
    constraints: tuple[NamedText, ...] = ()
    examples: tuple[NamedText, ...] = ()
    language: str = ""
    history: tuple[FrozenHistory, ...] = ()
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Layers:
    """The four layers; `declarations` is the wire JSON of `tools`, `tool_config` that of `toolConfig`, each
    empty where a request has none.
    """

    static: tuple[Segment, ...]
    dynamic: tuple[Segment, ...]
    buffered: tuple[Turn, ...]
    trigger: Turn
    declarations: bytes = b""
    tool_config: bytes = b""

    @property
    def static_text(self) -> str:
        return "".join(segment.text for segment in self.static)

    @property
    def dynamic_text(self) -> str:
        return "".join(segment.text for segment in self.dynamic)

    @property
    def turns(self) -> tuple[Turn, ...]:
        """Buffered turns and the trigger, in the order they are sent."""
        return (*self.buffered, self.trigger)


def build_layers(
    static: StaticSources,
    panels: Sequence[Panel],
    now: datetime,
    turns: Sequence[Turn],
    declarations: Sequence[dict[str, Any]],
    *,
    own_tools: Sequence[str] = (),
    clock_minutes: int = 1,
) -> Layers:
    """Build the layers; `now` is aware and already rounded down to `clock_minutes`.

    `declarations` are those of functions, `own_tools` the names of the provider's tools.

    `turns` are those after the last history chunk, oldest first; the last one is the trigger: the
    user's task (case A) or the tool responses (case B). Raises PromptError when it is neither or blank.
    """
    buffered, trigger = _split_trigger(turns)
    return Layers(
        static=render_static(static),
        dynamic=render_dynamic(panels, now, clock_minutes),
        buffered=buffered,
        trigger=trigger,
        declarations=provider_tools.declarations(declarations, own_tools),
        tool_config=provider_tools.tool_config(declarations, own_tools),
    )


def render_static(static: StaticSources) -> tuple[Segment, ...]:
    """The static layer: valid JSON text for any input.

    Chunks are rendered empty and filled in afterwards, so that a long history is not rendered.
    """
    keys = tuple(chunk.key for chunk in static.history)
    _check_unique("history chunk", keys)
    segments = _rendered(replace(static, history=()), keys)
    if not keys:
        return segments
    chunks = {chunk.source: chunk for chunk in static.history}
    return tuple(
        chunks[segment.source].segment(segment) if segment.source in chunks else segment
        for segment in segments
    )


@lru_cache(maxsize=STATIC_LAYERS)
def _rendered(static: StaticSources, chunks: tuple[str, ...]) -> tuple[Segment, ...]:
    """The static layer with empty chunks of these keys; a chat gets the same segments each time."""
    values = _static_values(static) | {"history": [{"key": key, "text": ""} for key in chunks]}
    return render_template("gemini_static_prompt.j2", values, source=STATIC_SOURCE)


def _static_values(static: StaticSources) -> dict[str, Any]:
    return {
        "purpose": static.purpose,
        "background": static.background,
        "roles": [asdict(role) for role in static.roles],
        "procedure": asdict(static.procedure) if static.procedure else None,
        "constraints": [asdict(constraint) for constraint in static.constraints],
        "examples": [{"role": one.name, "text": one.body} for one in static.examples],
        "language": static.language,
        "tools": static.tools,
    }


def render_dynamic(panels: Sequence[Panel], now: datetime, clock_minutes: int = 1) -> tuple[Segment, ...]:
    """The dynamic layer: one JSON object, a key per panel, the clock last."""
    if now.tzinfo is None:
        raise PromptError(RefusalCode.NAIVE_CLOCK)
    values = {"panels": sorted_panels(panels), "now": clock_text(now, clock_minutes)}
    return render_template("gemini_dynamic_prompt.j2", values, source=DYNAMIC_SOURCE)


def _split_trigger(turns: Sequence[Turn]) -> tuple[tuple[Turn, ...], Turn]:
    _check_unique("turn", [turn.key for turn in turns])
    if not turns:
        raise PromptError(RefusalCode.NO_TURNS)
    *earlier, trigger = turns
    if trigger.kind not in (TurnKind.USER_TASK, TurnKind.TOOL_RESPONSE):
        raise PromptError(RefusalCode.NO_TRIGGER)
    if _is_blank(trigger):
        raise PromptError(RefusalCode.EMPTY_TRIGGER)
    return tuple(compress(earlier, _has_parts.of_all([turn.wire for turn in earlier]))), trigger


@remembered
def _has_parts(content: bytes) -> bool:
    return bool(raw_parts(content))


def _is_blank(turn: Turn) -> bool:
    return all(view.kind == "text" and not view.text.strip() for view in parts_of(turn.wire))


def _check_unique(what: str, keys: Sequence[str]) -> None:
    if len(set(keys)) < len(keys):
        repeated = [key for key, count in Counter(keys).items() if count > 1]
        raise PromptError(RefusalCode.REPEATED_KEYS, what=what, keys=repeated)
