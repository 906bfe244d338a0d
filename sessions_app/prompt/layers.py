"""The four layers of seed 1, built from what the run has read: Static, Dynamic, Buffered, Trigger."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from sessions_app.errors import PromptError
from sessions_app.prompt import wire
from sessions_app.prompt.panels import Panel, in_order
from sessions_app.prompt.rendering import Segment, json_text, render
from sessions_app.prompt.turns import Turn, TurnKind, has_parts, parts_of

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


@dataclass(frozen=True, slots=True)
class HistoryChunk:
    """Frozen old turns as text; chunks are only ever appended.

    A chunk keeps the segment it became: whoever keeps the chunk escapes and hashes it once.
    """

    key: str
    text: str
    tokens: int = field(default=0, compare=False)
    _segments: dict[str, Segment] = field(default_factory=dict, compare=False, repr=False)

    @property
    def source(self) -> str:
        return f"chunk:{self.key}"

    def told(self, blank: Segment) -> Segment:
        """This chunk's segment: what the template wrote around an empty chunk, with the text in it."""
        found = self._segments.get(blank.text)
        if found is None:
            text = blank.text.replace(_BLANK, json_text(self.text), 1)
            found = self._segments[blank.text] = Segment(blank.source, text)
        return found


@dataclass(frozen=True, slots=True)
class StaticSources:
    """Everything the static layer is made of. `tools` are the names of the tools on offer."""

    purpose: str = ""
    background: str = ""
    roles: tuple[NamedText, ...] = ()
    procedure: NamedText | None = None
    constraints: tuple[NamedText, ...] = ()
    language: str = ""
    history: tuple[HistoryChunk, ...] = ()
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Layers:
    """The four layers; `declarations` is the wire JSON of `tools`, empty when there are none."""

    static: tuple[Segment, ...]
    dynamic: tuple[Segment, ...]
    buffered: tuple[Turn, ...]
    trigger: Turn
    declarations: bytes = b""

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
) -> Layers:
    """Put the sources into their layers.

    `turns` are those after the last history chunk, oldest first; the last one is the trigger: the
    user's task (case A) or the tool responses (case B), and the buffer holds all others once.
    `now` is aware and already rounded. Raises PromptError when there is nothing to answer.
    """
    buffered, trigger = _divide(turns)
    return Layers(
        static=render_static(static),
        dynamic=render_dynamic(panels, now),
        buffered=buffered,
        trigger=trigger,
        declarations=wire.dumps([{"functionDeclarations": list(declarations)}]) if declarations else b"",
    )


def render_static(static: StaticSources) -> tuple[Segment, ...]:
    """The static layer: valid JSON text for any input.

    Chunks are rendered empty and filled in afterwards: a long history must not pass the template.
    """
    _refuse_repeats("history chunk", [chunk.key for chunk in static.history])
    blanks = [{"key": chunk.key, "text": ""} for chunk in static.history]
    values = _values(static) | {"history": blanks}
    chunks = {chunk.source: chunk for chunk in static.history}
    segments = render("gemini_static_prompt.j2", values, source=STATIC_SOURCE)
    return tuple(
        chunks[segment.source].told(segment) if segment.source in chunks else segment for segment in segments
    )


def _values(static: StaticSources) -> dict[str, Any]:
    return {
        "purpose": static.purpose,
        "background": static.background,
        "roles": [asdict(role) for role in static.roles],
        "procedure": asdict(static.procedure) if static.procedure else None,
        "constraints": [asdict(constraint) for constraint in static.constraints],
        "language": static.language,
        "tools": static.tools,
    }


def render_dynamic(panels: Sequence[Panel], now: datetime) -> tuple[Segment, ...]:
    """The dynamic layer: one JSON object, a key per panel, the clock last."""
    if now.tzinfo is None:
        raise PromptError("The time of the dynamic layer has no time zone.")
    values = {"panels": in_order(panels), "now": now.isoformat()}
    return render("gemini_dynamic_prompt.j2", values, source=DYNAMIC_SOURCE)


def _divide(turns: Sequence[Turn]) -> tuple[tuple[Turn, ...], Turn]:
    _refuse_repeats("turn", [turn.key for turn in turns])
    if not turns:
        raise PromptError("There is nothing to answer: the history is empty.")
    *earlier, trigger = turns
    if trigger.kind not in (TurnKind.USER_TASK, TurnKind.TOOL_RESPONSE):
        raise PromptError("There is nothing to answer: the last turn is not a message or a tool response.")
    if _says_nothing(trigger):
        raise PromptError("There is nothing to answer: the message is empty.")
    return tuple(turn for turn in earlier if has_parts(turn.wire)), trigger


def _says_nothing(turn: Turn) -> bool:
    return all(view.kind == "text" and not view.text.strip() for view in parts_of(turn.wire))


def _refuse_repeats(what: str, keys: Sequence[str]) -> None:
    repeated = [key for key, count in Counter(keys).items() if count > 1]
    if repeated:
        raise PromptError(f"The same {what} would be sent twice: {', '.join(repeated)}.")
