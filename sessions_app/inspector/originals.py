"""A stored request read back into its layers, and the body with which it can be sent again."""

from collections.abc import Iterator
from typing import Any

from sessions_app.models import Exchange, SentItem, Source
from sessions_app.prompt import wire
from sessions_app.prompt.parts import content, text_of, text_part
from sessions_app.prompt.payload import SYSTEM_SOURCE, TOOLS_SOURCE
from sessions_app.prompt.prompt_items import TEXT_KIND
from sessions_app.prompt.renditions.original import Original, OriginalEntry, inline_body

CONFIGURATION = "config:"
"""Names of sources begin so that stand beside the prompt in a captured body."""


def original_of(exchange: Exchange) -> Original:
    if "beside" not in exchange.manifest:
        entries = (OriginalEntry(item.layer, item.source.name, item.wire) for item in exchange.sent_items())
        return Original(exchange.model, tuple(entries), exchange.stored_manifest.tail.encode())
    tail = wire.dumps(fields_beside(exchange)).removeprefix(b"{")
    after = b"]," + tail if tail != b"}" else b"]}"
    return Original(exchange.model, tuple(_read_back(exchange.sent_items())), after)


def fields_beside(exchange: Exchange) -> dict[str, Any]:
    """The members of the body beside the prompt, by name."""
    if "beside" not in exchange.manifest:
        tail: dict[str, Any] = wire.loads(b'{"contents":[' + exchange.stored_manifest.tail.encode())
        return {name: value for name, value in tail.items() if name != "contents"}
    keys = [one.source for one in exchange.stored_manifest.beside]
    names = dict(Source.objects.filter(pk__in=keys).values_list("pk", "name"))
    bodies = zip(keys, exchange.beside_items(), strict=True)
    return {names[key].removeprefix(CONFIGURATION): wire.loads(body) for key, body in bodies}


def names_cache(exchange: Exchange) -> bool:
    """Whether the request left out a part that an explicit cache held."""
    return bool(fields_beside(exchange).get("cachedContent"))


def body_to_send(exchange: Exchange, *, as_sent: bool = False) -> bytes:
    """The body with what the named cache held inline, since a cache ends; or as it was sent."""
    if as_sent or not names_cache(exchange):
        return exchange.sent_body()
    return inline_body(original_of(exchange))


def _read_back(items: list[SentItem]) -> Iterator[OriginalEntry]:
    """The items of a captured request as those of our own are: texts of layers without quotes, contents."""
    for item in items:
        name, body = item.source.name, item.wire
        if name == SYSTEM_SOURCE:
            body = _unquoted(text_of(body))
        elif item.source.kind == TEXT_KIND and name.startswith("turn:"):
            body = wire.dumps(content("user", [text_part(wire.loads(b'"' + body + b'"'))]))
        elif item.layer == "static" and name != TOOLS_SOURCE and item.source.kind != TEXT_KIND:
            body = _unquoted(text_of(body))
        yield OriginalEntry(item.layer, name, body)


def _unquoted(text: str) -> bytes:
    return wire.dumps(text)[1:-1]
