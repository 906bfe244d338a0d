"""A stored request read back into its layers, and the body with which it can be sent again."""

from sessions_app.models import Exchange
from sessions_app.prompt.renditions.original import Original, OriginalEntry, inline_body


def original_of(exchange: Exchange) -> Original:
    entries = (OriginalEntry(item.layer, item.source.name, item.wire) for item in exchange.sent_items())
    return Original(exchange.model, tuple(entries), exchange.stored_manifest.tail.encode())


def names_cache(exchange: Exchange) -> bool:
    """Whether the request left out a part that an explicit cache held."""
    return Original(exchange.model, (), exchange.stored_manifest.tail.encode()).names_cache


def body_to_send(exchange: Exchange, *, as_sent: bool = False) -> bytes:
    """The body with what the named cache held inline, since a cache ends; or as it was sent."""
    if as_sent or not names_cache(exchange):
        return exchange.sent_body()
    return inline_body(original_of(exchange))
