"""What a repair does to a broken history, and the laws it keeps on any history."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.history import verify_structure, violations
from sessions_app.prompt.parts import raw_parts, text_of
from sessions_app.prompt.remarks import RemarkCode
from sessions_app.prompt.repair import CONTINUE_TEXT, repair
from sessions_app.prompt.signatures import current_turn_start, signatures_of
from sessions_app.prompt.turns import FILLER, Turn, TurnKind, user_task
from tests.prompt.examples import SIGNATURE, TOOL_LOOP, answer, answers, call, calling, content, text

HI = user_task("1", "Hi")


def told(turns: tuple[Turn, ...]) -> str:
    """A history in one line: `U`, `A`, `A[f]`, `T[f]`, an error result as `!f`, a filler as `ok`."""
    return " ".join(_told(turn) for turn in turns)


def _told(turn: Turn) -> str:
    parts = raw_parts(turn.wire)
    calls = [part["functionCall"]["name"] for part in parts if "functionCall" in part]
    results = [part["functionResponse"] for part in parts if "functionResponse" in part]
    if turn.wire == FILLER:
        return "ok"
    if results:
        return f"T[{','.join(('!' if 'error' in one['response'] else '') + one['name'] for one in results)}]"
    return (f"A[{','.join(calls)}]" if calls else "A") if turn.kind.is_model else "U"


def result(name: str, ident: str = "") -> dict[str, Any]:
    return {"functionResponse": {**({"id": ident} if ident else {}), "name": name, "response": {"result": 1}}}


def tells(key: str, *parts: dict[str, Any]) -> Turn:
    return Turn(key, TurnKind.TOOL_RESPONSE, content("user", *parts))


CASES = {
    "unanswered, then a text": ((calling("2", call("f")), user_task("3", "x")), "A[f] T[!f] ok U"),
    "unanswered, last": ((HI, calling("2", text("Wait."), call("f"))), "U A[f] T[!f]"),
    "a stray and a gap": (
        (
            calling("1", call("f")),
            answers("2", "x"),
            calling("3", call("g")),
            answers("4", "f", "g"),
        ),
        "A[f] T[!f] A[g] T[g]",
    ),
    "orphans are dropped": ((HI, answers("2", "x"), answer("3"), HI), "U A U"),
    "a ghost is dropped, the text kept": ((answer("1"), tells("2", result("g"), text("Hi"))), "A U"),
    "a message after results": (
        (HI, calling("2", call("f")), answers("3", "f"), user_task("4", "x")),
        "U A[f] T[f] ok U",
    ),
    "one of two": ((calling("1", call("f"), call("g")), answers("2", "g")), "A[f,g] T[!f,g]"),
    "out of order": ((calling("1", call("f"), call("g")), answers("2", "g", "f")), "A[f,g] T[f,g]"),
    "a call after an answer": ((answer("1"), calling("2", call("f")), answers("3", "f")), "A U A[f] T[f]"),
    "an empty turn": ((HI, Turn("2", TurnKind.MODEL_RESPONSE, content("model")), HI), "U U"),
    "a call in a message": ((Turn("1", TurnKind.USER_TASK, content("user", call("f"), text("x"))),), "U"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_broken_history_is_mended(name: str) -> None:
    turns, mended = CASES[name]
    repaired, repairs = repair(turns)
    assert told(repaired) == mended and repairs


REMARKS: dict[str, list[tuple[str, RemarkCode]]] = {
    "unanswered, then a text": [("2", RemarkCode.CALL_UNANSWERED), ("3", RemarkCode.ANSWER_INSERTED)],
    "unanswered, last": [("2", RemarkCode.CALL_UNANSWERED)],
    "a stray and a gap": [
        ("2", RemarkCode.CALL_UNANSWERED),
        ("2", RemarkCode.RESULT_UNASKED),
        ("4", RemarkCode.RESULT_UNASKED),
    ],
    "orphans are dropped": [("2", RemarkCode.TURN_ORPHANED)],
    "a ghost is dropped, the text kept": [("2", RemarkCode.RESULTS_ORPHANED)],
    "a message after results": [("4", RemarkCode.ANSWER_INSERTED)],
    "one of two": [("2", RemarkCode.CALL_UNANSWERED)],
    "out of order": [("2", RemarkCode.RESULTS_REORDERED)],
    "a call after an answer": [("2", RemarkCode.MESSAGE_INSERTED)],
    "an empty turn": [("2", RemarkCode.TURN_EMPTY)],
    "a call in a message": [("1", RemarkCode.PARTS_REMOVED)],
}


@pytest.mark.parametrize("name", CASES)
def test_each_repair_says_what_it_did_and_to_which_turn(name: str) -> None:
    _, repairs = repair(CASES[name][0])
    assert [(one.turn, one.code) for one in repairs] == REMARKS[name]


def test_the_message_between_an_answer_and_a_call_asks_to_go_on() -> None:
    repaired, _ = repair((answer("1"), calling("2", call("f")), answers("3", "f")))
    assert repaired[1].kind is TurnKind.USER_TASK and text_of(repaired[1].wire) == CONTINUE_TEXT


def test_a_text_whose_results_nobody_asked_for_is_a_message() -> None:
    """Signatures are checked after the newest message, so that its kind matters."""
    steps = (HI, calling("2", call("f")), answers("3", "f"), answer("4"))
    repaired, _ = repair((*steps, tells("5", result("g"), text("And now?"))))
    assert repaired[-1].kind is TurnKind.USER_TASK and current_turn_start(repaired) == len(repaired)


def test_results_that_are_put_right_stand_before_the_other_parts() -> None:
    repaired, _ = repair((calling("1", call("f")), tells("2", text("So:"), result("g"), result("f"))))
    assert raw_parts(repaired[1].wire) == [result("f"), text("So:")]


def test_a_repair_names_the_tools() -> None:
    _, repairs = repair((calling("1", call("f"), call("g")), answers("2", "x"), calling("3", call("h"))))
    assert [one.figures.get("names") or one.figures.get("name") for one in repairs] == [
        *(["f"], ["g"]),
        "x",
        ["h"],
    ]


def test_what_is_valid_beside_a_breach_keeps_its_bytes() -> None:
    """A text before its results, a space in an id and two answers in a row."""
    asks = calling("2", {"functionCall": {"id": " a ", "name": "f"}})
    valid = (HI, asks, tells("3", text("So:"), result("f", "a")), answer("4"), answer("5"), HI)
    repaired, repairs = repair((*valid, calling("7", call("g"))))
    assert repaired[:-2] == valid and told(repaired[-2:]) == "A[g] T[!g]"
    assert [one.turn for one in repairs] == ["7"]


def test_a_stand_in_has_the_same_key_and_bytes_each_time() -> None:
    turns = (calling("2", call("f")), user_task("3", "x"))
    assert repair(turns) == repair(turns)


def test_results_with_ids_are_matched_by_id() -> None:
    asks = calling(
        "1",
        {"functionCall": {"id": "a", "name": "f"}},
        {"functionCall": {"id": "b", "name": "f"}},
        {"functionCall": {"id": "c", "name": "g"}},
    )
    repaired, _ = repair((asks, tells("2", result("f", "b"), result("f", "a"))))
    responses = [part["functionResponse"] for part in raw_parts(repaired[1].wire)]
    assert [(one["id"], "error" in one["response"]) for one in responses] == [
        ("a", False),
        ("b", False),
        ("c", True),
    ]


def test_a_result_with_an_id_is_not_given_to_a_call_without_one() -> None:
    """The model gave an id to one of two calls of one function."""
    asks = calling("1", call("f"), {"functionCall": {"id": "a", "name": "f"}}, call("g"))
    repaired, repairs = repair((asks, tells("2", result("f", "a"), result("f"))))
    responses = [part["functionResponse"] for part in raw_parts(repaired[1].wire)]
    assert [one.get("id", "") for one in responses] == ["", "a", ""]
    assert [(one.code, one.figures["names"]) for one in repairs] == [("call_unanswered", ["g"])]


def test_a_result_with_the_id_of_a_call_and_another_name_is_none_of_it() -> None:
    asks = calling("1", {"functionCall": {"id": "a", "name": "f"}})
    repaired, _ = repair((asks, tells("2", result("g", "a"))))
    assert told(repaired) == "A[f] T[!f]" and not violations(repaired)


names = st.sampled_from("fg")
signed = st.sampled_from(["", SIGNATURE])
ids = st.sampled_from(["", "a", "b", " a "])


@st.composite
def contents(draw: st.DrawFn) -> tuple[TurnKind, bytes]:
    kind = draw(st.sampled_from(list(TurnKind)))
    words = st.builds(text, st.sampled_from(["", "one", "two"]))
    asks = st.builds(lambda name, mark, i: _with_id(call(name, mark), i), names, signed, ids)
    gives = st.builds(result, names, ids)
    any_part = st.one_of(words, asks, gives, st.just({}))
    usual = {TurnKind.FUNCTION_CALLING: asks, TurnKind.TOOL_RESPONSE: gives}.get(kind, words)
    parts = draw(st.lists(usual | any_part if draw(st.booleans()) else usual, max_size=3))
    return kind, content(kind.role, *parts)


def _with_id(part: dict[str, Any], ident: str) -> dict[str, Any]:
    return {**part, "functionCall": {**part["functionCall"], **({"id": ident} if ident else {})}}


histories = st.lists(contents(), max_size=7).map(
    lambda found: tuple(Turn(str(at), kind, wire) for at, (kind, wire) in enumerate(found))
)


@given(histories)
def test_a_repaired_history_is_valid_and_repairing_it_again_changes_nothing(turns: tuple[Turn, ...]) -> None:
    repaired, _ = repair(turns)
    assert violations(repaired) == ()
    assert repair(repaired) == (repaired, ())


@given(histories)
def test_a_repaired_history_passes_the_last_look(turns: tuple[Turn, ...]) -> None:
    repaired, _ = repair(turns)
    if repaired and not repaired[-1].kind.is_model:
        verify_structure(repaired, required=False)


@given(histories)
def test_what_is_valid_is_not_touched(turns: tuple[Turn, ...]) -> None:
    if not violations(turns):
        assert repair(turns) == (turns, ())


@given(histories)
def test_every_text_and_the_order_survive(turns: tuple[Turn, ...]) -> None:
    repaired, _ = repair(turns)
    mended = {turn.key: turn for turn in repaired}
    known = [turn.key for turn in repaired if turn.key in {one.key for one in turns}]
    assert known == sorted(known, key=int)
    for turn in turns:
        assert not text_of(turn.wire) or text_of(mended[turn.key].wire) == text_of(turn.wire)


@given(histories)
def test_every_signature_of_the_model_survives(turns: tuple[Turn, ...]) -> None:
    repaired, _ = repair(turns)
    mended = {turn.key: turn for turn in repaired}
    for turn in turns:
        if turn.kind.is_model:
            before = [one.sha256 for one in signatures_of(turn.wire)]
            assert [one.sha256 for one in signatures_of(mended[turn.key].wire)] == before if before else True


def test_a_tool_loop_keeps_every_byte() -> None:
    assert repair(TOOL_LOOP) == (TOOL_LOOP, ())
