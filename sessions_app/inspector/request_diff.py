"""The differences of two requests, item by item.

Items are matched by source, turns and chunks of two sessions by their bytes, not by position: naming a cache
instead of sending the static layer, or moving a turn from the trigger into the buffer, changes no item.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sessions_app.inspector.originals import end_of_body
from sessions_app.models import Exchange, Source
from sessions_app.models.source import ManifestEntry
from sessions_app.prompt import wire
from sessions_app.prompt.break_culprit import outside_order

PairStatus = Literal["same", "changed", "new", "gone"]


@dataclass(frozen=True, slots=True)
class SentItemPart:
    """One item of a request, without its bytes."""

    position: int
    layer: str
    source: int
    name: str
    sha256: str
    tokens: int
    size: int


@dataclass(frozen=True, slots=True)
class ItemPair:
    """An item of the old request and its match in the new one."""

    status: PairStatus
    old: SentItemPart | None
    new: SentItemPart | None
    reordered: bool = False

    @property
    def shown(self) -> SentItemPart:
        found = self.new or self.old
        assert found is not None
        return found

    @property
    def moved_from(self) -> str:
        """The old layer, when it is another; else empty."""
        if self.old is None or self.new is None or self.old.layer == self.new.layer:
            return ""
        return self.old.layer


@dataclass(frozen=True, slots=True)
class SettingChange:
    """A field outside the layers that differs; values are JSON, empty where the field is absent."""

    name: str
    old: str
    new: str


def pairs_of(old: Exchange, new: Exchange) -> list[ItemPair]:
    """In the order of the new request, with removed items at their old place. One query."""
    sources = _sources([*old.stored_manifest.entries, *new.stored_manifest.entries])
    before, after = _sent(old, sources), _sent(new, sources)
    is_elsewhere = old.session_id != new.session_id
    partners = _partners(before, after, _shared_name if is_elsewhere else _own_name)
    reordered = outside_order([partners[one.position] for one in after if one.position in partners])
    pairs = [_pair(partners.get(one.position), one, before, reordered) for one in after]
    return _with_gone(pairs, before, set(partners.values()))


def settings_of(old: Exchange, new: Exchange) -> list[SettingChange]:
    """Differences outside the layers, without the name of the cache."""
    before, after = _settings(old), _settings(new)
    return [
        SettingChange(name, before.get(name, ""), after.get(name, ""))
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]


def _settings(exchange: Exchange) -> dict[str, str]:
    tail: dict[str, Any] = wire.loads(b'{"contents":[' + end_of_body(exchange))
    given = {key: value for key, value in tail.items() if key not in ("contents", "cachedContent")}
    fields_by_name = {
        f"{name}.{key}": wire.dumps(value).decode()
        for name, fields in given.items()
        for key, value in (fields.items() if isinstance(fields, dict) else [("", fields)])
    }
    return {"model": exchange.model, **fields_by_name}


def _sources(entries: Iterable[ManifestEntry]) -> dict[int, tuple[str, str, int, int]]:
    rows = Source.objects.filter(pk__in={entry.source for entry in entries})
    found = rows.values_list("pk", "name", "blob__sha256", "tokens", "blob__size")
    return {pk: (name, sha256, tokens, size) for pk, name, sha256, tokens, size in found}


def _sent(exchange: Exchange, sources: dict[int, tuple[str, str, int, int]]) -> list[SentItemPart]:
    return [
        SentItemPart(position, entry.layer, entry.source, *sources[entry.source])
        for position, entry in enumerate(exchange.stored_manifest.entries)
    ]


def _own_name(item: SentItemPart) -> str:
    return item.name


def _shared_name(item: SentItemPart) -> str:
    """One that items of two sessions can have in common: a turn and a chunk are named by keys."""
    kind = item.name.partition(":")[0]
    return kind if kind in ("turn", "chunk") else item.name


def _partners(
    before: Sequence[SentItemPart],
    after: Sequence[SentItemPart],
    name_of: Callable[[SentItemPart], str] = _own_name,
) -> dict[int, int]:
    """Position in the new request → position in the old one, for items of one name."""
    named: dict[str, tuple[list[SentItemPart], list[SentItemPart]]] = defaultdict(lambda: ([], []))
    for side, items in enumerate((before, after)):
        for item in items:
            named[name_of(item)][side].append(item)
    return {new.position: old.position for olds, news in named.values() for old, new in _matched(olds, news)}


def _matched(olds: list[SentItemPart], news: list[SentItemPart]) -> list[tuple[SentItemPart, SentItemPart]]:
    """Segments of one template share a name: equal bytes are matched first, the rest in order."""
    if len(olds) == len(news) == 1:
        return [(olds[0], news[0])]
    equal = _equal(olds, news)
    taken_old, taken_new = {old.position for old, _ in equal}, {new.position for _, new in equal}
    rest_old = [one for one in olds if one.position not in taken_old]
    rest_new = [one for one in news if one.position not in taken_new]
    return [*equal, *zip(rest_old, rest_new, strict=False)]


def _equal(olds: list[SentItemPart], news: list[SentItemPart]) -> list[tuple[SentItemPart, SentItemPart]]:
    left: dict[str, list[SentItemPart]] = defaultdict(list)
    for one in reversed(olds):
        left[one.sha256].append(one)
    return [(left[one.sha256].pop(), one) for one in news if left[one.sha256]]


def _pair(
    partner: int | None, new: SentItemPart, before: Sequence[SentItemPart], reordered: set[int]
) -> ItemPair:
    if partner is None:
        return ItemPair("new", None, new)
    old = before[partner]
    return ItemPair("same" if old.sha256 == new.sha256 else "changed", old, new, partner in reordered)


def _with_gone(pairs: list[ItemPair], before: Sequence[SentItemPart], kept: set[int]) -> list[ItemPair]:
    """Inserts each removed item after the pair of the item before it."""
    places = {pair.old.position: place for place, pair in enumerate(pairs) if pair.old}
    after: dict[int, list[ItemPair]] = defaultdict(list)
    last = -1
    for one in before:
        last = places.get(one.position, last)
        if one.position not in kept:
            after[last].append(ItemPair("gone", one, None))
    found = list(after[-1])
    for place, pair in enumerate(pairs):
        found += [pair, *after[place]]
    return found
