"""The four layers in order, each with its items."""

from collections.abc import Iterable
from dataclasses import dataclass

from sessions_app.inspector import texts
from sessions_app.inspector.parts import Reading, ShownPart
from sessions_app.inspector.tabs.base import Tab
from sessions_app.models import Exchange, SentItem
from sessions_app.prompt.layers import Layer
from sessions_app.prompt.signatures import signatures_of

OPEN = 16
"""Newest items of a layer whose parts are on the page; a history of a thousand would freeze it."""

OPEN_SOURCES = 6
"""The same for a layer that is text: it stands above its sources as the model reads it."""

MEANINGS = {
    Layer.STATIC: "What rarely changes: the role, the rules, the tools, old history. A cache holds this.",
    Layer.DYNAMIC: "The state of things now: files, artifacts, todos, the time.",
    Layer.BUFFERED: "Recent turns, word for word, with their thought signatures.",
    Layer.TRIGGER: "What asks for the answer: the message, or the results of the tools.",
}

SOURCES = {
    "template:static": "Static template",
    "template:dynamic": "Dynamic template",
    "tools": "Tool declarations",
    "clock": "Clock",
}


@dataclass(frozen=True, slots=True)
class ShownItem:
    """One item of the manifest. `size` is bytes on the wire, `place` its address in the request."""

    position: int
    name: str
    source: str
    role: str
    kind: str
    tokens: int
    size: int
    sha256: str
    is_cached: bool
    place: str
    signed: int
    """How many of its parts carry a signature."""
    parts: tuple[ShownPart, ...]
    """Empty for an old item of a long layer: its parts are read when it is opened."""

    @property
    def is_closed(self) -> bool:
        return not self.parts

    @property
    def rest(self) -> int:
        """Characters that the page does not show yet."""
        return sum(part.rest for part in self.parts)


@dataclass(frozen=True, slots=True)
class ShownLayer:
    name: str
    meaning: str
    items: tuple[ShownItem, ...]
    outline: tuple[ShownPart, ...]
    """The text of a text layer as the model reads it, by key; empty for layers made of contents."""

    @property
    def older(self) -> list[ShownItem]:
        """Old items of a long layer, one line each."""
        return [item for item in self.items if item.is_closed]

    @property
    def newer(self) -> list[ShownItem]:
        return [item for item in self.items if not item.is_closed]

    @property
    def tokens(self) -> int:
        return sum(item.tokens for item in self.items)

    @property
    def size(self) -> int:
        return sum(item.size for item in self.items)

    @property
    def cached(self) -> int:
        """How many of its items the cache stands for."""
        return sum(item.is_cached for item in self.items)

    @property
    def rest(self) -> int:
        return sum(part.rest for part in self.outline)

    @property
    def is_cached(self) -> bool:
        return bool(self.items) and self.cached == len(self.items)


class LayersTab(Tab):
    id = "layers"
    title = "Layers"
    has_raw = True
    follows = "never"

    def context(self, exchange: Exchange, *, raw: bool) -> list[ShownLayer]:
        sent, reading = exchange.sent_items(), Reading()
        # The trigger is what a reader looks for: it takes its room on the page before a long history can.
        order = sorted(Layer, key=lambda layer: layer is not Layer.TRIGGER)
        shown = {layer: show_layer(layer, sent, reading, raw=raw) for layer in order}
        return [shown[layer] for layer in Layer]


def show_layer(layer: Layer, sent: Iterable[SentItem], reading: Reading, *, raw: bool) -> ShownLayer:
    own = [item for item in sent if item.layer is layer]
    has_outline = is_text(layer) and not raw
    most = OPEN_SOURCES if has_outline else OPEN
    return ShownLayer(
        name=layer.value,
        meaning=MEANINGS[layer],
        outline=outline_of(own, reading) if has_outline else (),
        items=tuple(
            show_item(item, reading, raw=raw, is_closed=left > most)
            for left, item in zip(range(len(own), 0, -1), own, strict=True)
        ),
    )


def show_item(item: SentItem, reading: Reading, *, raw: bool, is_closed: bool = False) -> ShownItem:
    show = raw_of if raw else parts_of
    return ShownItem(
        position=item.position,
        name=name_of(item.source.name),
        source=item.source.name,
        role=item.source.role,
        kind=item.source.kind.replace("_", " "),
        tokens=item.source.tokens,
        size=len(item.wire),
        sha256=item.source.blob.sha256,
        is_cached=item.is_cached,
        place=place_of(item),
        signed=len(signatures_of(item.wire)) if item.source.role == "model" else 0,
        parts=() if is_closed else show(item, reading),
    )


def is_text(layer: Layer) -> bool:
    return layer in (Layer.STATIC, Layer.DYNAMIC)


def is_tools(item: SentItem) -> bool:
    return item.source.name == "tools"


def raw_of(item: SentItem, reading: Reading) -> tuple[ShownPart, ...]:
    return (reading.part("raw", "", texts.decoded(item.wire)),)


def parts_of(item: SentItem, reading: Reading) -> tuple[ShownPart, ...]:
    if is_tools(item):
        return (reading.part("tools", "", texts.pretty(item.wire)),)
    if is_text(item.layer):
        return (reading.part("segment", "", texts.segment_text(item.wire)),)
    return reading.content(item.wire, place=place_of(item))


def outline_of(sent: Iterable[SentItem], reading: Reading) -> tuple[ShownPart, ...]:
    """The layer's text as one JSON document, key by key."""
    text = b"".join(item.wire for item in sent if not is_tools(item))
    if not text:
        return ()
    pairs = texts.outline(texts.segment_text(text))
    return tuple(reading.part("value", key, value) for key, value in pairs)


def place_of(item: SentItem) -> str:
    """Where the item stands in the request: `contents[2]`, `contents[0].parts[1]`, `tools`, or nowhere."""
    if item.content is None:
        return "tools" if is_tools(item) and not item.is_cached else ""
    part = "" if item.part is None else f".parts[{item.part}]"
    return f"contents[{item.content}]{part}"


def name_of(source: str) -> str:
    """A source as a person calls it: "Panel todos", "Turn 3f2a…"."""
    kind, _, key = source.partition(":")
    known = SOURCES.get(source) or SOURCES.get(kind)
    if known:
        return known
    named = "History chunk" if kind == "chunk" else kind.capitalize()
    return f"{named} {key[:8] if kind == 'turn' else key}".strip()
