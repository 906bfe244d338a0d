from collections.abc import Callable, Sequence
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.call_pairing import Named, paired

CASES: dict[str, tuple[Sequence[Named], Sequence[Named], dict[int, int]]] = {
    "by id in any order": ([("x", "f"), ("y", "f")], [("y", "f"), ("x", "f")], {0: 1, 1: 0}),
    "by id whatever the name": ([("x", "f")], [("x", "")], {0: 0}),
    "by name in order": (
        [("", "f"), ("", "g"), ("", "f")],
        [("", "f"), ("", "f"), ("", "g")],
        {0: 0, 1: 2, 2: 1},
    ),
    "an id of the program's": ([("", "f"), ("", "f")], [("1", "f"), ("2", "f")], {0: 0, 1: 1}),
    "an id left out": ([("x", "f"), ("y", "g")], [("", "g"), ("", "f")], {0: 1, 1: 0}),
    "an id is no other call's": ([("", "f"), ("x", "f")], [("x", "f"), ("", "f")], {0: 1, 1: 0}),
    "without an id to one without": ([("x", "f"), ("", "f")], [("", "f"), ("", "f")], {0: 1, 1: 0}),
    "two ids that differ": ([("x", "f")], [("y", "f")], {}),
    "another name": ([("", "f")], [("", "g")], {}),
    "no result": ([("x", "f")], [], {}),
    "a result too many": ([("", "f")], [("", "f"), ("", "f")], {0: 0}),
}

some = st.lists(st.tuples(st.sampled_from(["", "x", "y"]), st.sampled_from("fg")), max_size=4)


@pytest.mark.parametrize("name", CASES)
def test_a_result_belongs_to_its_call(name: str) -> None:
    calls, results, expected = CASES[name]
    assert paired(calls, results) == expected


@given(some, some)
def test_no_result_belongs_to_two_calls_and_none_is_left_beside_a_call_that_takes_it(
    calls: list[Named], results: list[Named]
) -> None:
    pairs = paired(calls, results)
    assert len(set(pairs.values())) == len(pairs)
    for at, call in enumerate(calls):
        for place, result in enumerate(results):
            if at not in pairs and place not in pairs.values():
                assert call[1] != result[1] or (call[0] and result[0] and call[0] != result[0])


def spelled_out(calls: Sequence[Named], results: Sequence[Named]) -> dict[int, int]:
    """The rule by looking at every result for every call."""
    rules: list[Callable[[Named, Named], bool]] = [
        lambda call, result: bool(call[0]) and call[0] == result[0],
        lambda call, result: call == result and not call[0],
        lambda call, result: call[1] == result[1] and not (call[0] and result[0]),
    ]
    found: dict[int, int] = {}
    for rule in rules:
        for at, call in enumerate(calls):
            free = [one for one in range(len(results)) if one not in found.values()]
            fitting = [one for one in free if rule(call, results[one])]
            if at not in found and fitting:
                found[at] = fitting[0]
    return found


@given(some, some)
def test_the_first_that_is_left_is_taken(calls: list[Named], results: list[Named]) -> None:
    assert paired(calls, results) == spelled_out(calls, results)


@pytest.mark.parametrize("key", ["", "{}"])
def test_a_turn_of_twenty_thousand_calls_is_paired_at_once(key: str) -> None:
    calls = [(key.format(number), "f") for number in range(20_000)]
    began = process_time()
    assert paired(calls, calls) == {number: number for number in range(20_000)}
    assert process_time() - began < 5
