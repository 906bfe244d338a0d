"""Frameworks rewrite a history, and its signatures tell whose it is."""

from base64 import b64encode
from typing import Any

from sessions_app.capture.grouping import Grouping
from sessions_app.capture.placements import Placement, Relation
from sessions_app.capture.traits import RequestTraits, answer_signatures
from sessions_app.prompt import wire
from sessions_app.prompt.parts import call_part, content, response_part
from tests.capture.conversations import asked, model, user

FIRST, SECOND = user("How do I scale the loaf to two kilograms?"), user("And how long does it bake then?")
ANSWER = model("Double everything but the yeast.")
TURNS = ("weather", "oven")

Step = tuple[RequestTraits, dict[str, Any]]
"""A request and the content of its answer."""


def calls(run: str, *names: str) -> dict[str, Any]:
    """In one content, each with its own signature and id of a run."""
    return content(
        "model", [_signed(call_part(name, {}, call_id=f"{run}-{name}"), run + name) for name in names]
    )


def results(run: str, *names: str) -> dict[str, Any]:
    values = {"it": "is as it was yesterday"}
    return content("user", [response_part(name, values, call_id=f"{run}-{name}") for name in names])


def steps(run: str) -> list[Step]:
    """A question with two steps, and the next one, for which the program puts both steps into one."""
    first, second = ([calls(run, name), results(run, name)] for name in TURNS)
    merged = [calls(run, *TURNS), results(run, *TURNS)]
    return [
        (asked(FIRST), calls(run, "weather")),
        (asked(FIRST, *first), calls(run, "oven")),
        (asked(FIRST, *first, *second), ANSWER),
        (asked(FIRST, *merged, ANSWER, SECOND), ANSWER),
    ]


def _signed(part: dict[str, Any], signature: str) -> dict[str, Any]:
    return part | {"thoughtSignature": b64encode(signature.encode()).decode()}


def placed(*requests: Step) -> list[Placement]:
    grouping, found = Grouping(), []
    for number, (traits, answer) in enumerate(requests, 1):
        found.append(grouping.place(str(number), float(number), traits))
        grouping.end(str(number), number + 0.5, signatures=answer_signatures(wire.dumps(answer)))
    return found


def test_each_of_two_identical_runs_keeps_its_own_rewritten_history() -> None:
    found = placed(*steps("one"), *steps("two"))
    assert [place.session for place in found] == ["1"] * 4 + ["5"] * 4
    assert (found[-1].relation, found[-1].before, found[-1].is_guess) == (Relation.BRANCH, "7", False)


def test_a_history_whose_beginning_is_gone_is_known_by_its_signatures() -> None:
    cut = asked(calls("one", "oven"), results("one", "oven"), ANSWER, user("What?"))
    last = placed(*steps("one"), (cut, ANSWER))[-1]
    assert (last.session, last.relation, last.is_guess) == ("1", Relation.BRANCH, False)


def test_another_agent_with_the_same_signatures_is_not_the_same_lane() -> None:
    other = asked(calls("one", "oven"), results("one", "oven"), system="You judge answers.", tools=None)
    last = placed(*steps("one"), (other, ANSWER))[-1]
    assert (last.session, last.relation) == ("1", Relation.SIDE_CALL)
