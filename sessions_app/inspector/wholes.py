"""Texts too long for a page, read whole when they are asked for."""

from collections.abc import Callable, Sequence

from django.http import Http404
from django.shortcuts import get_object_or_404

from sessions_app.inspector import texts
from sessions_app.inspector.parts import Reading, ShownPart
from sessions_app.inspector.tabs.layers import show_item, show_layer
from sessions_app.inspector.tabs.response import show_reply
from sessions_app.models import Exchange
from sessions_app.prompt.layers import Layer

Whole = Callable[[Exchange, int, bool], Sequence[ShownPart]]
"""(exchange, which one, raw) → its parts."""


def item(exchange: Exchange, index: int, raw: bool) -> Sequence[ShownPart]:
    """The manifest's item at this position."""
    sent = exchange.sent_items()
    if index >= len(sent):
        raise Http404
    return show_item(sent[index], Reading(whole=True), raw=raw).parts


def layer(exchange: Exchange, index: int, raw: bool) -> Sequence[ShownPart]:
    """The text of the layer that stands at this place, from 0."""
    layers = list(Layer)
    if index >= len(layers):
        raise Http404
    return show_layer(layers[index], exchange.sent_items(), Reading(whole=True), raw=raw).outline


def request(exchange: Exchange, index: int, raw: bool) -> Sequence[ShownPart]:
    return [as_text(exchange.request_body(), raw)]


def chunk(exchange: Exchange, index: int, raw: bool) -> Sequence[ShownPart]:
    """The raw chunk with this number."""
    return [as_text(bytes(get_object_or_404(exchange.chunks, seq=index).body), raw)]


def reply(exchange: Exchange, index: int, raw: bool) -> Sequence[ShownPart]:
    return show_reply(exchange, Reading(whole=True), raw=raw).parts


def as_text(body: bytes, raw: bool) -> ShownPart:
    return Reading(whole=True).part("raw", "", texts.decoded(body) if raw else texts.pretty(body))


WHOLES: dict[str, Whole] = {"item": item, "layer": layer, "request": request, "chunk": chunk, "reply": reply}
