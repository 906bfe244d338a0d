"""The form of a recorded response: status, error words, keys and where they stand; never what was said."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from sessions_app.conform.report import WireExchange

_QUOTED = re.compile(r"`[^`]*`|'[^']*'|\"[^\"]*\"|\b(?:models|cachedContents|files)/[\w.\[\]-]+")
_NUMBERS = re.compile(r"\d[\d.,]*")
_CODE = re.compile(r"[A-Z][A-Z_]{2,}")
_DATA = re.compile(r"^data: ?", re.MULTILINE)

Marks = frozenset[str]


@dataclass(frozen=True, slots=True)
class WireForm:
    """`keys` are the places of all keys, with the value where it is a code (`STOP`); `order` is that of the
    keys of each object; `placement` is what sets the events apart, in their order, equal neighbours once.
    """

    request: str
    status: int | None
    content_type: str
    end: str
    words: str
    keys: Marks
    order: dict[str, tuple[str, ...]]
    placement: tuple[Marks, ...]


def form_of(exchange: WireExchange) -> WireForm:
    events = list(_events(exchange.response))
    marks = [frozenset(_marks(event)) for event in events]
    everywhere = frozenset.intersection(*marks) if len(marks) > 1 else frozenset()
    placement: list[Marks] = []
    for mark in marks if len(marks) > 1 else []:
        if not placement or placement[-1] != mark - everywhere:
            placement.append(mark - everywhere)
    return WireForm(
        request=f"{exchange.method} {_QUOTED.sub('…', exchange.path)}",
        status=exchange.status,
        content_type=exchange.headers.get("content-type", ""),
        end=exchange.end,
        words=" ".join(_words(events)),
        keys=frozenset().union(*marks),
        order=_orders(events),
        placement=tuple(placement),
    )


def _events(response: str) -> Iterator[Any]:
    """The JSON values of a response: the events of a stream, or the body. What is no JSON has no keys."""
    pieces = _DATA.split(response)[1:] if response.startswith("data:") else [response]
    for piece in pieces:
        try:
            value = orjson.loads(piece)
        except orjson.JSONDecodeError:
            continue
        yield value


def _marks(value: Any, place: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            where = f"{place}.{key}" if place else key
            yield f"{where}={inner}" if isinstance(inner, str) and _CODE.fullmatch(inner) else where
            yield from _marks(inner, where)
    elif isinstance(value, list):
        for inner in value:
            yield from _marks(inner, f"{place}[]")


def _orders(events: list[Any]) -> dict[str, tuple[str, ...]]:
    orders: dict[str, tuple[str, ...]] = {}
    for event in events:
        for place, keys in _objects(event):
            if len(keys) > len(orders.get(place, ())):
                orders[place] = keys
    return orders


def _objects(value: Any, place: str = "") -> Iterator[tuple[str, tuple[str, ...]]]:
    if isinstance(value, dict):
        yield place, tuple(value)
        for key, inner in value.items():
            yield from _objects(inner, f"{place}.{key}" if place else key)
    elif isinstance(value, list):
        for inner in value:
            yield from _objects(inner, f"{place}[]")


def _words(events: list[Any]) -> Iterator[str]:
    """The messages of errors, without what belongs to one request."""
    for event in events:
        error = event.get("error") if isinstance(event, dict) else None
        if isinstance(error, dict) and isinstance(error.get("message"), str):
            yield _generic(error["message"])


def _generic(text: str) -> str:
    return _NUMBERS.sub("N", _QUOTED.sub("…", text))
