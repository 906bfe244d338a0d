"""The response tab: the folded reply, its outcome and its usage."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sessions_app.inspector import formatting
from sessions_app.inspector.exchange_header import ending_of
from sessions_app.inspector.part_views import PartReader, ShownPart
from sessions_app.inspector.tabs.base import Tab
from sessions_app.models import Exchange
from sessions_app.prompt.chunks import ChunkReader, token_counts
from sessions_app.prompt.outcomes import is_unknown
from sessions_app.prompt.reply import Folder, Reply
from sessions_app.wording import outcomes
from sessions_app.wording.token_kinds import LABELS

NEWS_LENGTH = 400
"""Characters shown of a value; the wire tab has all."""


@dataclass(frozen=True, slots=True)
class TokenTable:
    """The provider's counts: a column for each modality that it named, None where it named none of a kind.

    The last column has what the modalities leave of the count.
    """

    modalities: list[str]
    rows: list[tuple[str, int | None, list[int | None]]]
    has_rest: bool


@dataclass(frozen=True, slots=True)
class ShownResponse:
    """`usage` is what the provider reported last, field by field, nested fields as JSON."""

    reply: Reply
    chunks: int
    unreadable: int
    """Chunks that are not JSON; the wire tab shows them."""
    parts: tuple[ShownPart, ...]
    usage: list[tuple[str, str]]
    tokens: "TokenTable"
    error: str
    outcome: str
    """How the answer with its earlier hops ended; empty where none came that can be read."""
    ending: str
    """What happened to it, as a sentence."""
    hint: str
    """What to do about the outcome; empty where there is nothing to do."""
    is_news: bool
    """The finish reason is not known to this version."""
    candidates: str
    """What is said of several candidates; empty for one."""
    news: list[tuple[str, str]]
    """Keys beside the parts that this version does not know, with the first value of each."""

    @property
    def rest(self) -> int:
        return sum(part.rest for part in self.parts)


class ResponseTab(Tab):
    id = "response"
    title = "Response"
    has_raw = True
    refresh = "always"

    def context(self, exchange: Exchange, *, raw: bool) -> ShownResponse:
        return show_reply(exchange, PartReader(), raw=raw)


def show_reply(exchange: Exchange, reader: PartReader, *, raw: bool) -> ShownResponse:
    bodies = [bytes(body) for body in exchange.chunks.values_list("body", flat=True)]
    reply, unreadable = fold_readable(bodies, exchange.dialect)
    news, finishes = beside_the_parts(bodies, exchange.dialect)
    is_known = exchange.is_open or not exchange.is_captured
    outcome = exchange.outcome or (reply.outcome.value if is_known else "")
    return ShownResponse(
        reply=reply,
        chunks=len(bodies),
        unreadable=unreadable,
        parts=show_content(reply.wire, reader, raw=raw),
        tokens=token_table(exchange.usage),
        usage=[(key, value_text(value)) for key, value in exchange.usage.items()],
        error=formatting.indented(reply.error) if reply.error else "",
        outcome=outcome,
        ending=ending_of(exchange, outcome),
        hint=outcomes.hint(outcome, is_captured=exchange.is_captured),
        is_news=is_unknown(reply.finish_reason),
        candidates=formatting.visible(outcomes.candidates_came(finishes)),
        news=[(formatting.visible(key), value_text(value)[:NEWS_LENGTH]) for key, value in news.items()],
    )


def token_table(usage: dict[str, Any]) -> TokenTable:
    counts = token_counts(usage)
    names = sorted({name for one in counts for name in one.modalities})
    has_rest = any(one.unexplained for one in counts)
    rows = [
        (
            LABELS[one.kind],
            one.count,
            [
                *(one.modalities.get(name) for name in names),
                *([one.unexplained if one.modalities else None] if has_rest else []),
            ],
        )
        for one in counts
    ]
    return TokenTable([formatting.visible(name) or "(no name)" for name in names], rows, has_rest)


def beside_the_parts(bodies: Iterable[bytes], dialect: str) -> tuple[dict[str, Any], dict[int, str]]:
    """The first value of each key beside the parts that this version does not know, and the finish reason of
    each candidate.
    """
    news: dict[str, Any] = {}
    finishes: dict[int, str] = {}
    for body in bodies:
        with suppress(ValueError):
            if chunk := ChunkReader(dialect).read(body):
                news = chunk.unknown | news
                finishes |= {at: reason or finishes.get(at, "") for at, reason in chunk.finishes.items()}
    return news, finishes


def fold_readable(bodies: Iterable[bytes], dialect: str) -> tuple[Reply, int]:
    """The reply of the chunks that are JSON, and the number of those that are not."""
    folder, unreadable = Folder(dialect), 0
    for body in bodies:
        try:
            folder.add(body)
        except ValueError:
            unreadable += 1
    return folder.reply(), unreadable


def show_content(content: bytes | None, reader: PartReader, *, raw: bool) -> tuple[ShownPart, ...]:
    if content is None:
        return ()
    return (reader.part("raw", "", formatting.decoded(content)),) if raw else reader.content(content)


def value_text(value: Any) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return formatting.visible(value) if isinstance(value, str) else formatting.indented(value)
