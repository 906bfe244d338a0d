"""Two requests of a session, item by item: what stayed, what changed, what came and went.

Items are compared by their source, never by where they stand: naming a cache instead of sending the
static layer, or a turn that moves from the trigger into the buffer, changes no item.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sessions_app.models import Exchange, Source
from sessions_app.models.source import ManifestEntry
from sessions_app.prompt import wire

Fate = Literal["same", "changed", "new", "gone"]


@dataclass(frozen=True, slots=True)
class Sent:
    """One item of a request, without its bytes."""

    position: int
    layer: str
    source: int
    name: str
    sha256: str
    tokens: int
    size: int


@dataclass(frozen=True, slots=True)
class Pair:
    """An item of the old request and the one that stands for it in the new."""

    fate: Fate
    old: Sent | None
    new: Sent | None
    reordered: bool = False

    @property
    def shown(self) -> Sent:
        """The side that a page names it by."""
        found = self.new or self.old
        assert found is not None
        return found

    @property
    def moved_from(self) -> str:
        """The layer it stood in before, when that was another."""
        if self.old is None or self.new is None or self.old.layer == self.new.layer:
            return ""
        return self.old.layer


@dataclass(frozen=True, slots=True)
class Setting:
    """A field outside the four layers that differs; the text is JSON, empty where it is absent."""

    name: str
    old: str
    new: str


def pairs_of(old: Exchange, new: Exchange) -> list[Pair]:
    """In the order of the new request; what is gone stands where it stood. One query."""
    sources = _sources([*old.stored_manifest.entries, *new.stored_manifest.entries])
    before, after = _sent(old, sources), _sent(new, sources)
    partners = _partners(before, after)
    strayed = _strayed([partners[one.position] for one in after if one.position in partners])
    pairs = [_pair(partners.get(one.position), one, before, strayed) for one in after]
    return _with_gone(pairs, before, set(partners.values()))


def settings_of(old: Exchange, new: Exchange) -> list[Setting]:
    """What differs besides the layers. The cache that is named is not listed: the layers tell of it."""
    before, after = _settings(old), _settings(new)
    return [
        Setting(name, before.get(name, ""), after.get(name, ""))
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]


def _settings(exchange: Exchange) -> dict[str, str]:
    tail: dict[str, Any] = wire.loads(b'{"contents":[' + exchange.stored_manifest.tail.encode())
    given = {key: value for key, value in tail.items() if key not in ("contents", "cachedContent")}
    told = {
        f"{name}.{key}": wire.dumps(value).decode()
        for name, fields in given.items()
        for key, value in (fields.items() if isinstance(fields, dict) else [("", fields)])
    }
    return {"model": exchange.model, **told}


def _sources(entries: Iterable[ManifestEntry]) -> dict[int, tuple[str, str, int, int]]:
    rows = Source.objects.filter(pk__in={entry.source for entry in entries})
    found = rows.values_list("pk", "name", "blob__sha256", "tokens", "blob__size")
    return {pk: (name, sha256, tokens, size) for pk, name, sha256, tokens, size in found}


def _sent(exchange: Exchange, sources: dict[int, tuple[str, str, int, int]]) -> list[Sent]:
    return [
        Sent(position, entry.layer, entry.source, *sources[entry.source])
        for position, entry in enumerate(exchange.stored_manifest.entries)
    ]


def _partners(before: Sequence[Sent], after: Sequence[Sent]) -> dict[int, int]:
    """Position in the new request → position in the old one, for items of one source."""
    named: dict[str, tuple[list[Sent], list[Sent]]] = defaultdict(lambda: ([], []))
    for side, items in enumerate((before, after)):
        for item in items:
            named[item.name][side].append(item)
    return {new.position: old.position for olds, news in named.values() for old, new in _matched(olds, news)}


def _matched(olds: list[Sent], news: list[Sent]) -> list[tuple[Sent, Sent]]:
    """Pieces of one template have one name: equal bytes belong together, the rest in order."""
    if len(olds) == len(news) == 1:
        return [(olds[0], news[0])]
    equal = _equal(olds, news)
    taken_old, taken_new = {old.position for old, _ in equal}, {new.position for _, new in equal}
    rest_old = [one for one in olds if one.position not in taken_old]
    rest_new = [one for one in news if one.position not in taken_new]
    return [*equal, *zip(rest_old, rest_new, strict=False)]


def _equal(olds: list[Sent], news: list[Sent]) -> list[tuple[Sent, Sent]]:
    left: dict[str, list[Sent]] = defaultdict(list)
    for one in reversed(olds):
        left[one.sha256].append(one)
    return [(left[one.sha256].pop(), one) for one in news if left[one.sha256]]


def _strayed(order: Sequence[int]) -> set[int]:
    """Which of these do not belong to the longest run that kept its order."""
    tails: list[int] = []
    at: list[int] = []
    for value in order:
        place = bisect_left(tails, value)
        tails[place : place + 1] = [value]
        at.append(place)
    kept, wanted = set(), len(tails) - 1
    for value, place in zip(reversed(order), reversed(at), strict=True):
        if place == wanted:
            kept.add(value)
            wanted -= 1
    return set(order) - kept


def _pair(partner: int | None, new: Sent, before: Sequence[Sent], strayed: set[int]) -> Pair:
    if partner is None:
        return Pair("new", None, new)
    old = before[partner]
    return Pair("same" if old.sha256 == new.sha256 else "changed", old, new, partner in strayed)


def _with_gone(pairs: list[Pair], before: Sequence[Sent], kept: set[int]) -> list[Pair]:
    """Each item that is gone goes after the pair of the item that stood before it."""
    places = {pair.old.position: place for place, pair in enumerate(pairs) if pair.old}
    after: dict[int, list[Pair]] = defaultdict(list)
    last = -1
    for one in before:
        last = places.get(one.position, last)
        if one.position not in kept:
            after[last].append(Pair("gone", one, None))
    found = list(after[-1])
    for place, pair in enumerate(pairs):
        found += [pair, *after[place]]
    return found
