"""What a foreign request asks for, whatever its spelling."""

from typing import Any

import pytest

from sessions_app.capture.grouping import Grouping
from sessions_app.capture.placements import Relation
from sessions_app.prompt.parts import content, text_part
from tests.capture.conversations import asked, body_of, call, model, result, traits, user

ONE = [{"functionDeclarations": [{"name": "town"}]}]
TWO = [{"function_declarations": [{"name": "town"}, {"name": "river"}]}]
ANY: dict[str, Any] = {"mode": "ANY"}


@pytest.mark.parametrize(
    ("tools", "config", "expected"),
    [
        (ONE, {"functionCallingConfig": ANY}, True),
        (TWO, {"functionCallingConfig": ANY | {"allowedFunctionNames": ["town"]}}, True),
        (TWO, {"function_calling_config": ANY | {"allowed_function_names": ["town"]}}, True),
        (TWO, {"functionCallingConfig": ANY}, True),
        (TWO, {"functionCallingConfig": ANY | {"allowedFunctionNames": ["town", "river"]}}, True),
        (ONE, {"functionCallingConfig": {"mode": "AUTO"}}, False),
        (TWO, {"functionCallingConfig": {"mode": ["ANY"], "allowedFunctionNames": 5}}, False),
        (5, {"functionCallingConfig": ANY}, False),
        (ONE, {"functionCallingConfig": 5}, False),
        (ONE, 5, False),
    ],
)
def test_an_answer_that_has_to_be_a_call(tools: Any, config: Any, expected: bool) -> None:
    for name in ("toolConfig", "tool_config"):
        body = body_of([user("Which town?")], tools=tools, **{name: config})
        assert traits(body, scope="client", name="").must_call is expected


def test_thoughts_say_nothing_of_which_conversation_it_is() -> None:
    """A program that keeps questions and answers goes on, also where it keeps the thoughts of an answer."""
    question, answer = user("How do I scale the loaf to two kilograms?"), "Double everything but the yeast."
    grouping = Grouping()
    grouping.place("1", 1.0, asked(question, call("weather"), result("weather", it="is dry")))
    grouping.end("1", 1.5, text=answer)
    thought = {"text": "The person wants twice of everything.", "thought": True}
    kept = content("model", [thought, text_part(answer)])
    again = asked(question, kept, user("And how long does it bake then?"))
    assert again.said == asked(question, model(answer), user("And how long does it bake then?")).said
    found = grouping.place("2", 2.0, again)
    assert (found.session, found.relation, found.is_guess) == ("1", Relation.BRANCH, True)
