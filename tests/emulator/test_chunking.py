from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sessions_app.emulator import Emulator
from sessions_app.emulator.chunking import split_arguments, split_text
from tests.emulator.helpers import Wire, declare, parts, stream, user

WEATHER = {
    "contents": [user("weather in Paris and London")],
    "tools": declare(get_current_temperature=["location"]),
    "toolConfig": {"functionCallingConfig": {"streamFunctionCallArguments": True}},
}
VALUES = st.recursive(
    st.one_of(st.text(max_size=90), st.integers(), st.booleans(), st.none()),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3), st.dictionaries(st.text("ab", min_size=1), inner, min_size=1)
    ),
    max_leaves=8,
)


def test_a_string_comes_in_pieces_and_is_closed_by_an_empty_one() -> None:
    assert split_arguments({"name": "f", "args": {"city": "Boston"}}) == [
        {"name": "f", "willContinue": True},
        {
            "partialArgs": [{"jsonPath": "$.city", "stringValue": "Boston", "willContinue": True}],
            "willContinue": True,
        },
        {"partialArgs": [{"jsonPath": "$.city", "stringValue": ""}], "willContinue": True},
        {},
    ]


def test_a_call_without_arguments_comes_whole() -> None:
    assert split_arguments({"name": "read_theme", "args": {}, "id": "a"}) == [
        {"name": "read_theme", "id": "a"}
    ]


def test_numbers_and_nested_paths_are_named() -> None:
    pieces = split_arguments({"name": "f", "args": {"a": [{"b": 2}, True, None]}})[1:-1]
    assert [piece["partialArgs"][0] for piece in pieces] == [
        {"jsonPath": "$.a[0].b", "numberValue": 2},
        {"jsonPath": "$.a[1]", "boolValue": True},
        {"jsonPath": "$.a[2]", "nullValue": None},
    ]


@given(st.dictionaries(st.text("ab", min_size=1), VALUES, min_size=1))
def test_the_pieces_hold_every_leaf(args: dict[str, Any]) -> None:
    joined: dict[str, Any] = {}
    for piece in split_arguments({"name": "f", "args": args})[1:-1]:
        value = piece["partialArgs"][0]
        path, said = value["jsonPath"], next(value[key] for key in value if key.endswith("Value"))
        joined[path] = joined.get(path, "") + said if isinstance(said, str) else said
    assert joined == dict(leaves(args, "$"))


def leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from leaves(inner, f"{path}[{index}]")
    else:
        yield path, value


def test_a_stream_of_pieces_is_signed_once_and_ends_with_an_empty_text(emulator: Emulator) -> None:
    found = [part for chunk in stream(emulator, WEATHER) for part in parts(chunk)]
    calls = [part["functionCall"] for part in found[:-1]]
    assert [call.get("name") for call in calls if "name" in call] == ["get_current_temperature"] * 2
    assert calls.count({}) == 2 and found[-1] == {"text": ""}
    assert ["thoughtSignature" in part for part in found].count(True) == 1 and "thoughtSignature" in found[0]


def test_the_marker_asks_for_pieces_too(emulator: Emulator) -> None:
    body: Wire = {**WEATHER, "toolConfig": None, "contents": [user("weather in Paris /partial")]}
    assert any("partialArgs" in str(part) for chunk in stream(emulator, body) for part in parts(chunk))


@given(
    st.text(max_size=2_000), st.sampled_from([0, 3, 100]), st.sampled_from([0, 1, 75]), st.integers(1, 200)
)
def test_chunks_join_to_the_text(text: str, pieces: int, opening: int, size: int) -> None:
    chunks = split_text(text, pieces, opening=opening, size=size)
    assert "".join(chunks) == text
    assert all(chunks) and (not pieces or len(chunks) <= pieces)


def test_a_long_text_is_cut_short_first_and_then_evenly() -> None:
    chunks = split_text("a few words " * 100)
    assert chunks[0] == "a"
    assert all(85 <= len(chunk) <= 110 for chunk in chunks[1:-1])


def test_a_chunk_ends_before_a_word_and_is_as_long_as_it_should_be() -> None:
    chunks = split_text("a few words " * 100, opening=75, size=130)
    assert 65 <= len(chunks[0]) <= 85 and all(120 <= len(chunk) <= 140 for chunk in chunks[1:-1])
    assert split_text("short", opening=75) == ["short"]
