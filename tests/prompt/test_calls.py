from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.calls import CallAssembler, FunctionCall, calls_of, with_assembled_calls
from tests.prompt.examples import SIGNATURE, call, text


def opening(name: str = "cook") -> dict[str, Any]:
    return {"functionCall": {"name": name, "willContinue": True}}


def partial(path: str, *, more: bool = False, **value: Any) -> dict[str, Any]:
    piece = {"jsonPath": path, **value, "willContinue": more}
    return {"functionCall": {"partialArgs": [piece], "willContinue": True}}


CLOSING: dict[str, Any] = {"functionCall": {}}


def args_of(*parts: dict[str, Any]) -> dict[str, Any]:
    (only,) = calls_of([opening(), *parts])
    return only.args


def test_parallel_calls_are_counted_from_zero() -> None:
    found = calls_of([call("a", x=1), call("b")])
    assert found == (FunctionCall(0, "", "a", {"x": 1}), FunctionCall(1, "", "b", {}))


def test_an_id_is_kept() -> None:
    assert calls_of([{"functionCall": {"name": "a", "id": "k3"}}])[0].id == "k3"


def test_a_text_in_pieces_is_joined() -> None:
    pieces = (
        partial("$.city", stringValue="New ", more=True),
        partial("$.city", stringValue="York", more=True),
        partial("$.city", stringValue=""),
    )
    assert args_of(*pieces, CLOSING) == {"city": "New York"}


def test_nested_paths_build_objects_and_lists() -> None:
    pieces = (
        partial("$.recipe.steps[0].name", stringValue="boil"),
        partial("$.recipe.steps[1].minutes", numberValue=5),
        partial("$.recipe['a.b']", boolValue=True),
    )
    assert args_of(*pieces) == {"recipe": {"steps": [{"name": "boil"}, {"minutes": 5}], "a.b": True}}


def test_pieces_come_back_to_an_item_of_a_list() -> None:
    pieces = (
        partial("$.rows[0].name", stringValue="a"),
        partial("$.rows[0].count", numberValue=1),
        partial("$.words[1]", stringValue="New ", more=True),
        partial("$.words[1]", stringValue="York"),
    )
    assert args_of(*pieces) == {"rows": [{"name": "a", "count": 1}], "words": [None, "New York"]}


def test_a_piece_without_a_value_changes_nothing() -> None:
    assert args_of(partial("$.x", stringValue="a", more=True), partial("$.x"), partial("$.y")) == {"x": "a"}


def test_arguments_of_the_opening_part_stand_beside_those_of_the_pieces() -> None:
    begun = {"functionCall": {"name": "cook", "args": {"cups": 2}, "willContinue": True}}
    pieces = [begun, partial("$.dish", stringValue="soup"), CLOSING]
    assert with_assembled_calls(pieces) == [call("cook", cups=2, dish="soup")]


@pytest.mark.parametrize(
    ("between", "is_over"),
    [(text(""), False), (text("So:"), True), (text("", thoughtSignature="AAEC"), True)],
)
def test_what_says_something_ends_the_call_before_it(between: dict[str, Any], is_over: bool) -> None:
    assembler = CallAssembler()
    assert assembler.add(opening()) == [] and assembler.is_open
    assert bool(assembler.add(between)) is is_over and assembler.is_open is not is_over


def test_a_null_is_a_null() -> None:
    assert args_of(partial("$.x", nullValue="NULL_VALUE")) == {"x": None}


def test_a_missing_closing_part_loses_nothing() -> None:
    assert args_of(partial("$.x", numberValue=1), text("")) == {"x": 1}


def test_a_named_part_closes_the_call_before_it() -> None:
    found = calls_of([opening("a"), partial("$.x", numberValue=1), opening("b"), CLOSING])
    assert [(each.name, each.args) for each in found] == [("a", {"x": 1}), ("b", {})]


def test_a_stray_closing_part_is_no_call() -> None:
    assert calls_of([CLOSING, text("hi")]) == ()


@pytest.mark.parametrize("path", ["", "$", "$[0]", "$.x[999999999]", 7, None])
def test_a_path_that_leads_nowhere_is_ignored(path: Any) -> None:
    assert args_of({"functionCall": {"partialArgs": [{"jsonPath": path, "numberValue": 1}, "odd"]}}) == {}


@given(st.lists(st.tuples(st.sampled_from(["$.a", "$.a.b", "$.a[1]", "$.a[0].b", "$.c"]), st.integers())))
def test_contradicting_paths_never_raise(pieces: list[tuple[str, int]]) -> None:
    assert len(calls_of([opening(), *(partial(path, numberValue=value) for path, value in pieces)])) == 1


def test_a_value_that_was_finished_is_replaced_not_prolonged() -> None:
    assert args_of(partial("$.x", stringValue="a"), partial("$.x", stringValue="b")) == {"x": "b"}


def test_pieces_become_one_part_where_the_opening_part_stood() -> None:
    signed = opening() | {"thoughtSignature": SIGNATURE}
    pieces = [text("Now."), signed, partial("$.n", numberValue=1), CLOSING, opening("b"), CLOSING]
    assert with_assembled_calls(pieces) == [text("Now."), call("cook", SIGNATURE, n=1), call("b")]


def test_a_call_without_arguments_that_came_whole_is_not_touched() -> None:
    whole = {"functionCall": {"name": "a"}, "thoughtSignature": SIGNATURE}
    assert with_assembled_calls([whole, opening("b"), CLOSING]) == [whole, call("b")]


def test_a_signature_on_a_later_piece_goes_to_the_call() -> None:
    signed = CLOSING | {"thoughtSignature": SIGNATURE}
    assert with_assembled_calls([opening(), signed]) == [call("cook", SIGNATURE)]


def test_a_second_signature_of_one_call_stays_a_part_of_its_own() -> None:
    pieces = [opening() | {"thoughtSignature": SIGNATURE}, CLOSING | {"thoughtSignature": "AAEC"}]
    assert with_assembled_calls(pieces) == [call("cook", SIGNATURE), {"thoughtSignature": "AAEC"}]


def test_a_signature_that_each_piece_repeats_is_one() -> None:
    pieces = [
        one | {"thoughtSignature": SIGNATURE} for one in (opening(), partial("$.n", numberValue=1), CLOSING)
    ]
    assert with_assembled_calls(pieces) == [call("cook", SIGNATURE, n=1)]


@given(
    st.lists(
        st.sampled_from([opening("a"), partial("$.x", numberValue=1), CLOSING, call("c", y=2), text("")])
    )
)
def test_putting_calls_together_changes_no_call_and_is_done_once(parts: list[dict[str, Any]]) -> None:
    told = with_assembled_calls(parts)
    assert calls_of(told) == calls_of(parts)
    assert with_assembled_calls(told) == told
