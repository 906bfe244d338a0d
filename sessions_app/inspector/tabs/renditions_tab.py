"""The renditions tab: the request in other formats."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from django.db.models.functions import Coalesce

from sessions_app.inspector import formatting
from sessions_app.inspector.originals import original_of
from sessions_app.inspector.part_views import PartReader, ShownPart
from sessions_app.inspector.tabs.base import Tab
from sessions_app.models import Exchange, Turn
from sessions_app.models.turn_numbers import key_of
from sessions_app.prompt import wire
from sessions_app.prompt.dialects import openai as openai_dialect
from sessions_app.prompt.layers import Layer
from sessions_app.prompt.remarks import RemarkCode
from sessions_app.prompt.renditions import anthropic, openai
from sessions_app.prompt.renditions.original import Original, inline_body, left_out
from sessions_app.prompt.renditions.times import MESSAGES_TOLD, KnownTimes
from sessions_app.prompt.stage_records import STAGES, StageName
from sessions_app.prompt.tokens import estimate
from sessions_app.wording import provider_tools


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
    if original.names_cache and not exchange.is_captured:
        description = "What the request would have been without the cache it names."
        told.append(Rendition("Gemini, as if inline", description, lambda: inline_body(original)))
    if exchange.is_translated:
        description = "What travelled: the gateway told the prepared body as a chat completion."
        told.append(Rendition("OpenAI-compatible, as sent", description, exchange.sent_body))
    return told + foreign(original, times_of(exchange, original))


def foreign(original: Original, times: KnownTimes) -> list[Rendition]:
    """With what each of them leaves out of the request."""
    unsaid = (
        left_out(original, one.TOLD_OPTIONS, tells_signatures=one.TELLS_SIGNATURES)
        for one in (openai_dialect, anthropic)
    )
    chat, messages = (formatting.visible(provider_tools.not_told(names)) for names in unsaid)
    return [
        Rendition(
            "OpenAI-compatible, panels as tool calls",
            _with("The static layer is the system message; every panel is the result of a call.", chat),
            lambda: wire.dumps(openai.render(original, times=times)),
        ),
        Rendition(
            "OpenAI-compatible, panels as JSON",
            _with("The static layer is the system message; the dynamic layer one message of the user.", chat),
            lambda: wire.dumps(openai.render(original, panels_as_calls=False)),
        ),
        Rendition(
            "Anthropic",
            _with(
                "Panels as tool results with cache marks at the quarters, the system prompt repeated after "
                "them.",
                messages,
            ),
            lambda: wire.dumps(anthropic.render(original, times=times)),
        ),
    ]


def _with(description: str, more: str) -> str:
    return f"{description} {more}" if more else description


def show(rendition: Rendition, reader: PartReader) -> ShownRendition:
    body = rendition.write()
    part = reader.part("raw", "", formatting.pretty(body))
    return ShownRendition(rendition.title, rendition.description, estimate(body), len(body), (part,))


def times_of(exchange: Exchange, original: Original) -> KnownTimes:
    """What the rows know of times. The panels of a later hop are those of the first: a query for each hop."""
    first = exchange
    while first.continues is not None:
        first = first.continues
    return KnownTimes(dict(_panel_times(first)), _message_times(original), exchange.started_at)


def _panel_times(exchange: Exchange) -> Iterator[tuple[str, datetime]]:
    for stage in STAGES.validate_python(exchange.stages):
        for remark in stage.remarks if stage.name == StageName.ORDER_PANELS else ():
            if remark.code == RemarkCode.PANEL_SINCE:
                since = datetime.fromisoformat(remark.figures["since"])
                yield str(remark.figures["panel"]), since.replace(tzinfo=UTC)


def _message_times(original: Original) -> list[tuple[str, datetime]]:
    """Role and time of the last messages, oldest first; a copy has those of its original. One query.

    Contents of a cache that a program made are no turns, and when they were said is not known.
    """
    told = [entry.source for entry in original.entries if entry.layer in (Layer.BUFFERED, Layer.TRIGGER)]
    keys = [UUID(key) for source in told if (key := key_of(source))][-MESSAGES_TOLD:]
    rows = Turn.objects.filter(public__in=keys).annotate(said=Coalesce("origin__created_at", "created_at"))
    known = {public: (kind, said) for public, kind, said in rows.values_list("public", "kind", "said")}
    return [
        ("assistant" if Turn.Kind(known[key][0]).is_model else "user", known[key][1])
        for key in keys
        if key in known
    ]
