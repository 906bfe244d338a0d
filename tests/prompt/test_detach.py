"""Detaching by the rules of Context Pilot: boundary, thresholds, loop, text (reference B1, B2, B9)."""

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.calls import CallResponse, FunctionCall
from sessions_app.prompt.detach import SEED, Thresholds, chunk_text, cuts, is_boundary, turn_tokens
from sessions_app.prompt.turns import Turn, compressed_history, tool_response, user_task
from tests.prompt.examples import TOOL_LOOP, answer, answers, call, calling, content, text

U = user_task("u", "hi")
A = answer("a")
CALL = calling("c", call("f"))
RESULT = answers("r", "f")

BOUNDARIES = {
    "U A": ((U, A), [False, True]),
    "result, U": ((RESULT, U), [True, True]),
    "result, call": ((RESULT, CALL), [False, True]),
    "result": ((RESULT,), [True]),
    "call, result, U": ((CALL, RESULT, U), [False, True, True]),
    "A, summary": ((A, compressed_history("s", "old")), [True, True]),
}


@pytest.mark.parametrize("name", BOUNDARIES)
def test_a_chunk_ends_only_before_a_user_text_or_at_the_end(name: str) -> None:
    turns, expected = BOUNDARIES[name]
    assert [is_boundary(turns, index) for index in range(len(turns))] == expected


def talk(count: int, tokens: int) -> tuple[Turn, ...]:
    """Question and answer in turn, each of that many estimated tokens."""
    words = "x" * (tokens * 33 // 10)
    return tuple(answer(str(at), words) if at % 2 else user_task(str(at), words) for at in range(count))


def test_nothing_leaves_below_fifty_turns() -> None:
    assert cuts(talk(49, 1_000), SEED) == ()


def test_nothing_leaves_below_twelve_thousand_five_hundred_tokens() -> None:
    assert cuts(talk(100, 124), SEED) == ()


@pytest.mark.parametrize(
    ("first", "rest", "ends"),
    [
        ([661] * 25, [991] * 25, (25,)),  # 661 bytes are 201 tokens, 990 are 300.
        ([660] * 25, [990] * 25, (25,)),
        ([660] * 24 + [656], [990] * 25, ()),
        ([660] * 25, [990] * 24 + [986], ()),
        ([660] * 25, [990] * 24, ()),
    ],
)
def test_all_four_minima_are_met_exactly(first: list[int], rest: list[int], ends: tuple[int, ...]) -> None:
    """25 turns of 5,000 tokens leave where 25 of 7,500 stay; a token is 3.3 bytes."""
    sizes = [*first, *rest]
    turns = [
        user_task(str(at), "x" * size) if at % 2 else answer(str(at), "x" * size)
        for at, size in enumerate(sizes)
    ]
    assert cuts(turns, SEED) == ends


def test_a_chunk_is_the_smallest_that_ends_before_a_user_text() -> None:
    assert cuts(talk(52, 300), SEED) == (26,)


def test_no_other_boundary_is_looked_for_when_too_little_would_stay() -> None:
    turns = (*talk(26, 500), *talk(26, 280))
    assert cuts(turns, SEED) == ()


def test_the_loop_goes_on_while_enough_is_left() -> None:
    assert cuts(talk(150, 400), SEED) == (26, 52, 78, 104)


def test_tokens_may_ask_for_a_longer_chunk_than_the_count() -> None:
    assert cuts(talk(102, 130), SEED) == (40,)


def test_a_chunk_that_would_say_nothing_is_not_made() -> None:
    blank = user_task("1", " " * 40)
    assert cuts((blank, blank, U), Thresholds(1, 1, 1, 0)) == ()


def test_a_tool_round_is_never_parted() -> None:
    turns = (*TOOL_LOOP, *TOOL_LOOP[1:], *TOOL_LOOP)
    assert cuts(turns, Thresholds(2, 1, 1, 0)) == (5,)


def test_the_current_run_never_leaves() -> None:
    assert cuts((U, *[CALL, RESULT] * 40), Thresholds(1, 1, 1, 0)) == ()
    assert cuts((U, A, U), Thresholds(1, 1, 0, 0)) == (2,)


def test_nothing_is_told_by_nothing() -> None:
    assert chunk_text(()) == ""


def test_a_chunk_tells_who_said_what() -> None:
    assert (
        chunk_text((user_task("1", "hello"), answer("2", "world"))) == "[user]: hello\n[assistant]: world\n"
    )


def test_a_chunk_tells_calls_and_their_results() -> None:
    ask = calling("1", text("Let me see."), call("read_file", path="a.txt"))
    told = chunk_text(
        (ask, tool_response("2", [CallResponse(FunctionCall(0, "", "read_file", {}), {"content": "a b"})]))
    )
    assert told == '[assistant]: Let me see.\ntool_call read_file({"path":"a.txt"})\na b\n'


@pytest.mark.parametrize("result", [{"error": "no", "hint": "yes"}, {"count": 3}, {"rows": ["a"]}, {}])
def test_a_result_that_is_no_text_is_told_as_json(result: dict[str, Any]) -> None:
    turn = tool_response("1", [CallResponse(FunctionCall(0, "", "f", {}), result)])
    assert chunk_text((turn,)) == json.dumps(result, separators=(",", ":")) + "\n"


def test_an_error_is_told_as_one() -> None:
    assert (
        chunk_text((tool_response("1", [CallResponse(FunctionCall(0, "", "f", {}), {"error": "no"})]),))
        == '{"error":"no"}\n'
    )


def test_a_result_of_elsewhere_that_says_nothing_is_told_as_none() -> None:
    turn = Turn("1", RESULT.kind, content("user", {"functionResponse": {"name": "f"}}))
    assert chunk_text((turn,)) == "null\n"


def test_thoughts_and_signatures_stay_behind() -> None:
    turn = calling("1", text("hm", thought=True), call("f", "c2ln"))
    assert chunk_text((turn,)) == "tool_call f({})\n"


def test_of_media_only_the_kind_is_told() -> None:
    picture = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    turn = Turn("1", U.kind, content("user", picture, text("What is it?")))
    assert chunk_text((turn,)) == "[user]: (image/png, not repeated)\nWhat is it?\n"


def test_of_files_beside_a_result_the_kinds_are_told() -> None:
    pictures = [{"inlineData": {"mimeType": mime, "data": "AAAA"}} for mime in ("image/png", "")]
    result = {"name": "f", "response": {"output": "Two."}, "parts": pictures}
    turn = Turn("1", RESULT.kind, content("user", {"functionResponse": result}))
    assert chunk_text((turn,)) == "Two.\n(image/png, not repeated)\n(a file, not repeated)\n"


def test_code_is_told_with_its_output() -> None:
    code = {"executableCode": {"code": "1+1"}}, {"codeExecutionResult": {"output": "2"}}
    told = [
        '{"executableCode":{"code":"1+1"}}',
        '{"codeExecutionResult":{"output":"2"}}',
        "It is two.",
    ]
    assert chunk_text((calling("1", *code, text("It is two.")),)) == "[assistant]: " + "\n".join(told) + "\n"


def test_tokens_count_text_name_arguments_and_result() -> None:
    assert turn_tokens(user_task("1", "hello world")) == 4
    assert turn_tokens(calling("1", call("f", a=1))) == 1 + 3
    assert (
        turn_tokens(
            tool_response("1", [CallResponse(FunctionCall(0, "", "f", {}), {"result": "hello world"})])
        )
        == 4
    )
    assert turn_tokens(user_task("1", "")) == 0


histories = st.lists(
    st.sampled_from([(U,), (U, A), (U, CALL, RESULT, A), (U, CALL, RESULT, CALL, RESULT, A)]), max_size=20
).map(lambda runs: tuple(turn for run in runs for turn in run))
limits = st.builds(Thresholds, *[st.integers(0, 12)] * 4)


@given(histories, limits)
def test_every_cut_keeps_all_four_thresholds(turns: tuple[Turn, ...], limit: Thresholds) -> None:
    places = cuts(turns, limit)
    for start, end in pairwise((0, *places)):
        assert end - start >= max(1, limit.chunk_messages) and end < len(turns)
        assert sum(map(turn_tokens, turns[start:end])) >= limit.chunk_tokens
        assert len(turns) - end >= limit.keep_messages
        assert sum(map(turn_tokens, turns[end:])) >= limit.keep_tokens
        assert turns[end].kind is U.kind


def smallest_chunk(turns: Sequence[Turn], limit: Thresholds) -> int:
    """The first end at which both thresholds of a chunk are met; 0 if what stays is too little then."""
    tokens = [turn_tokens(turn) for turn in turns]
    if (
        len(turns) < limit.chunk_messages + limit.keep_messages
        or sum(tokens) < limit.chunk_tokens + limit.keep_tokens
    ):
        return 0
    ends = [end for end in range(1, len(turns) + 1) if is_boundary(turns, end - 1)]
    enough = [end for end in ends if end >= limit.chunk_messages and sum(tokens[:end]) >= limit.chunk_tokens]
    end = enough[0] if enough else 0
    stays = len(turns) - end >= limit.keep_messages and sum(tokens[end:]) >= limit.keep_tokens
    return end if stays and any(turn.kind is U.kind for turn in turns[end:]) else 0


@given(histories, limits)
def test_each_cut_is_made_as_soon_as_the_thresholds_let_it(
    turns: tuple[Turn, ...], limit: Thresholds
) -> None:
    found, at = list[int](), 0
    while end := smallest_chunk(turns[at:], limit):
        found.append(at := at + end)
    assert cuts(turns, limit) == tuple(found)


@given(histories, limits)
def test_what_has_left_is_not_cut_again(turns: tuple[Turn, ...], limit: Thresholds) -> None:
    places = cuts(turns, limit)
    assert cuts(turns[places[-1] if places else 0 :], limit) == ()
