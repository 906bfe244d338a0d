"""The diff tab: what changed since another request, by layer, item and word."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from django.http import Http404

from sessions_app.inspector.comparison import comparison_of
from sessions_app.inspector.item_diff import ItemBodies, ItemDiff
from sessions_app.inspector.request_diff import ItemPair, SettingChange, pairs_of, settings_of
from sessions_app.inspector.source_titles import SourceTitles
from sessions_app.inspector.state_changes import StateChange, state_changes
from sessions_app.inspector.tabs.base import Tab
from sessions_app.models import Exchange
from sessions_app.prompt.layers import Layer
from sessions_app.wording import comparisons, verdicts

INLINE_BYTES = 40_000
"""Bytes of changed items that a page compares at once; others are compared when they are opened."""

CHOICES_EACH_SIDE = 100
"""Exchanges on both sides that the list offers."""


@dataclass(frozen=True, slots=True)
class PairView:
    """`change` is None for an item that is compared when it is opened."""

    pair: ItemPair
    name: str
    change: ItemDiff | None = None

    @property
    def mark(self) -> str:
        if self.pair.status == "same":
            return "↕" if self.pair.reordered else "→" if self.pair.moved_from else "="
        return {"changed": "±", "new": "+", "gone": "−"}[self.pair.status]

    @property
    def place(self) -> str:
        """Its part of the URL: positions in the old and the new request, `x` for none."""
        sides = (self.pair.old, self.pair.new)
        return "-".join("x" if side is None else str(side.position) for side in sides)


@dataclass(frozen=True, slots=True)
class LayerDiff:
    name: str
    pairs: list[PairView]

    @property
    def groups(self) -> list[tuple[bool, list[PairView]]]:
        """Consecutive items that are unchanged, or not: (are unchanged, items)."""
        found = groupby(self.pairs, key=lambda one: is_unchanged(one.pair))
        return [(is_same, list(pairs)) for is_same, pairs in found]

    @property
    def summary(self) -> str:
        """“3 same, 1 changed, 2 new, 1 reordered”."""
        statuses = [one.pair.status for one in self.pairs]
        known = [(statuses.count(status), status) for status in ("same", "changed", "new", "gone")]
        counts = [*known, (sum(one.pair.reordered for one in self.pairs), "reordered")]
        return ", ".join(f"{count} {word}" for count, word in counts if count) or "empty in both"


@dataclass(frozen=True, slots=True)
class ShownDiff:
    """`other` is the exchange it is compared with, if any; `problem` says why it is not the wanted one."""

    other: Exchange | None
    choices: list[tuple[int, str]]
    layers: list[LayerDiff]
    settings: list[SettingChange]
    previous: int
    cache: str
    """A note when only one of them named a cache, which alone is no difference."""
    state: list[StateChange]
    problem: str = ""
    asked: str = ""
    """What a person wrote to name an exchange."""
    is_elsewhere: bool = False
    """The other exchange is of another session."""
    is_unknown: bool = False
    """Whether a cache that one of them names may hold something else than the other has."""

    @property
    def query(self) -> str:
        """What the addresses of single items need for an exchange of another session."""
        return f"?of={self.other.session.public}" if self.other and self.is_elsewhere else ""

    @property
    def is_same(self) -> bool:
        pairs = [one.pair for layer in self.layers for one in layer.pairs]
        return not self.settings and not self.is_unknown and all(map(is_unchanged, pairs))


class DiffTab(Tab):
    id = "diff"
    title = "Diff"
    refresh = "never"

    def read(self, exchange: Exchange, params: Mapping[str, str]) -> ShownDiff:
        previous = previous_number(exchange)
        found = comparison_of(exchange, params.get("with", ""), previous)
        choices, other = choices_near(exchange), found.other
        problem = comparisons.PROBLEMS[found.problem] if found.problem else ""
        if other is None:
            return ShownDiff(None, choices, [], [], previous, "", [], problem, found.asked)
        pairs, settings = pairs_of(other, exchange), settings_of(other, exchange)
        titles, opened = titles_of(pairs, exchange.session_id), compared_at_once(pairs)
        bodies = ItemBodies(opened)
        said_otherwise = [pair for pair in pairs if not bodies.is_respelled(pair)]
        return ShownDiff(
            other=other,
            choices=choices,
            layers=shown_layers(pairs, titles, opened, bodies),
            settings=settings,
            previous=previous,
            cache=cache_note(other, exchange, said_otherwise),
            state=state_changes(other, exchange, said_otherwise, settings, titles),
            problem=problem,
            asked=found.asked,
            is_elsewhere=other.session_id != exchange.session_id,
            is_unknown=names_unknown(other, exchange),
        )


def previous_number(exchange: Exchange) -> int:
    """The number of the exchange before it on its branch, else of the one before it in the session."""
    return exchange.previous.number if exchange.previous else exchange.number - 1


def choices_near(exchange: Exchange) -> list[tuple[int, str]]:
    """(number, verdict or model) of the exchanges around this one, without it."""
    number = exchange.number
    near = Exchange.objects.filter(
        session=exchange.session_id, number__range=(number - CHOICES_EACH_SIDE, number + CHOICES_EACH_SIDE)
    )
    rows = near.exclude(number=number).order_by("number").values_list("number", "verdict", "model")
    return [(one, verdicts.label(verdict) or model) for one, verdict, model in rows]


def cache_note(old: Exchange, new: Exchange, pairs: Sequence[ItemPair]) -> str:
    """`pairs` are those that say something else, or may."""
    if bool(old.cache_name) == bool(new.cache_name):
        case = "two_unseen" if names_unknown(old, new) else "none"
        return comparisons.NAMED_OR_SENT[case].format(named=new.number, sent=old.number)
    named, sent = (new, old) if new.cache_name else (old, new)
    case = "unseen" if names_unknown(old, new) else "same" if all(map(_is_kept, pairs)) else "differs"
    return comparisons.NAMED_OR_SENT[case].format(named=named.number, sent=sent.number)


def names_unknown(old: Exchange, new: Exchange) -> bool:
    """Whether they name different caches, or one where the other names none, and of one nobody knows what it
    holds.
    """
    named = [one for one in (old, new) if one.cache_name]
    is_seen = all(any(entry.lead is None for entry in one.stored_manifest.entries) for one in named)
    return old.cache_name != new.cache_name and not is_seen


def _is_kept(pair: ItemPair) -> bool:
    """Whether it says in its place what it said, or is not of the static layer."""
    layers = [side.layer for side in (pair.old, pair.new) if side]
    return Layer.STATIC not in layers or (pair.status == "same" and not pair.reordered)


def is_unchanged(pair: ItemPair) -> bool:
    return pair.status == "same" and not pair.reordered and not pair.moved_from


def titles_of(pairs: list[ItemPair], session_pk: int) -> SourceTitles:
    new = [pair.new.name for pair in pairs if pair.new]
    return SourceTitles(session_pk, new, [pair.old.name for pair in pairs if pair.old])


def shown_layers(
    pairs: list[ItemPair], titles: SourceTitles, opened: set[ItemPair], bodies: ItemBodies
) -> list[LayerDiff]:
    """Those that are `opened`, of which the bytes are here, with their change."""
    shown = [
        PairView(pair, titles.title(pair.shown.name), bodies.change(pair) if pair in opened else None)
        for pair in pairs
    ]
    return [LayerDiff(layer, [one for one in shown if one.pair.shown.layer == layer]) for layer in Layer]


def compared_at_once(pairs: list[ItemPair]) -> set[ItemPair]:
    """The changed items, up to `INLINE_BYTES`."""
    room, found = INLINE_BYTES, set()
    for pair in pairs:
        size = sum(side.size for side in (pair.old, pair.new) if side)
        if pair.status != "same" and size <= room:
            room -= size
            found.add(pair)
    return found


def change_at(old: Exchange, new: Exchange, place: str) -> PairView:
    """One item in full. Raises Http404 for an unknown place."""
    pairs = pairs_of(old, new)
    titles = titles_of(pairs, new.session_id)
    shown = {one.place: one for one in (PairView(pair, titles.title(pair.shown.name)) for pair in pairs)}
    if place not in shown:
        raise Http404
    pair = shown[place].pair
    return PairView(pair, shown[place].name, ItemBodies([pair]).change(pair, whole=True))
