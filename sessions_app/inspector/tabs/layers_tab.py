"""The layers tab: the four layers with their items."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from sessions_app.inspector import formatting
from sessions_app.inspector.part_views import PartReader, ShownPart
from sessions_app.inspector.source_titles import SourceTitles
from sessions_app.inspector.tabs.base import Tab
from sessions_app.models import Exchange, SentItem
from sessions_app.prompt.json_places import bytes_of, respelled
from sessions_app.prompt.layers import Layer
from sessions_app.prompt.prefix_diff import BreakPlace
from sessions_app.prompt.signatures import signatures_of

OPEN_ITEMS = 16
"""Newest items of a layer whose parts are on the page; others are loaded when they are opened."""

OPEN_SOURCES = 6
"""The same for a text layer, which shows its text above the items."""

MEANINGS = {
    Layer.STATIC: "What rarely changes: the role, the rules, the tools, old history.",
    Layer.DYNAMIC: "The state of things now: files, artifacts, todos, the time.",
    Layer.BUFFERED: "Recent turns, word for word, with their thought signatures.",
    Layer.TRIGGER: "What asks for the answer: the message, or the results of the tools.",
}


@dataclass(frozen=True, slots=True)
class ItemView:
    """One item of the manifest. `size` is bytes on the wire."""

    position: int
    name: str
    source: str
    role: str
    kind: str
    tokens: int
    size: int
    sha256: str
    is_cached: bool
    signed: int
    """How many of its parts carry a signature."""
    parts: tuple[ShownPart, ...]
    """Empty for an item that is loaded when it is opened."""

    @property
    def is_closed(self) -> bool:
        return not self.parts

    @property
    def rest(self) -> int:
        """Characters that are not shown."""
        return sum(part.rest for part in self.parts)


@dataclass(frozen=True, slots=True)
class LayerView:
    name: str
    meaning: str
    items: tuple[ItemView, ...]
    outline: tuple[ShownPart, ...]
    """The text of a text layer by key; empty for other layers."""

    @property
    def older(self) -> list[ItemView]:
        return [item for item in self.items if item.is_closed]

    @property
    def newer(self) -> list[ItemView]:
        return [item for item in self.items if not item.is_closed]

    @property
    def tokens(self) -> int:
        return sum(item.tokens for item in self.items)

    @property
    def size(self) -> int:
        return sum(item.size for item in self.items)

    @property
    def cached(self) -> int:
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
    refresh = "never"

    def context(self, exchange: Exchange, *, raw: bool) -> list[LayerView]:
        sent = exchange.sent_items()
        reader = LayerReader.of(exchange, sent)
        # The trigger first, so that a long history does not use up its budget.
        order = sorted(Layer, key=lambda layer: layer is not Layer.TRIGGER)
        shown = {layer: show_layer(layer, sent, reader, raw=raw) for layer in order}
        return [shown[layer] for layer in Layer]


@dataclass(frozen=True, slots=True)
class LayerReader:
    """Reads items with their titles; `at` is where the request leaves the one before it."""

    parts: PartReader
    titles: SourceTitles
    at: BreakPlace | None = None

    @classmethod
    def of(cls, exchange: Exchange, sent: Iterable[SentItem], *, whole: bool = False) -> Self:
        found = exchange.found_break
        titles = SourceTitles(exchange.session_id, [item.source.name for item in sent])
        return cls(PartReader(whole), titles, found.at if found and not whole else None)

    def place_in(self, item: SentItem) -> BreakPlace | None:
        return self.at if self.at and self.at.item == item.position else None


def show_layer(layer: Layer, sent: Iterable[SentItem], reader: LayerReader, *, raw: bool) -> LayerView:
    own = [item for item in sent if item.layer is layer]
    has_outline = is_text(layer) and not raw
    most = OPEN_SOURCES if has_outline else OPEN_ITEMS
    return LayerView(
        name=layer.value,
        meaning=MEANINGS[layer],
        outline=outline_of(own, reader.parts) if has_outline else (),
        items=tuple(
            show_item(item, reader, raw=raw, is_closed=left > most and reader.place_in(item) is None)
            for left, item in zip(range(len(own), 0, -1), own, strict=True)
        ),
    )


def show_item(item: SentItem, reader: LayerReader, *, raw: bool, is_closed: bool = False) -> ItemView:
    show = raw_of if raw else parts_of
    return ItemView(
        position=item.position,
        name=formatting.visible(reader.titles.title(item.source.name)),
        source=item.source.name,
        role=item.source.role,
        kind=item.source.kind.replace("_", " "),
        tokens=item.source.tokens,
        size=len(item.wire),
        sha256=item.source.blob.sha256,
        is_cached=item.is_cached,
        signed=len(signatures_of(item.wire)) if item.source.role == "model" else 0,
        parts=() if is_closed else show(item, reader),
    )


def is_text(layer: Layer) -> bool:
    return layer in (Layer.STATIC, Layer.DYNAMIC)


def is_tools(item: SentItem) -> bool:
    return item.source.name == "tools"


def raw_of(item: SentItem, reader: LayerReader) -> tuple[ShownPart, ...]:
    return (reader.parts.part("raw", "", formatting.decoded(item.wire)),)


def parts_of(item: SentItem, reader: LayerReader) -> tuple[ShownPart, ...]:
    at = reader.place_in(item)
    if is_tools(item):
        text = formatting.pretty(item.wire)
        mark = pretty_offset(item.wire, at.char, text) if at else None
        return (reader.parts.part("tools", "", text, mark=mark),)
    if is_text(item.layer):
        text = formatting.segment_text(item.wire)
        mark = len(segment_beginning(item.wire, at.char)) if at else None
        return (reader.parts.part("segment", "", text, mark=mark),)
    return reader.parts.content(item.wire, at=at)


def segment_beginning(wire: bytes, chars: int) -> str:
    """The first characters of the text that an escaped piece stands for."""
    return formatting.segment_text(wire[: bytes_of(wire, chars)])


def pretty_offset(wire: bytes, chars: int, text: str) -> int:
    """Characters of indented JSON before the place that so many characters of the item precede."""
    spelling = wire.decode(errors="replace")
    offset = respelled(spelling.encode(), len(spelling[:chars].encode()), text.encode())
    return len(text.encode()[:offset].decode(errors="replace"))


def outline_of(sent: Iterable[SentItem], reader: PartReader) -> tuple[ShownPart, ...]:
    """The layer's text as one JSON document, key by key."""
    text = b"".join(item.wire for item in sent if not is_tools(item))
    if not text:
        return ()
    pairs = formatting.outline(formatting.segment_text(text))
    return tuple(reader.part("value", key, value) for key, value in pairs)
