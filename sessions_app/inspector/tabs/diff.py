"""What changed since another request: by layer, by item, by word."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby

from django.http import Http404

from sessions_app.inspector.changes import Bodies, ShownChange
from sessions_app.inspector.diffs import Pair, Setting, pairs_of, settings_of
from sessions_app.inspector.tabs.base import Tab
from sessions_app.inspector.tabs.layers import name_of
from sessions_app.models import Exchange
from sessions_app.prompt.layers import Layer

AT_ONCE = 40_000
"""Bytes of changed items that a page compares by word at once; the others wait until they are opened."""

NEAR = 100
"""Exchanges on both sides that can be chosen from the list; any other by its number in the address."""


@dataclass(frozen=True, slots=True)
class ShownPair:
    """`change` is None while nobody has opened the item."""

    pair: Pair
    name: str
    change: ShownChange | None = None

    @property
    def mark(self) -> str:
        if self.pair.fate == "same":
            return "↕" if self.pair.reordered else "→" if self.pair.moved_from else "="
        return {"changed": "±", "new": "+", "gone": "−"}[self.pair.fate]

    @property
    def place(self) -> str:
        """Its address as a fragment: positions in the old and in the new request, `x` for none."""
        sides = (self.pair.old, self.pair.new)
        return "-".join("x" if side is None else str(side.position) for side in sides)


@dataclass(frozen=True, slots=True)
class ShownLayer:
    name: str
    pairs: list[ShownPair]

    @property
    def groups(self) -> list[tuple[bool, list[ShownPair]]]:
        """Runs of items that are quite the same, and the others: (are the same, items)."""
        found = groupby(self.pairs, key=lambda one: is_quiet(one.pair))
        return [(is_same, list(pairs)) for is_same, pairs in found]

    @property
    def words(self) -> str:
        """“3 same, 1 changed, 2 new, 1 reordered”."""
        fates = [one.pair.fate for one in self.pairs]
        told = [(fates.count(fate), fate) for fate in ("same", "changed", "new", "gone")]
        counts = [*told, (sum(one.pair.reordered for one in self.pairs), "reordered")]
        return ", ".join(f"{count} {word}" for count, word in counts if count) or "empty in both"


@dataclass(frozen=True, slots=True)
class ShownDiff:
    """`other` is the request it is compared with; None when there is none."""

    other: Exchange | None
    choices: list[tuple[int, str]]
    layers: list[ShownLayer]
    settings: list[Setting]
    previous: int
    cache: str
    """What the two named of the cache, when that differs: a fact beside the diff, never part of it."""

    @property
    def is_same(self) -> bool:
        return not self.settings and all(is_quiet(one.pair) for layer in self.layers for one in layer.pairs)


class DiffTab(Tab):
    id = "diff"
    title = "Diff"
    follows = "never"

    def read(self, exchange: Exchange, asked: Mapping[str, str]) -> ShownDiff:
        previous = previous_number(exchange)
        other = other_of(exchange, asked.get("with", ""), previous)
        choices = choices_near(exchange)
        if other is None:
            return ShownDiff(None, choices, [], [], previous, "")
        return ShownDiff(
            other=other,
            choices=choices,
            layers=shown_layers(pairs_of(other, exchange)),
            settings=settings_of(other, exchange),
            previous=previous,
            cache=cache_words(other, exchange),
        )


def previous_number(exchange: Exchange) -> int:
    """The exchange before it on its branch; else the one before it in the session."""
    return exchange.previous.number if exchange.previous else exchange.number - 1


def other_of(exchange: Exchange, wanted: str, previous: int) -> Exchange | None:
    """The exchange with this number; without one, the previous. Raises Http404 for an unknown number."""
    number = int(wanted) if wanted.isdecimal() and len(wanted) < 10 else previous
    other = Exchange.objects.filter(session=exchange.session_id, number=number).first()
    if other is None and wanted:
        raise Http404
    return other


def choices_near(exchange: Exchange) -> list[tuple[int, str]]:
    """(number, verdict or model) of the exchanges around this one, without it."""
    number = exchange.number
    near = Exchange.objects.filter(session=exchange.session_id, number__range=(number - NEAR, number + NEAR))
    rows = near.exclude(number=number).order_by("number").values_list("number", "verdict", "model")
    return [(one, verdict.replace("_", " ") or model) for one, verdict, model in rows]


def cache_words(old: Exchange, new: Exchange) -> str:
    if bool(old.cache_name) == bool(new.cache_name):
        return ""
    named, sent = (new, old) if new.cache_name else (old, new)
    return (
        f"Exchange {named.number} names a cache where exchange {sent.number} sends the static layer: "
        "the model reads the same either way, so this is no change."
    )


def is_quiet(pair: Pair) -> bool:
    return pair.fate == "same" and not pair.reordered and not pair.moved_from


def shown_layers(pairs: list[Pair]) -> list[ShownLayer]:
    opened = at_once(pairs)
    bodies = Bodies(opened)
    shown = [
        ShownPair(pair, name_of(pair.shown.name), bodies.change(pair) if pair in opened else None)
        for pair in pairs
    ]
    return [ShownLayer(layer, [one for one in shown if one.pair.shown.layer == layer]) for layer in Layer]


def at_once(pairs: list[Pair]) -> set[Pair]:
    """The items that differ, as long as there is room on the page for them."""
    room, found = AT_ONCE, set()
    for pair in pairs:
        size = sum(side.size for side in (pair.old, pair.new) if side)
        if pair.fate != "same" and size <= room:
            room -= size
            found.add(pair)
    return found


def change_at(old: Exchange, new: Exchange, place: str) -> ShownPair:
    """One item whole, by its place on the tab. Raises Http404 when there is none."""
    pairs = pairs_of(old, new)
    shown = {one.place: one for one in (ShownPair(pair, name_of(pair.shown.name)) for pair in pairs)}
    if place not in shown:
        raise Http404
    pair = shown[place].pair
    return ShownPair(pair, shown[place].name, Bodies([pair]).change(pair, whole=True))
