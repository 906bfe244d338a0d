"""The four rules of seed 3 with every oracle sequence (reference A5), and Gemini's rules of structure."""

import pytest

from sessions_app.prompt.history import Message, Rule, validate, violations
from sessions_app.prompt.turns import Turn, TurnKind, user_task
from tests.prompt.examples import TOOL_LOOP, answer, answers, call, calling, content, text

U = Message("user")
A = Message("assistant")


def asks(*ids: str) -> Message:
    return Message("assistant", ids)


def tells(*ids: str) -> Message:
    return Message("tool", ids)


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
    "A[tc1] U": ((asks("tc1"), U), 0, Rule.UNANSWERED),
    "A[t1] last": ((asks("t1"),), 0, Rule.UNANSWERED),
    "A[tc1] T[tc2]": ((asks("tc1"), tells("tc2")), 0, Rule.IDS),
    "T[tc1]": ((tells("tc1"),), 0, Rule.ORPHAN),
    "U T[x]": ((U, tells("x")), 1, Rule.ORPHAN),
    "A T[x]": ((A, tells("x")), 1, Rule.ORPHAN),
    "A[tc1] T[tc1] U": ((asks("tc1"), tells("tc1"), U), 1, Rule.SEQUENCE),
    "A[tc1] T[tc1] T[tc1]": ((asks("tc1"), tells("tc1"), tells("tc1")), 1, Rule.SEQUENCE),
    "A[a,b] T[a]": ((asks("a", "b"), tells("a")), 0, Rule.IDS),
    "A[a] T[a,b]": ((asks("a"), tells("a", "b")), 0, Rule.IDS),
    "T[] then U": ((tells(), U), 0, Rule.ORPHAN),
    "A[t1] then follow-up": ((U, asks("t1")), 1, Rule.UNANSWERED),
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
    assert "no tool result for “tc1”" in validate((asks("tc1"), tells("tc2")))[0].words


def test_an_orphan_is_named_when_nothing_is_missing() -> None:
    assert "answers “b”" in validate((asks("a"), tells("a", "b")))[0].words


def test_every_breach_is_found_in_order() -> None:
    found = validate((asks("t"), U, tells("x"), U))
    assert [one.rule for one in found] == [Rule.UNANSWERED, Rule.ORPHAN, Rule.SEQUENCE]


HI = user_task("1", "Hi")
ASKS = calling("2", call("f"))

REFUSED = {
    Rule.EMPTY: (HI, Turn("2", TurnKind.MODEL_RESPONSE, content("model"))),
    Rule.MISPLACED: (HI, Turn("2", TurnKind.USER_TASK, content("user", call("f")))),
    Rule.CALL_AFTER_MODEL: (HI, answer("2"), calling("3", call("f")), answers("4", "f")),
    Rule.COUNT: (
        HI,
        calling("2", {"functionCall": {"id": "a", "name": "f"}}),
        Turn(
            "3",
            TurnKind.TOOL_RESPONSE,
            content("user", *[{"functionResponse": {"id": "a", "name": "f", "response": {}}}] * 2),
        ),
    ),
    Rule.ORDER: (HI, calling("2", call("f"), call("g")), answers("3", "g", "f")),
    Rule.IDS: (HI, calling("2", call("f"), call("f")), answers("3", "f")),
    Rule.ORPHAN: (answers("1", "f"),),
    Rule.SEQUENCE: (HI, ASKS, answers("3", "f"), user_task("4", "Now?")),
    Rule.UNANSWERED: (HI, ASKS),
}


@pytest.mark.parametrize("rule", REFUSED)
def test_turns_are_judged_by_both_sets_of_rules(rule: Rule) -> None:
    assert violations(REFUSED[rule])[0].rule is rule


def test_a_tool_loop_is_valid_without_any_ids() -> None:
    assert violations(TOOL_LOOP) == ()


def test_the_words_quote_what_a_person_can_find() -> None:
    broken = (HI, ASKS, answers("3", "f"), user_task("4", "And   tomorrow? " + "x" * 80))
    words = violations(broken)[0].words
    assert words.startswith("The message “And tomorrow? xxx") and "the tool result of “f”" in words


def test_a_text_among_the_results_is_no_breach() -> None:
    told = content("user", *[{"functionResponse": {"name": "f", "response": {}}}, text("and so on")])
    assert violations((HI, ASKS, Turn("3", TurnKind.TOOL_RESPONSE, told))) == ()
