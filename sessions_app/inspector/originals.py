"""A stored request read back into its layers, and the body with which it can be sent again."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from sessions_app.models import Exchange
from sessions_app.models.source import SentItem
from sessions_app.prompt import wire
from sessions_app.prompt.layers import Layer
from sessions_app.prompt.parts import PartView, parts_in
from sessions_app.prompt.payload import SYSTEM_SOURCE, TOOLS_SOURCE
from sessions_app.prompt.prompt_items import TEXT_KIND
from sessions_app.prompt.renditions.original import Original, OriginalEntry, inline_body


def original_of(exchange: Exchange) -> Original:
    items = exchange.sent_items()
    if exchange.is_captured:
        entries = _of_captured(items)
    else:
        entries = (OriginalEntry(item.layer, item.source.name, item.wire) for item in items)
    return Original(exchange.model, tuple(entries), exchange.end_of_body())


def _of_captured(items: Iterable[SentItem]) -> Iterator[OriginalEntry]:
    """As our layers have it: texts of instructions without quotes, and whole contents."""
    for content, group in groupby(items, key=lambda item: item.content):
        listed = list(group)
        if content is None:
            yield from (one for item in listed for one in _beside_contents(item))
            continue
        texts = [item for item in listed if item.source.kind == TEXT_KIND]
        yield from (_entry(item) for item in texts if item.layer is Layer.DYNAMIC)
        said = [b'{"text":"' + item.wire + b'"}' for item in texts if item.layer is not Layer.DYNAMIC]
        if said:
            whole = b'{"role":"user","parts":[' + b",".join(said) + b"]}"
            yield OriginalEntry(Layer.BUFFERED, listed[-1].source.name, whole)
        yield from (_entry(item) for item in listed if item.source.kind != TEXT_KIND)


def _beside_contents(item: SentItem) -> Iterator[OriginalEntry]:
    """Tools, the system instruction, and contents that the named cache holds; nothing of an opaque body."""
    if item.source.name == TOOLS_SOURCE:
        yield _entry(item)
    elif item.source.name == SYSTEM_SOURCE:
        value = wire.loads(item.wire)
        said = (
            value if isinstance(value, str) else "\n".join(PartView(0, part).text for part in parts_in(value))
        )
        yield OriginalEntry(item.layer, item.source.name, wire.dumps(said)[1:-1])
    elif item.layer is Layer.STATIC and item.is_cached:
        yield OriginalEntry(Layer.BUFFERED, item.source.name, item.wire)


def _entry(item: SentItem) -> OriginalEntry:
    return OriginalEntry(item.layer, item.source.name, item.wire)


def names_cache(exchange: Exchange) -> bool:
    """Whether the request left out a part that an explicit cache held."""
    return Original(exchange.model, (), exchange.end_of_body()).names_cache


def body_to_send(exchange: Exchange, *, as_sent: bool = False) -> bytes:
    """The body with what the named cache held inline, since a cache ends; or as it was sent.

    That of a program is never rewritten.
    """
    if as_sent or exchange.is_captured or not names_cache(exchange):
        return exchange.sent_body()
    return inline_body(original_of(exchange))
