"""Which source broke a prefix, chosen a second time: by the lists of sources, without their text.

The rule: the first source that differs in the two lists. What stood there before is blamed if it changed or
went; else what stands there now, if it changed or came; else only the order differs, and what left it is
blamed. A frame (text of a template) is blamed only where the texts part in it and the next source of its
layer is the same as before: some of its text depends on which sources there are.
"""

import json
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from sessions_app.audit.prefix import DECLARATIONS, Parting, meaning
from sessions_app.audit.rows import StoredItem

FRAMES, TURNS = "template:", "turn:"
SIGNATURES = ("thoughtSignature", "thought_signature")

SECTIONS = {"static": 1, "dynamic": 2}
"""By layer the order in which a prompt is read: tools (0) first, turns (3) last."""


class Culprit(NamedTuple):
    kind: str
    source: str


Items = Sequence[StoredItem]


def culprits_of(old: Items, new: Items, parted: Parting) -> set[Culprit]:
    """One, or two where only the order differs and either may be said to have left it."""
    frame = _frame(old, new, parted)
    if frame is not None:
        return {frame}
    one, other = _first_difference(old, new)
    names = {item.name for item in new}
    if parted.is_end and one is not None and one.name not in names:
        return {Culprit("shortened", one.name)}
    if one is not None and not _is_kept(one, new):
        return _lost(one, other, old, new)
    if other is not None and not _is_kept(other, old):
        is_known = any(item.name == other.name for item in old)
        return {Culprit("changed_and_moved" if is_known else "appeared", other.name)}
    return {Culprit("moved", name) for name in _left(one, other, old, new)}


def _frame(old: Items, new: Items, parted: Parting) -> Culprit | None:
    """The frame in which the texts part, if that is not due to the source behind it."""
    was, now = old[parted.was], new[parted.now.item]
    framed = [item for item in (was, now) if item.name.startswith(FRAMES)]
    if not framed:
        return None
    layer, name = framed[0].layer, framed[0].name
    one = _next_source(old[parted.was :], layer)
    other = _next_source(new[parted.now.item :], layer)
    if (one or other) and not (one and other and _are_same(one, other)):
        return None
    if all(any(item.name == name for item in items) for items in (old, new)):
        return Culprit("changed", name)
    return Culprit("gone" if was.name == name else "appeared", name)


def _next_source(items: Items, layer: str) -> StoredItem | None:
    for item in items:
        if not item.name.startswith(FRAMES):
            return item if item.layer == layer else None
    return None


def _first_difference(old: Items, new: Items) -> tuple[StoredItem | None, StoredItem | None]:
    """The first sources, frames left out, that are not the same; a copy under a new name is the same.

    Where one stands in a later section of the prompt than the other, that section has not begun yet.
    """
    lists = [[item for item in items if not item.name.startswith(FRAMES)] for items in (old, new)]
    was, now = ({item.name for item in items} for items in lists)
    for one, other in zip_longest(*lists):
        if one is None or other is None:
            return one, other
        is_copy = one.name not in now and other.name not in was
        if not ((one.name == other.name or is_copy) and _are_same(one, other)):
            first = min(_section(one), _section(other))
            return one if _section(one) == first else None, other if _section(other) == first else None
    return None, None


def _section(item: StoredItem) -> int:
    return 0 if item.kind == DECLARATIONS else SECTIONS.get(item.layer, 3)


def _are_same(one: StoredItem, other: StoredItem) -> bool:
    return one.source == other.source or meaning(one) == meaning(other)


def _is_kept(item: StoredItem, others: Items) -> bool:
    return any(_are_same(item, twin) for twin in others if twin.name == item.name)


def _lost(one: StoredItem, other: StoredItem | None, old: Items, new: Items) -> set[Culprit]:
    """What became of a source that does not say any more what it said; earlier versions did not tell
    signatures from words.
    """
    if other is not None and other.name == one.name:
        changed = {Culprit("changed", one.name)}
        otherwise = {Culprit("signed_otherwise", one.name)}
        return changed | otherwise if are_signed_otherwise(one, other) else changed
    if any(item.name == one.name for item in new):
        return {Culprit("changed_and_moved", one.name)}
    is_other_turn = other is not None and not any(item.name == other.name for item in old)
    if other is not None and is_other_turn and one.name.startswith(TURNS) and other.name.startswith(TURNS):
        return {Culprit("replaced", other.name)}
    return {Culprit("gone", one.name)}


def are_signed_otherwise(one: StoredItem, other: StoredItem) -> bool:
    """Whether two contents that differ say the same, but for signatures and parts that hold nothing else."""
    try:
        was, now = (json.loads(item.body) for item in (one, other))
        return _is_content(was) and _is_content(now) and _said(was) == _said(now)
    except ValueError:
        return False


def _is_content(value: Any) -> bool:
    parts = value.get("parts") if isinstance(value, dict) else None
    return isinstance(parts, dict) or (
        isinstance(parts, list) and all(isinstance(part, dict) for part in parts)
    )


def _said(content: dict[str, Any]) -> Any:
    listed = content["parts"] if isinstance(content["parts"], list) else [content["parts"]]
    parts = ({key: part[key] for key in part if key not in SIGNATURES} for part in listed)
    return content | {"parts": [part for part in parts if part and part != {"text": ""}]}


def _left(one: StoredItem | None, other: StoredItem | None, old: Items, new: Items) -> set[str]:
    """Those without which as many of the others keep their order as with them."""
    names = {item.name for item in old} & {item.name for item in new}
    order = [item.name for item in old if item.name in names and not item.name.startswith(FRAMES)]
    places = [order.index(item.name) for item in new if item.name in order]
    kept = _longest_rising(places)
    blamed = {item.name for item in (one, other) if item is not None}
    return {
        name for name in blamed
        if name in order and _longest_rising([at for at in places if order[at] != name]) == kept
    } or blamed  # fmt: skip


def _longest_rising(values: Sequence[int]) -> int:
    lengths: list[int] = []
    for at, value in enumerate(values):
        shorter = (length for known, length in zip(values[:at], lengths, strict=True) if known < value)
        lengths.append(1 + max(shorter, default=0))
    return max(lengths, default=0)
