"""Which source broke a prefix: the one whose content changed or that went or came, not one that only moved.

Where a panel changes and goes to the end, the next one stands in its place: the texts part at the next one,
and the culprit is the panel that changed.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sessions_app.prompt.logical_prompt import Parting
from sessions_app.prompt.prefix_diff import BreakKind
from sessions_app.prompt.prompt_items import DECLARATIONS_KIND, PromptItem
from sessions_app.prompt.signatures import unsigned

FRAMES = "template:"
"""Sources that only stand around others; some of their text depends on which others there are."""

TURNS = "turn:"


class Culprit(NamedTuple):
    """`is_before`: `item` counts in the earlier request, where the source is not in the later one."""

    kind: BreakKind
    item: int
    is_before: bool


@dataclass(frozen=True)
class _Side:
    """One of two prompts; `other` is what the other one has under each name."""

    items: Sequence[PromptItem]
    other: dict[str, list[PromptItem]]

    def is_absent(self, item: PromptItem) -> bool:
        return item.source not in self.other

    def is_same(self, item: PromptItem) -> bool:
        return any(item.says_the_same_as(twin) for twin in self.other.get(item.source, ()))

    def subject(self, at: int) -> int | None:
        """The next source in the layer of an item that is not a frame."""
        layer = self.items[at].layer
        rest = range(at, len(self.items))
        found = next((one for one in rest if not self.items[one].source.startswith(FRAMES)), None)
        return found if found is not None and self.items[found].layer == layer else None


def culprit_of(before: Sequence[PromptItem], now: Sequence[PromptItem], parting: Parting) -> Culprit:
    """The source that made two prompts part."""
    old, new = _Side(before, _named(now)), _Side(now, _named(before))
    was, here = _subjects(old, new, parting.was, parting.now)
    if parting.is_end and was is not None and old.is_absent(before[was]):
        return Culprit(BreakKind.SHORTENED, was, is_before=True)
    found = _decided(old, new, was, here)
    if found.kind is not BreakKind.MOVED:
        return found
    # Sources of equal text can be taken for each other: the first that differ by name may tell more.
    at = _first_mismatch(old, new)
    named = _decided(
        old, new, *_subjects(old, new, *(at if at < len(one) else None for one in (before, now)))
    )
    return found if named.kind is BreakKind.MOVED else named


def _first_mismatch(old: _Side, new: _Side) -> int:
    """The first index at which not the same source, or a copy of it under a new name, says the same."""
    pairs = enumerate(zip(old.items, new.items, strict=False))
    differ = (at for at, (one, other) in pairs if not _is_kept(old, new, one, other))
    return next(differ, min(len(old.items), len(new.items)))


def _is_kept(old: _Side, new: _Side, one: PromptItem, other: PromptItem) -> bool:
    is_copy = old.is_absent(one) and new.is_absent(other)
    return one.says_the_same_as(other) and (one.source == other.source or is_copy)


def _decided(old: _Side, new: _Side, was: int | None, here: int | None) -> Culprit:
    """The culprit where `was` stood and `here` stands."""
    now = new.items
    if was is not None and (found := _lost(old, new, was, here)):
        return found
    if here is not None and not new.is_same(now[here]):
        kind = BreakKind.APPEARED if new.is_absent(now[here]) else BreakKind.CHANGED_AND_MOVED
        return Culprit(kind, here, is_before=False)
    return _moved(old, new, was, here)


def _subjects(old: _Side, new: _Side, was: int | None, here: int | None) -> tuple[int | None, int | None]:
    """The items with which each goes on. A frame stands for the source behind it, if that differs as well."""
    was, here = _of_first_section(old, new, was, here)
    framed = [
        side.items[at].source.startswith(FRAMES) for side, at in ((old, was), (new, here)) if at is not None
    ]
    if not any(framed):
        return was, here
    one = old.subject(was) if was is not None else None
    other = new.subject(here) if here is not None else None
    if one is None and other is None:
        return was, here
    if one is not None and other is not None:
        first, second = old.items[one], new.items[other]
        if first.source == second.source and first.says_the_same_as(second):
            return was, here
    return one, other


def _of_first_section(
    old: _Side, new: _Side, was: int | None, here: int | None
) -> tuple[int | None, int | None]:
    """The same, without one that belongs to a later section: it only stands there as the other is not."""
    if was is None or here is None:
        return was, here
    one, other = _section(old.items[was]), _section(new.items[here])
    return was if one <= other else None, here if other <= one else None


def _section(item: PromptItem) -> int:
    """Tools are read first, then the static layer, the dynamic one, and turns."""
    return 0 if item.kind == DECLARATIONS_KIND else _SECTIONS.get(item.layer, 3)


_SECTIONS = {"static": 1, "dynamic": 2}


def _lost(old: _Side, new: _Side, was: int, here: int | None) -> Culprit | None:
    """The item that stood there, if it has changed or is gone."""
    item, there = old.items[was], new.items[here] if here is not None else None
    if old.is_same(item):
        return None
    if here is not None and there is not None and there.source == item.source:
        return Culprit(_change_of(item, there), here, is_before=False)
    if not old.is_absent(item):
        now = next(at for at, one in enumerate(new.items) if one.source == item.source)
        if here is None and now == was:
            # The later prompt ends within it.
            return Culprit(_change_of(item, new.items[now]), now, is_before=False)
        return Culprit(BreakKind.CHANGED_AND_MOVED, now, is_before=False)
    is_other_turn = there is not None and new.is_absent(there) and there.source.startswith(TURNS)
    if here is not None and is_other_turn and item.source.startswith(TURNS):
        return Culprit(BreakKind.REPLACED, here, is_before=False)
    return Culprit(BreakKind.GONE, was, is_before=True)


def _change_of(was: PromptItem, now: PromptItem) -> BreakKind:
    said = unsigned(was.wire)
    return BreakKind.SIGNED_OTHERWISE if said and said == unsigned(now.wire) else BreakKind.CHANGED


def _moved(old: _Side, new: _Side, was: int | None, here: int | None) -> Culprit:
    """Both are in both prompts as they were: the one that left the order of the others."""
    if here is None:
        return Culprit(BreakKind.MOVED, was or 0, is_before=True)
    places = {item.source: at for at, item in enumerate(old.items)}
    left = outside_order([places[item.source] for item in new.items if item.source in places])
    if was is not None and was in left and places.get(new.items[here].source) not in left:
        return Culprit(BreakKind.MOVED, was, is_before=True)
    return Culprit(BreakKind.MOVED, here, is_before=False)


def outside_order(order: Sequence[int]) -> set[int]:
    """The values outside a longest increasing subsequence."""
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


def _named(items: Iterable[PromptItem]) -> dict[str, list[PromptItem]]:
    found: dict[str, list[PromptItem]] = defaultdict(list)
    for item in items:
        found[item.source].append(item)
    return dict(found)
