"""Maps of prompt arguments: merged, with dotted keys expanded, of limited depth."""

from collections.abc import Iterator, Mapping
from typing import Any

MAX_DEPTH = 20
"""Levels of nested maps and lists."""

Path = tuple[str, ...]
"""The keys on the way to a value."""


def merge_maps(*maps: Mapping[str, Any]) -> dict[str, Any]:
    """A new map: a later value replaces an earlier one, except that two maps are merged."""
    merged: dict[str, Any] = {}
    for each in maps:
        for key, value in each.items():
            if isinstance(value, Mapping):
                before = merged.get(key)
                merged[key] = merge_maps(before if isinstance(before, Mapping) else {}, value)
            else:
                merged[key] = value
    return merged


def over_defaults(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """As merge_maps(defaults, values), but an empty text or None does not replace a default (seed 3)."""
    merged = merge_maps(defaults)
    for key, value in values.items():
        before = merged.get(key)
        if isinstance(value, Mapping):
            merged[key] = over_defaults(value, before if isinstance(before, Mapping) else {})
        elif key not in merged or value not in (None, ""):
            merged[key] = value
    return merged


def is_default_used(values: Mapping[str, Any], path: Path) -> bool:
    """Whether a default at this path stands in `over_defaults(values, …)`."""
    *parents, last = path
    for parent in parents:
        below = values.get(parent, {})
        if not isinstance(below, Mapping):
            return below in (None, "")
        values = below
    return values.get(last) in (None, "")


def expand_dotted(values: Mapping[str, Any]) -> dict[str, Any]:
    """`{"a.b": 1}` becomes `{"a": {"b": 1}}`.

    Plain keys come first, then dotted ones in lexical order. An existing value is kept, a scalar on the
    path becomes a map, and a key is ignored from its first blank segment.
    """
    expanded: dict[str, Any] = {}
    for key, value in values.items():
        if "." not in key:
            expanded[key] = expand_dotted(value) if isinstance(value, Mapping) else value
    for key in sorted(key for key in values if "." in key):
        value = values[key]
        _place_value(expanded, key.split("."), expand_dotted(value) if isinstance(value, Mapping) else value)
    return expanded


def _place_value(values: dict[str, Any], segments: list[str], value: Any) -> None:
    *parents, name = segments
    for segment in parents:
        if not segment.strip():
            return
        below = values.get(segment)
        if not isinstance(below, dict):
            below = values[segment] = {}
        values = below
    if name.strip():
        values.setdefault(name, value)


def dropped_paths(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each path whose value `expand_dotted` drops, with one that stands in its place: above, below or beside
    it, or the same.
    """
    marked = _marked(values)
    expanded = expand_dotted(marked)
    kept = {id(mark) for _, mark in leaves_of(expanded)}
    for path, mark in sorted(leaves_of(marked), key=lambda leaf: leaf[0]):
        if id(mark) not in kept:
            yield ".".join(path), ".".join(_in_place_of(expanded, path))


def _marked(values: Mapping[str, Any]) -> dict[str, Any]:
    """The same maps, with an object of its own for each value."""
    return {key: _marked(value) if isinstance(value, Mapping) else object() for key, value in values.items()}


def _in_place_of(values: Mapping[str, Any], path: Path) -> Path:
    below: Any = values
    for at, segment in enumerate(path):
        if not isinstance(below, Mapping) or segment not in below:
            path = path[:at]
            break
        below = below[segment]
    first = next(leaves_of(below), None) if isinstance(below, Mapping) else None
    return path + first[0] if first else path


def leaves_of(values: Mapping[str, Any], above: Path = ()) -> Iterator[tuple[Path, Any]]:
    """What is no map, by its path; a dotted key with a blank segment has none."""
    for key, value in values.items():
        segments = tuple(key.split("."))
        if len(segments) > 1 and not all(segment.strip() for segment in segments):
            continue
        if isinstance(value, Mapping):
            yield from leaves_of(value, above + segments)
        else:
            yield above + segments, value


def depth_of(value: Any) -> int:
    """Levels of maps, lists and dotted keys; counting stops above MAX_DEPTH."""
    deepest, pending = 0, [(value, 1)]
    while pending and deepest <= MAX_DEPTH:
        one, level = pending.pop()
        deepest = max(deepest, level)
        if isinstance(one, dict):
            pending += [(below, level + 1 + key.count(".")) for key, below in one.items()]
        elif isinstance(one, list):
            pending += [(below, level + 1) for below in one]
    return deepest


def is_within(value: Any, size: int, depth: int) -> bool:
    """Whether the value has at most `size` characters, each item counted as 16 more, and `depth` levels."""
    pending = [(value, 1)]
    while pending and size >= 0:
        one, level = pending.pop()
        if level > depth:
            return False
        size -= 16 + (len(one) if isinstance(one, str) else 0)
        if isinstance(one, Mapping):
            pending += [(each, level + 1) for each in (*one.keys(), *one.values())]
        elif isinstance(one, list | tuple):
            pending += [(each, level + 1) for each in one]
    return size >= 0
