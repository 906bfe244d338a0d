"""Maps of prompt arguments: merged, copied, and their dotted keys expanded (reference A3)."""

import copy
from collections.abc import Mapping
from typing import Any

DEEPEST = 20
"""Levels of a map of arguments."""


def merge_maps(*maps: Mapping[str, Any]) -> dict[str, Any]:
    """A new map: the later value wins, two maps are merged, anything else is replaced whole."""
    merged: dict[str, Any] = {}
    for each in maps:
        for key, value in each.items():
            if isinstance(value, Mapping):
                before = merged.get(key)
                merged[key] = merge_maps(before if isinstance(before, Mapping) else {}, value)
            else:
                merged[key] = value
    return merged


def clone(value: Any) -> Any:
    """A copy that shares nothing, lists included."""
    return copy.deepcopy(value)


def expand_dotted(values: Mapping[str, Any]) -> dict[str, Any]:
    """`{"a.b": 1}` becomes `{"a": {"b": 1}}`.

    Plain keys come first, then dotted ones in lexical order. A value that is there already is
    kept, a scalar on the way becomes a map, and a blank segment ends that key where it stands.
    """
    expanded: dict[str, Any] = {}
    for key, value in values.items():
        if "." not in key:
            expanded[key] = expand_dotted(value) if isinstance(value, Mapping) else value
    for key in sorted(key for key in values if "." in key):
        value = values[key]
        _place(expanded, key.split("."), expand_dotted(value) if isinstance(value, Mapping) else value)
    return expanded


def _place(values: dict[str, Any], segments: list[str], value: Any) -> None:
    *parents, leaf = segments
    for segment in parents:
        if not segment.strip():
            return
        below = values.get(segment)
        if not isinstance(below, dict):
            below = values[segment] = {}
        values = below
    if leaf.strip():
        values.setdefault(leaf, value)


def depth_of(value: Any) -> int:
    """Levels of maps, lists and dotted keys; stops looking just beyond the deepest that is allowed."""
    deepest, pending = 0, [(value, 1)]
    while pending and deepest <= DEEPEST:
        one, level = pending.pop()
        deepest = max(deepest, level)
        if isinstance(one, dict):
            pending += [(below, level + 1 + key.count(".")) for key, below in one.items()]
        elif isinstance(one, list):
            pending += [(below, level + 1) for below in one]
    return deepest
