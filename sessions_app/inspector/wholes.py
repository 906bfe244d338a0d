"""Texts too long for a page, read whole when they are asked for."""

from collections.abc import Callable, Sequence

from django.shortcuts import get_object_or_404

from sessions_app.inspector import texts
from sessions_app.inspector.lookup import nth_or_404
from sessions_app.inspector.parts import Reading, ShownPart
from sessions_app.inspector.tabs.layers import show_item, show_layer
from sessions_app.inspector.tabs.renditions import renditions_of
from sessions_app.inspector.tabs.response import show_reply
from sessions_app.models import Exchange
from sessions_app.prompt.layers import Layer

Whole = Callable[[Exchange, int, bool], Sequence[ShownPart]]
"""(exchange, which one, raw) → its parts."""


def item(exchange: Exchange, index: int, raw: bool) -> Sequence[ShownPart]:
    """The manifest's item at this position."""
    sent = nth_or_404(exchange.sent_items(), index)
    return show_item(sent, Reading(whole=True), raw=raw).parts


def layer(exchange: Exchange, index: int, raw: bool) -> Sequence[ShownPart]:
    """The text of the layer that stands at this place, from 0."""
    found = nth_or_404(list(Layer), index)
    return show_layer(found, exchange.sent_items(), Reading(whole=True), raw=raw).outline


def request(exchange: Exchange, index: int, raw: bool) -> Sequence[ShownPart]:
    return [as_text(exchange.sent_body(), raw)]


def rendition(exchange: Exchange, index: int, raw: bool) -> Sequence[ShownPart]:
    """The request in another provider's format, by its place on the tab."""
    return [as_text(nth_or_404(renditions_of(exchange), index).write(), raw)]


def chunk(exchange: Exchange, index: int, raw: bool) -> Sequence[ShownPart]:
    """The raw chunk with this number."""
    return [as_text(bytes(get_object_or_404(exchange.chunks, seq=index).body), raw)]


def reply(exchange: Exchange, index: int, raw: bool) -> Sequence[ShownPart]:
    return show_reply(exchange, Reading(whole=True), raw=raw).parts


def as_text(body: bytes, raw: bool) -> ShownPart:
    return Reading(whole=True).part("raw", "", texts.decoded(body) if raw else texts.pretty(body))


WHOLES: dict[str, Whole] = {
    "item": item,
    "layer": layer,
    "request": request,
    "rendition": rendition,
    "chunk": chunk,
    "reply": reply,
}
