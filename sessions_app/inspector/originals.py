"""A stored request read back into its layers, and the body with which it can be sent again."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from sessions_app.models import Exchange, Source
from sessions_app.models.source import SentItem
from sessions_app.prompt import wire
from sessions_app.prompt.layers import Layer
from sessions_app.prompt.parts import PartView, parts_in
from sessions_app.prompt.payload import SYSTEM_SOURCE, TOOLS_SOURCE
from sessions_app.prompt.prompt_items import TEXT_KIND
from sessions_app.prompt.renditions.original import Original, OriginalEntry, inline_body
from sessions_app.prompt.spellings import in_camel_case, spelled_alike

CONFIGURATION = "config:"
"""Names of sources begin so that stand beside the prompt in a captured body."""


def original_of(exchange: Exchange) -> Original:
    items = exchange.sent_items()
    if exchange.is_captured:
        entries = _of_captured(items)
    else:
        entries = (OriginalEntry(item.layer, item.source.name, item.wire) for item in items)
    return Original(exchange.model, tuple(entries), end_of_body(exchange))


def end_of_body(exchange: Exchange) -> bytes:
    """What follows the contents, as our bodies have it.

    A captured body has its members in any order and spelling: here all of them stand behind, as REST
    spells them.
    """
    if not exchange.is_captured:
        return exchange.stored_manifest.tail.encode()
    keys = [one.source for one in exchange.stored_manifest.beside]
    names = dict(Source.objects.filter(pk__in=keys).values_list("pk", "name")) if keys else {}
    members = zip(keys, exchange.beside_items(), strict=True)
    named = ((names[key].removeprefix(CONFIGURATION), body) for key, body in members)
    written = (wire.dumps(in_camel_case(name)) + b":" + _spelled_alike(body) for name, body in named)
    return b",".join([b"]", *written]) + b"}"


def _of_captured(items: Iterable[SentItem]) -> Iterator[OriginalEntry]:
    """As our layers have it: texts of instructions without quotes, tools as REST spells them, and whole
    contents.
    """
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
        yield OriginalEntry(item.layer, item.source.name, _spelled_alike(item.wire))
    elif item.source.name == SYSTEM_SOURCE:
        value = wire.loads(item.wire)
        said = (
            value if isinstance(value, str) else "\n".join(PartView(0, part).text for part in parts_in(value))
        )
        yield OriginalEntry(item.layer, item.source.name, wire.dumps(said)[1:-1])
    elif item.layer is Layer.STATIC and item.is_cached:
        yield OriginalEntry(Layer.BUFFERED, item.source.name, item.wire)


def _spelled_alike(body: bytes) -> bytes:
    return wire.dumps(spelled_alike(wire.loads(body)))


def _entry(item: SentItem) -> OriginalEntry:
    return OriginalEntry(item.layer, item.source.name, item.wire)


def names_cache(exchange: Exchange) -> bool:
    """Whether the request left out a part that an explicit cache held."""
    return Original(exchange.model, (), end_of_body(exchange)).names_cache


def body_to_send(exchange: Exchange, *, as_sent: bool = False) -> bytes:
    """The body with what the named cache held inline, since a cache ends; or as it was sent.

    That of a program is never rewritten.
    """
    if as_sent or exchange.is_captured or not names_cache(exchange):
        return exchange.sent_body()
    return inline_body(original_of(exchange))
