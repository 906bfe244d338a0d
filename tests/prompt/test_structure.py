import pytest

from sessions_app.errors import PromptError
from sessions_app.prompt.structure import verify
from sessions_app.prompt.turns import Turn, TurnKind, user_task
from tests.prompt.examples import SIGNATURE, TOOL_LOOP, answer, answers, call, calling, content, text

HI = user_task("1", "Hi")
ONE_CALL = calling("2", call("f", SIGNATURE))

REFUSED = {
    "no turn is left": ((),),
    "no parts": ((HI, Turn("2", TurnKind.MODEL_RESPONSE, content("model"), "r"), HI),),
    "empty part": ((Turn("1", TurnKind.USER_TASK, content("user", {})),),),
    "must come last": ((HI, answer("2")),),
    "not answered": ((HI, ONE_CALL, user_task("3", "x")),),
    "whose calls are not sent": ((answers("1", "f"), HI),),
    "do not follow": ((HI, answers("2", "f")),),
    "has 2 calls": ((HI, calling("2", call("a", SIGNATURE), call("b")), answers("3", "a")),),
    "call order": ((HI, calling("2", call("a", SIGNATURE), call("b")), answers("3", "b", "a")),),
    "another model turn": ((HI, answer("2"), calling("3", call("f", SIGNATURE)), answers("4", "f")),),
    "in a model turn": (
        (
            HI,
            ONE_CALL,
            calling("3", {"functionResponse": {"name": "f", "response": {}}}),
            user_task("4", "x"),
        ),
    ),
    "has no signature": ((HI, calling("2", call("f")), answers("3", "f")),),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_the_provider_would_refuse_is_refused_with_a_sentence(words: str) -> None:
    with pytest.raises(PromptError, match=words):
        verify(REFUSED[words][0], required=True)


def test_interleaved_parallel_answers_are_refused() -> None:
    turns = (
        HI,
        calling("2", call("a", SIGNATURE)),
        answers("3", "a"),
        calling("4", call("b")),
        answers("5", "b"),
    )
    with pytest.raises(PromptError, match="turn 4"):
        verify(turns, required=True)


def test_a_tool_loop_passes() -> None:
    assert verify(TOOL_LOOP, required=True) == ()


def test_calls_of_past_turns_need_no_signature() -> None:
    past = (HI, calling("2", call("f")), answers("3", "f"), answer("4"))
    assert verify((*past, user_task("5", "More")), required=True) == ()


def test_a_model_that_does_not_demand_signatures_takes_unsigned_calls() -> None:
    findings = verify((HI, calling("2", call("f")), answers("3", "f")), required=False)
    assert [found.code for found in findings] == ["unsigned_answer"]


def test_a_text_beside_the_calls_is_no_problem() -> None:
    step = calling("2", text("One moment."), call("f", SIGNATURE), text(""))
    assert verify((HI, step, answers("3", "f")), required=True) == ()
