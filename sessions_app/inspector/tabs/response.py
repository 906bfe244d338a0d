"""The reply: all chunks folded, its parts, how it ended and what it used."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sessions_app.inspector import texts
from sessions_app.inspector.parts import Reading, ShownPart
from sessions_app.inspector.tabs.base import Tab
from sessions_app.models import Exchange
from sessions_app.prompt.reply import Folder, Reply


@dataclass(frozen=True, slots=True)
class ShownResponse:
    """`usage` is what the provider reported last, field by field, nested fields as JSON."""

    reply: Reply
    chunks: int
    unreadable: int
    """Chunks that are not JSON; the wire tab shows them."""
    parts: tuple[ShownPart, ...]
    usage: list[tuple[str, str]]
    error: str

    @property
    def rest(self) -> int:
        return sum(part.rest for part in self.parts)


class ResponseTab(Tab):
    id = "response"
    title = "Response"
    has_raw = True
    follows = "always"

    def context(self, exchange: Exchange, *, raw: bool) -> ShownResponse:
        return show_reply(exchange, Reading(), raw=raw)


def show_reply(exchange: Exchange, reading: Reading, *, raw: bool) -> ShownResponse:
    bodies = [bytes(body) for body in exchange.chunks.values_list("body", flat=True)]
    reply, unreadable = fold_readable(bodies)
    return ShownResponse(
        reply=reply,
        chunks=len(bodies),
        unreadable=unreadable,
        parts=show_content(reply.wire, reading, raw=raw),
        usage=[(key, value_text(value)) for key, value in exchange.usage.items()],
        error=texts.indented(reply.error) if reply.error else "",
    )


def fold_readable(bodies: Iterable[bytes]) -> tuple[Reply, int]:
    """The reply of the chunks that are JSON, and how many are not: broken evidence is shown too."""
    folder, unreadable = Folder(), 0
    for body in bodies:
        try:
            folder.add(body)
        except ValueError:
            unreadable += 1
    return folder.reply(), unreadable


def show_content(content: bytes | None, reading: Reading, *, raw: bool) -> tuple[ShownPart, ...]:
    if content is None:
        return ()
    return (reading.part("raw", "", texts.decoded(content)),) if raw else reading.content(content)


def value_text(value: Any) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return texts.visible(value) if isinstance(value, str) else texts.indented(value)
