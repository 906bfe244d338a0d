"""The four rules of seed 3 with every oracle sequence (reference A5), and Gemini's rules of structure."""

from typing import Any

import pytest

from sessions_app.error_codes import RefusalCode
from sessions_app.errors import PromptError
from sessions_app.prompt.history import HistoryMessage, HistoryRule, validate, verify_structure, violations
from sessions_app.prompt.remarks import RemarkCode
from sessions_app.prompt.turns import Turn, TurnKind, user_task
from tests.prompt.examples import SIGNATURE, TOOL_LOOP, answer, answers, call, calling, content, text

U = HistoryMessage("user")
A = HistoryMessage("assistant")


def asks(*ids: str) -> HistoryMessage:
    return HistoryMessage("assistant", ids)


def tells(*ids: str) -> HistoryMessage:
    return HistoryMessage("tool", ids)


VALID = {
    "nothing": (),
    "U": (U,),
    "U A": (U, A),
    "A A U U": (A, A, U, U),
    "U A[tc1] T[tc1] A": (U, asks("tc1"), tells("tc1"), A),
    "A[t1] T[t1]": (asks("t1"), tells("t1")),
    "A[a] T[a,a]": (asks("a"), tells("a", "a")),
    "A[blank,a] T[a]": (asks("", "a"), tells("a")),
    "A[spaced] T[a]": (asks(" a "), tells("a")),
    "A[a,b] T[b,a]": (asks("a", "b"), tells("b", "a")),
}

BROKEN = {
    "A[tc1] U": ((asks("tc1"), U), 0, HistoryRule.UNANSWERED),
    "A[t1] last": ((asks("t1"),), 0, HistoryRule.UNANSWERED),
    "A[tc1] T[tc2]": ((asks("tc1"), tells("tc2")), 0, HistoryRule.IDS),
    "T[tc1]": ((tells("tc1"),), 0, HistoryRule.ORPHAN),
    "U T[x]": ((U, tells("x")), 1, HistoryRule.ORPHAN),
    "A T[x]": ((A, tells("x")), 1, HistoryRule.ORPHAN),
    "A[tc1] T[tc1] U": ((asks("tc1"), tells("tc1"), U), 1, HistoryRule.SEQUENCE),
    "A[tc1] T[tc1] T[tc1]": ((asks("tc1"), tells("tc1"), tells("tc1")), 1, HistoryRule.SEQUENCE),
    "A[a,b] T[a]": ((asks("a", "b"), tells("a")), 0, HistoryRule.IDS),
    "A[a] T[a,b]": ((asks("a"), tells("a", "b")), 0, HistoryRule.IDS),
    "T[a] U A[a]": ((tells("a"), U, asks("a")), 0, HistoryRule.ORPHAN),
    "T[] then U": ((tells(), U), 0, HistoryRule.ORPHAN),
    "A[t1] then follow-up": ((U, asks("t1")), 1, HistoryRule.UNANSWERED),
}


@pytest.mark.parametrize("name", VALID)
def test_a_valid_sequence_passes(name: str) -> None:
    assert validate(VALID[name]) == ()


@pytest.mark.parametrize("name", BROKEN)
def test_the_first_breach_is_the_oracles(name: str) -> None:
    messages, index, rule = BROKEN[name]
    first = validate(messages)[0]
    assert (first.index, first.rule) == (index, rule)


def test_a_missing_result_is_named_before_an_orphan() -> None:
    assert validate((asks("tc1"), tells("tc2")))[0].figures["missing"] == "tc1"


def test_an_orphan_is_named_when_nothing_is_missing() -> None:
    assert validate((asks("a"), tells("a", "b")))[0].figures["unasked"] == "b"


def test_every_breach_is_found_in_order() -> None:
    found = validate((asks("t"), U, tells("x"), U))
    assert [one.rule for one in found] == [HistoryRule.UNANSWERED, HistoryRule.ORPHAN, HistoryRule.SEQUENCE]


HI = user_task("1", "Hi")
ASKS = calling("2", call("f"))

REFUSED = {
    HistoryRule.EMPTY: (HI, Turn("2", TurnKind.MODEL_RESPONSE, content("model"))),
    HistoryRule.MISPLACED: (HI, Turn("2", TurnKind.USER_TASK, content("user", call("f")))),
    HistoryRule.CALL_AFTER_MODEL: (HI, answer("2"), calling("3", call("f")), answers("4", "f")),
    HistoryRule.COUNT: (
        HI,
        calling("2", {"functionCall": {"id": "a", "name": "f"}}),
        Turn(
            "3",
            TurnKind.TOOL_RESPONSE,
            content("user", *[{"functionResponse": {"id": "a", "name": "f", "response": {}}}] * 2),
        ),
    ),
    HistoryRule.ORDER: (HI, calling("2", call("f"), call("g")), answers("3", "g", "f")),
    HistoryRule.IDS: (HI, calling("2", call("f"), call("f")), answers("3", "f")),
    HistoryRule.ORPHAN: (answers("1", "f"),),
    HistoryRule.SEQUENCE: (HI, ASKS, answers("3", "f"), user_task("4", "Now?")),
    HistoryRule.UNANSWERED: (HI, ASKS),
}


@pytest.mark.parametrize("rule", REFUSED)
def test_turns_are_judged_by_both_sets_of_rules(rule: HistoryRule) -> None:
    assert violations(REFUSED[rule])[0].rule is rule


def test_a_tool_loop_is_valid_without_any_ids() -> None:
    assert violations(TOOL_LOOP) == ()


def named(name: str, call_id: str = "") -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": {}} | ({"id": call_id} if call_id else {})}


def results(*given: tuple[str, str]) -> Turn:
    told = ({"name": name, "response": {}} | ({"id": one} if one else {}) for name, one in given)
    return Turn("9", TurnKind.TOOL_RESPONSE, content("user", *({"functionResponse": one} for one in told)))


EVERY: dict[str, tuple[tuple[Turn, ...], list[tuple[int, HistoryRule]]]] = {
    "no results": ((HI, ASKS), [(1, HistoryRule.UNANSWERED)]),
    "no calls": (
        (
            HI,
            results(("f", "")),
        ),
        [(1, HistoryRule.ORPHAN)],
    ),
    "one of two": (
        (HI, calling("2", named("f"), named("f")), results(("f", ""))),
        [(1, HistoryRule.IDS), (2, HistoryRule.COUNT)],
    ),
    "ids that were left out": (
        (HI, calling("2", named("f", "a"), named("g", "b")), results(("f", ""), ("g", ""))),
        [],
    ),
    "ids of the program's": ((HI, calling("2", named("f"), named("g")), results(("f", "a"), ("g", "b"))), []),
    "one id of two": ((HI, calling("2", named("f", "a"), named("f")), results(("f", "a"), ("f", "b"))), []),
    "one result with its id": (
        (HI, calling("2", named("f", "a"), named("f", "b")), results(("f", "a"), ("f", ""))),
        [],
    ),
    "an empty turn before": (
        (Turn("0", TurnKind.USER_TASK, content("user")), ASKS),
        [(0, HistoryRule.EMPTY), (1, HistoryRule.UNANSWERED)],
    ),
    "ids with blanks": ((HI, calling("2", named("f", " a ")), results(("f", "a"))), []),
    "two answers in a row": ((HI, answer("2"), answer("3"), HI), []),
    "an empty part among others": (
        (HI, answer("2"), Turn("3", TurnKind.USER_TASK, content("user", text("x"), {}))),
        [(2, HistoryRule.EMPTY)],
    ),
    "nothing but calls": ((ASKS,), [(0, HistoryRule.UNANSWERED)]),
    "a message in place of results": ((HI, ASKS, HI), [(1, HistoryRule.UNANSWERED)]),
}


@pytest.mark.parametrize("name", EVERY)
def test_each_breach_is_told_once_and_nothing_else_is(name: str) -> None:
    turns, expected = EVERY[name]
    assert [(one.index, one.rule) for one in violations(turns)] == expected


def test_the_figures_name_a_missing_result_by_its_number() -> None:
    asked = calling("2", named("f"), named("f"), named("g"))
    figures = violations((HI, asked, results(("f", ""), ("g", ""))))[0].figures
    assert figures == {"what": "call", "named": "“f”, “f”, “g”", "missing": "f (2)"}
    (orphan,) = violations((HI, answer("2"), results(("f", ""))))
    assert orphan.figures == {"what": "results", "named": "“f”"}


@pytest.mark.parametrize(("length", "is_cut"), [(60, False), (61, True)])
def test_a_quotation_says_where_it_is_cut(length: int, is_cut: bool) -> None:
    broken = (
        HI,
        ASKS,
        answers("3", "f"),
        Turn("4", TurnKind.USER_TASK, content("user", text(""), text("x" * length))),
    )
    assert violations(broken)[0].figures["named"] == f"“{'x' * 60}{'…' if is_cut else ''}”"


def test_the_figures_quote_what_a_person_can_find() -> None:
    broken = (HI, ASKS, answers("3", "f"), user_task("4", "And   tomorrow? " + "x" * 80))
    figures = violations(broken)[0].figures
    assert (figures["what"], figures["before_what"]) == ("message", "results")
    assert figures["named"].startswith("“And tomorrow? xxx") and figures["before_named"] == "“f”"


def test_a_text_among_the_results_is_no_breach() -> None:
    told = content("user", *[{"functionResponse": {"name": "f", "response": {}}}, text("and so on")])
    assert violations((HI, ASKS, Turn("3", TurnKind.TOOL_RESPONSE, told))) == ()


GREETING = user_task("1", "Hi")
ONE_CALL = calling("2", call("f", SIGNATURE))

REFUSED_TURNS = {
    RefusalCode.NO_TURNS: ((),),
    RefusalCode.EMPTY_TURN: (
        (GREETING, Turn("2", TurnKind.MODEL_RESPONSE, content("model"), "r"), GREETING),
    ),
    RefusalCode.EMPTY_PART: ((Turn("1", TurnKind.USER_TASK, content("user", text("x"), {})),),),
    RefusalCode.ENDS_WITH_MODEL: ((GREETING, answer("2")),),
    RefusalCode.UNANSWERED_CALLS: ((GREETING, ONE_CALL, user_task("3", "x")),),
    RefusalCode.BEGINS_WITH_RESULTS: ((answers("1", "f"), GREETING),),
    RefusalCode.UNASKED_RESULTS: ((GREETING, answers("2", "f")),),
    RefusalCode.UNEQUAL_RESULTS: (
        (GREETING, calling("2", call("a", SIGNATURE), call("b")), answers("3", "a")),
    ),
    RefusalCode.UNORDERED_RESULTS: (
        (GREETING, calling("2", call("a", SIGNATURE), call("b")), answers("3", "b", "a")),
    ),
    RefusalCode.CALLS_AFTER_MODEL: (
        (GREETING, answer("2"), calling("3", call("f", SIGNATURE)), answers("4", "f")),
    ),
    RefusalCode.RESULTS_OF_MODEL: (
        (
            GREETING,
            ONE_CALL,
            calling("3", {"functionResponse": {"name": "f", "response": {}}}),
            user_task("4", "x"),
        ),
    ),
    RefusalCode.UNSIGNED_FIRST_CALL: ((GREETING, calling("2", call("f")), answers("3", "f")),),
}


FIGURES: dict[RefusalCode, dict[str, Any]] = {
    RefusalCode.EMPTY_TURN: {"turn": "2"},
    RefusalCode.EMPTY_PART: {"turn": "1"},
    RefusalCode.UNANSWERED_CALLS: {"turn": "2"},
    RefusalCode.UNASKED_RESULTS: {"turn": "2"},
    RefusalCode.UNEQUAL_RESULTS: {"turn": "2", "following": "3", "calls": 2, "results": 1},
    RefusalCode.UNORDERED_RESULTS: {"turn": "3"},
    RefusalCode.CALLS_AFTER_MODEL: {"turn": "3"},
    RefusalCode.RESULTS_OF_MODEL: {"turn": "3"},
    RefusalCode.UNSIGNED_FIRST_CALL: {"turn": "2", "part": 0},
}
"""By the keys of the turns above: which turn a person has to look at."""


@pytest.mark.parametrize("reason", REFUSED_TURNS)
def test_what_the_provider_would_refuse_is_refused_with_its_reason(reason: RefusalCode) -> None:
    with pytest.raises(PromptError) as refused:
        verify_structure(REFUSED_TURNS[reason][0], required=True)
    assert refused.value.reason is reason
    assert refused.value.figures == FIGURES.get(reason, {})


def test_interleaved_parallel_answers_are_refused() -> None:
    turns = (
        GREETING,
        calling("2", call("a", SIGNATURE)),
        answers("3", "a"),
        calling("4", call("b")),
        answers("5", "b"),
    )
    with pytest.raises(PromptError) as refused:
        verify_structure(turns, required=True)
    assert (refused.value.reason, refused.value.figures) == (
        RefusalCode.UNSIGNED_FIRST_CALL,
        {"turn": "4", "part": 0},
    )


def test_a_tool_loop_passes() -> None:
    assert verify_structure(TOOL_LOOP, required=True) == ()


def test_an_unsigned_answer_is_told_and_sent() -> None:
    unsigned = Turn(
        "2", TurnKind.MODEL_RESPONSE, content("model", text("Hm.", thought=True), text("Hello.")), "r"
    )
    (told,) = verify_structure((GREETING, unsigned, user_task("3", "More")), required=True)
    assert (told.code, told.turn) == (RemarkCode.UNSIGNED_ANSWER, "2")


def test_calls_of_past_turns_need_no_signature() -> None:
    past = (GREETING, calling("2", call("f")), answers("3", "f"), answer("4"))
    assert verify_structure((*past, user_task("5", "More")), required=True) == ()


def test_a_model_that_does_not_demand_signatures_takes_unsigned_calls() -> None:
    findings = verify_structure((GREETING, calling("2", call("f")), answers("3", "f")), required=False)
    assert findings == ()


def test_a_text_beside_the_calls_is_no_problem() -> None:
    step = calling("2", text("One moment."), call("f", SIGNATURE), text(""))
    assert verify_structure((GREETING, step, answers("3", "f")), required=True) == ()
