"""The same request in other providers' formats, and in Gemini's own as if nothing had been cached."""

from collections.abc import Callable
from dataclasses import dataclass

from sessions_app.inspector import texts
from sessions_app.inspector.parts import Reading, ShownPart
from sessions_app.inspector.tabs.base import Tab
from sessions_app.models import Exchange
from sessions_app.prompt import wire
from sessions_app.prompt.renditions import anthropic, gemini, openai
from sessions_app.prompt.renditions.original import Entry, Original
from sessions_app.prompt.tokens import estimate


@dataclass(frozen=True, slots=True)
class Rendition:
    """One form of the request; `write` makes its JSON."""

    title: str
    words: str
    write: Callable[[], bytes]


@dataclass(frozen=True, slots=True)
class ShownRendition:
    """`tokens` is our estimate for the whole JSON."""

    title: str
    words: str
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
        reading = Reading()
        return [show(rendition, reading) for rendition in renditions_of(exchange)]


def renditions_of(exchange: Exchange) -> list[Rendition]:
    """Every form this exchange has, always in this order, so that a place in the list is an address."""
    body, original = exchange.request_body(), original_of(exchange)
    prepared = "prepared" if exchange.is_translated else "as sent"
    told = [Rendition(f"Gemini, {prepared}", "The REST body, byte for byte, shown indented.", lambda: body)]
    if original.end.get("cachedContent"):
        words = "What the request would have been without the cache it names."
        told.append(Rendition("Gemini, as if inline", words, lambda: gemini.inline(original)))
    if exchange.is_translated:
        words = "What travelled: the gateway told the prepared body as a chat completion."
        told.append(Rendition("OpenAI-compatible, as sent", words, exchange.sent_body))
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


def show(rendition: Rendition, reading: Reading) -> ShownRendition:
    body = rendition.write()
    part = reading.part("raw", "", texts.pretty(body))
    return ShownRendition(rendition.title, rendition.words, estimate(body), len(body), (part,))


def original_of(exchange: Exchange) -> Original:
    entries = (Entry(item.layer, item.source.name, item.wire) for item in exchange.sent_items())
    return Original(exchange.model, tuple(entries), exchange.stored_manifest.tail.encode())
