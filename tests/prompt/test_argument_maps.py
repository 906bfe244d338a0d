"""The laws and the original's examples of merging, cloning and dotted keys (reference A3)."""

from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sessions_app.prompt.argument_maps import (
    MAX_DEPTH,
    depth_of,
    dropped_paths,
    expand_dotted,
    is_default_used,
    is_within,
    leaves_of,
    merge_maps,
    over_defaults,
)
from sessions_app.prompt.arguments import MessageArguments, build_arguments

names = st.text("ab", min_size=1, max_size=2)
leaves = st.none() | st.booleans() | st.integers() | st.text(max_size=3)
trees = st.dictionaries(
    names,
    st.recursive(
        leaves, lambda inner: st.dictionaries(names, inner, max_size=3) | st.lists(inner, max_size=3)
    ),
    max_size=4,
)
dotted = st.dictionaries(st.lists(names, min_size=1, max_size=3).map(".".join), leaves, max_size=6)

MERGES = [
    ([], {}),
    ([{"a": 1}, {"a": 2}], {"a": 2}),
    ([{"a": {"x": 1, "y": 2}}, {"a": {"y": 3}}], {"a": {"x": 1, "y": 3}}),
    ([{"a": {"x": 1}}, {"a": "scalar"}], {"a": "scalar"}),
    ([{"a": "scalar"}, {"a": {"x": 1}}], {"a": {"x": 1}}),
    ([{"a": [1, 2]}, {"a": [3]}], {"a": [3]}),
]

EXPANSIONS = [
    ({"a": 1}, {"a": 1}),
    ({"message.language": "en", "message.text": "hi"}, {"message": {"language": "en", "text": "hi"}}),
    ({"message.language": "en", "message": "scalar"}, {"message": {"language": "en"}}),
    ({"message": {"language": "fr"}, "message.language": "en"}, {"message": {"language": "fr"}}),
    ({"a": {"b.c": 1}}, {"a": {"b": {"c": 1}}}),
    ({"a..b": 1}, {"a": {}}),
    ({".a": 1}, {}),
    ({"a. ": 1}, {"a": {}}),
    ({"a.b": {"c": 1}, "a.b.d": 2}, {"a": {"b": {"c": 1, "d": 2}}}),
    ({"a.b.c": 2, "a.b": {"c": 1, "d": 3}}, {"a": {"b": {"c": 1, "d": 3}}}),
    ({"a.b": {"c.d": 1}}, {"a": {"b": {"c": {"d": 1}}}}),
    ({"a. .b": 1}, {"a": {}}),
]


@pytest.mark.parametrize(("maps", "merged"), MERGES)
def test_merging_follows_the_original(maps: list[dict[str, Any]], merged: dict[str, Any]) -> None:
    assert merge_maps(*maps) == merged


@pytest.mark.parametrize(("values", "expanded"), EXPANSIONS)
def test_dotted_keys_follow_the_original(values: dict[str, Any], expanded: dict[str, Any]) -> None:
    assert expand_dotted(values) == expanded


@given(trees, trees)
def test_merging_changes_neither_map(first: dict[str, Any], second: dict[str, Any]) -> None:
    before = deepcopy((first, second))
    merged = merge_maps(first, second)
    for value in merged.values():
        if isinstance(value, dict):
            value["new"] = 1
    assert (first, second) == before


@given(trees, trees)
def test_the_values_of_the_later_map_win(first: dict[str, Any], second: dict[str, Any]) -> None:
    merged = merge_maps(first, second)
    assert merge_maps(merged, second) == merged
    assert merged.keys() == first.keys() | second.keys()


def without_empty(values: dict[str, Any]) -> dict[str, Any]:
    full = {key: without_empty(value) if isinstance(value, dict) else value for key, value in values.items()}
    return {key: value for key, value in full.items() if value not in (None, "")}


@given(trees, trees)
def test_only_empty_values_stand_behind_defaults(values: dict[str, Any], defaults: dict[str, Any]) -> None:
    merged = over_defaults(values, defaults)
    assert merged.keys() == values.keys() | defaults.keys()
    assert without_empty(merged) == without_empty(merge_maps(defaults, without_empty(values)))


@given(trees)
def test_the_map_shares_nothing_with_nested_arguments(values: dict[str, Any]) -> None:
    before = repr(values)
    spoil(build_arguments(datetime.now(UTC), None, None, MessageArguments(), values).values)
    assert repr(values) == before


def spoil(value: Any) -> None:
    """Changes every list and map in it."""
    below = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    for each in below:
        spoil(each)
    if isinstance(value, dict | list):
        value.clear()


@given(dotted)
def test_no_dot_is_left_and_expanding_twice_is_once(values: dict[str, Any]) -> None:
    expanded = expand_dotted(values)
    assert not any("." in key for key in keys_of(expanded))
    assert expand_dotted(expanded) == expanded


@given(trees)
def test_maps_without_dots_stay_as_they_are(values: dict[str, Any]) -> None:
    assert expand_dotted(values) == values


@given(dotted)
def test_the_order_of_the_keys_does_not_matter(values: dict[str, Any]) -> None:
    assert expand_dotted(dict(reversed(values.items()))) == expand_dotted(values)


@pytest.mark.parametrize(
    ("values", "pairs"),
    [
        ({"who": "Ada", "who.x": 1}, [("who", "who.x")]),
        ({"a": {"b": 1}, "a.b.c": 2}, [("a.b", "a.b.c")]),
        ({"a": {"b": 1}, "a.b": 2}, [("a.b", "a.b")]),
        ({"a": {"b": 1}, "a.c": 2, "ab": 3, "a..b": 4}, []),
        # A value that stands already is kept, whatever stands below the other.
        ({"a": {"b": 5}, "a.b": {"c": 1}}, [("a.b.c", "a.b")]),
        ({"a": {"b": {"d": 1}}, "a.b": {"c": 2}}, [("a.b.c", "a.b.d")]),
        ({"a": {"b": {}}, "a.b": 1}, [("a.b", "a.b")]),
        ({"a": 1, "a.b": {}}, [("a", "a")]),
        ({"a": {}, "a.b": 1}, []),
    ],
)
def test_a_value_that_is_dropped_is_named(values: dict[str, Any], pairs: list[tuple[str, str]]) -> None:
    assert list(dropped_paths(values)) == pairs


@given(st.dictionaries(st.lists(names, min_size=1, max_size=3).map(".".join), st.none() | trees, max_size=6))
def test_exactly_what_is_not_named_is_kept(values: dict[str, Any]) -> None:
    numbered, paths = count(values, {})
    expanded = expand_dotted(numbered)
    dropped = list(dropped_paths(numbered))
    lost = set(paths) - set(numbers_in(expanded))
    assert sorted(name for name, _ in dropped) == sorted(paths[number] for number in lost)
    for _, other in dropped:
        below: Any = expanded
        for name in other.split("."):
            below = below[name]


def count(
    values: dict[str, Any], paths: dict[int, str], above: str = ""
) -> tuple[dict[str, Any], dict[int, str]]:
    """The maps with a number for each value, and the dotted path of each number."""
    numbered: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, dict):
            numbered[key], _ = count(value, paths, f"{above}{key}.")
        else:
            numbered[key] = len(paths)
            paths[len(paths)] = above + key
    return numbered, paths


def numbers_in(values: dict[str, Any]) -> list[int]:
    inside = [numbers_in(one) if isinstance(one, dict) else [one] for one in values.values()]
    return [number for each in inside for number in each]


@given(trees, trees)
@example({"a": ""}, {"a": {"b": 1}})
@example({"a": 0}, {"a": {"b": 1}})
def test_a_default_is_used_exactly_where_no_value_stands(
    values: dict[str, Any], defaults: dict[str, Any]
) -> None:
    marks = marked(defaults)
    merged = dict(leaves_of(over_defaults(values, marks)))
    for path, mark in leaves_of(marks):
        assert is_default_used(values, path) is (merged.get(path) is mark)


def marked(values: dict[str, Any]) -> dict[str, Any]:
    """The same maps with an object of its own for each value."""
    return {key: marked(value) if isinstance(value, dict) else object() for key, value in values.items()}


def keys_of(value: Any) -> list[str]:
    if not isinstance(value, dict):
        return []
    return [*value, *(key for below in value.values() for key in keys_of(below))]


def test_depth_counts_maps_lists_and_dots_and_stops_looking() -> None:
    assert depth_of({"a": [{"b": 1}]}) == 4
    assert depth_of({"a.b.c": 1}) == 4
    endless: dict[str, Any] = {}
    for _ in range(10_000):
        endless = {"a": endless}
    assert depth_of(endless) == MAX_DEPTH + 1


@given(trees)
def test_a_map_within_a_size_is_within_any_larger_one(tree: dict[str, Any]) -> None:
    size = next(size for size in range(10_000) if is_within(tree, size, 20))
    assert size >= 16 and is_within(tree, size + 1, 20) and not is_within(tree, size - 1, 20)
    assert not is_within([tree], size, 20) and is_within([tree], size + 16, 21)


def test_keys_and_values_count_with_sixteen_each_and_are_a_level() -> None:
    tree = {"key": ["value", 1]}
    size = 5 * 16 + len("key") + len("value")
    assert is_within(tree, size, 3) and not is_within(tree, size - 1, 3) and not is_within(tree, size, 2)


def test_a_map_that_is_too_deep_or_too_large_is_not_walked_to_its_end() -> None:
    deep: list[Any] = []
    deep.append(deep)
    assert not is_within(deep, 10**9, 50) and not is_within(["x"] * 10**6, 1_000, 50)
