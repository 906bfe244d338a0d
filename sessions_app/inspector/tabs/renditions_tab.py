"""The renditions tab: the request in other formats."""

from collections.abc import Callable
from dataclasses import dataclass

from sessions_app.inspector import formatting
from sessions_app.inspector.originals import original_of
from sessions_app.inspector.part_views import PartReader, ShownPart
from sessions_app.inspector.tabs.base import Tab
from sessions_app.models import Exchange
from sessions_app.prompt import wire
from sessions_app.prompt.renditions import anthropic, openai
from sessions_app.prompt.renditions.original import Original, inline_body
from sessions_app.prompt.tokens import estimate


@dataclass(frozen=True, slots=True)
class Rendition:
    """`write` makes the JSON of the request."""

    title: str
    description: str
    write: Callable[[], bytes]


@dataclass(frozen=True, slots=True)
class ShownRendition:
    """`tokens` is an estimate for the JSON."""

    title: str
    description: str
    tokens: int
    size: int
    parts: tuple[ShownPart, ...]

    @property
    def rest(self) -> int:
        return sum(part.rest for part in self.parts)


class RenditionsTab(Tab):
    id = "renditions"
    title = "Renditions"

    def context(self, exchange: Exchange, *, raw: bool) -> list[ShownRendition]:
        reader = PartReader()
        return [show(rendition, reader) for rendition in renditions_of(exchange)]


def renditions_of(exchange: Exchange) -> list[Rendition]:
    """Always in this order: URLs name a rendition by its index."""
    body, original = exchange.request_body(), original_of(exchange)
    prepared = "prepared" if exchange.is_translated else "as sent"
    told = [Rendition(f"Gemini, {prepared}", "The REST body, byte for byte, shown indented.", lambda: body)]
    if original.names_cache:
        description = "What the request would have been without the cache it names."
        told.append(Rendition("Gemini, as if inline", description, lambda: inline_body(original)))
    if exchange.is_translated:
        description = "What travelled: the gateway told the prepared body as a chat completion."
        told.append(Rendition("OpenAI-compatible, as sent", description, exchange.sent_body))
    return told + foreign(original)


def foreign(original: Original) -> list[Rendition]:
    return [
        Rendition(
            "OpenAI-compatible, panels as tool calls",
            "The static layer is the system message; every panel is the result of a call.",
            lambda: wire.dumps(openai.render(original)),
        ),
        Rendition(
            "OpenAI-compatible, panels as JSON",
            "The static layer is the system message; the dynamic layer one message of the user.",
            lambda: wire.dumps(openai.render(original, panels_as_calls=False)),
        ),
        Rendition(
            "Anthropic",
            "Panels as tool results with cache marks at the quarters, the system prompt repeated after them.",
            lambda: wire.dumps(anthropic.render(original)),
        ),
    ]


def show(rendition: Rendition, reader: PartReader) -> ShownRendition:
    body = rendition.write()
    part = reader.part("raw", "", formatting.pretty(body))
    return ShownRendition(rendition.title, rendition.description, estimate(body), len(body), (part,))
