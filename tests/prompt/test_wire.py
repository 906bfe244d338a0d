import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt import wire
from tests.prompt.examples import texts


def test_a_surrogate_pair_becomes_one_character() -> None:
    assert wire.well_formed("\ud83d\ude00") == "😀"


def test_a_lone_surrogate_becomes_the_replacement_character() -> None:
    assert wire.well_formed("a\ud83db") == "a\ufffdb"


def test_it_reads_escapes_that_orjson_refuses() -> None:
    assert wire.loads(rb'{"text":"\ud83d"}') == {"text": "\ud83d"}


def test_it_raises_value_error_for_what_is_not_json() -> None:
    with pytest.raises(ValueError):
        wire.loads(b"data: no")


def test_it_writes_non_ascii_raw_and_control_characters_escaped() -> None:
    assert wire.dumps({"é": "\x00"}) == '{"é":"\\u0000"}'.encode()


def test_it_writes_numbers_of_more_than_64_bits() -> None:
    assert json.loads(wire.dumps([10**30])) == [1e30]


@pytest.mark.parametrize("written", [wire.dumps, wire.canonical])
def test_what_is_kept_of_it_takes_the_memory_of_its_length(written: Callable[[Any], bytes]) -> None:
    values = ({"text": "wört" * length} for length in (10, 1_000, 20_000))
    tracemalloc.start()
    try:
        kept = [written(value) for value in values]
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert taken < 1.1 * sum(map(len, kept))


@given(
    st.recursive(
        texts | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(texts, inner)
    )
)
def test_whatever_it_writes_is_json(value: Any) -> None:
    orjson.loads(wire.dumps(value))


@given(texts, texts)
def test_escaped_pieces_join_to_the_escaped_whole(first: str, second: str) -> None:
    first, second = wire.well_formed(first), wire.well_formed(second)
    assert wire.escaped(first) + wire.escaped(second) == wire.escaped(first + second)
