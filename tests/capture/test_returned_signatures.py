"""Signatures of answers tell a conversation when little else of its history is left."""

from base64 import b64encode
from typing import Any

import pytest
from django.contrib.auth.models import User

from sessions_app.capture.grouping import Grouping
from sessions_app.capture.placements import LaneRole, Placement, Relation
from sessions_app.capture.recording import Recording
from sessions_app.capture.traits import RequestTraits, answer_signatures
from sessions_app.models import CaptureAddress, Session
from sessions_app.prompt import wire
from sessions_app.prompt.parts import PARTS_KEY, with_signature
from tests.capture.answers import Asking, audited, counted, event, says
from tests.capture.conversations import asked, body_of, call, model, result, user
from tests.factories import chunk

BREAD, OVEN = user("How do I scale the loaf to two kilograms?"), user("And how long does it bake then?")
SUMMARY = user("Here is a summary: the loaf has two kilograms.")
STRANGER = asked(user("Tell how Gemini CLI is set up."), system="You help with programs.")


def signed(content: dict[str, Any], by: str) -> dict[str, Any]:
    """Its first part carries the signature of this answer."""
    first, *others = content[PARTS_KEY]
    signature = b64encode(f"signature of {by}".encode()).decode()
    return content | {PARTS_KEY: [with_signature(first, signature), *others]}


class Program:
    """Requests one a second, each answered before the next."""

    def __init__(self) -> None:
        self.grouping = Grouping()
        self.now = 0

    def ask(self, traits: RequestTraits, answer: dict[str, Any]) -> Placement:
        self.now += 1
        key = str(self.now)
        placed = self.grouping.place(key, float(self.now), traits)
        calls = [["oven"] for part in answer[PARTS_KEY] if "functionCall" in part]
        found = answer_signatures(wire.dumps(answer))
        text = "".join(part.get("text", "") for part in answer[PARTS_KEY])
        self.grouping.end(key, self.now + 0.5, calls, text=text, signatures=found)
        return placed


@pytest.fixture
def program() -> Program:
    return Program()


def test_a_history_with_a_summary_in_its_place_belongs_to_its_session(program: Program) -> None:
    """Nothing is left of it but the newest answer."""
    answer = signed(model("Double it."), "one")
    program.ask(asked(BREAD), answer)
    found = program.ask(asked(SUMMARY, OVEN, answer, user("How hot?")), model("Very."))
    assert found == Placement("1", "1", Relation.BRANCH, before="1")


def test_of_two_that_said_the_same_it_belongs_to_the_one_whose_answer_it_carries(program: Program) -> None:
    answers = [signed(model("Double it."), name) for name in ("one", "two")]
    for answer in answers:
        program.ask(asked(BREAD), answer)
    shortened = asked(answers[0], OVEN, scope="client")
    assert program.ask(shortened, model("Longer.")).session == "1"
    edited = asked(BREAD, answers[1], user("Something else, please."), user("Now."))
    assert program.ask(edited, model("Yes.")).session == "2"


def steps(run: str) -> list[tuple[RequestTraits, dict[str, Any]]]:
    """A question with two steps, and the next one, for which the program puts both steps into one: each
    request with its answer.
    """
    calls = [signed(call(name, place="oven"), f"{run} {name}") for name in ("look", "warm")]
    results = [result(name, sky="clear") for name in ("look", "warm")]
    first, second = ([calls[at], results[at]] for at in (0, 1))
    merged = [one | {PARTS_KEY: [*one[PARTS_KEY], *other[PARTS_KEY]]} for one, other in (calls, results)]
    answer = model("Double everything but the yeast.")
    return [
        (asked(BREAD), calls[0]),
        (asked(BREAD, *first), calls[1]),
        (asked(BREAD, *first, *second), answer),
        (asked(BREAD, *merged, answer, OVEN), answer),
    ]


def test_each_of_two_identical_runs_keeps_its_own_rewritten_history(program: Program) -> None:
    found = [program.ask(*step) for run in ("one", "two") for step in steps(run)]
    assert [place.session for place in found] == ["1"] * 4 + ["5"] * 4
    assert (found[-1].relation, found[-1].before, found[-1].is_guess) == (Relation.BRANCH, "7", False)


def test_signatures_of_earlier_answers_are_known_as_long_as_they_are_sent(program: Program) -> None:
    first, second = signed(model("Double it."), "one"), signed(model("Longer."), "two")
    program.ask(asked(BREAD), first)
    program.ask(asked(BREAD, first, OVEN), second)
    found = program.ask(asked(SUMMARY, OVEN, first, user("How hot?")), model("Very."))
    assert (found.relation, found.before) == (Relation.BRANCH, "2")


def test_what_no_answer_of_a_lane_had_tells_nothing(program: Program) -> None:
    """Programs may begin every conversation with the same signed examples."""
    example = signed(model("Like this."), "an example")
    program.ask(asked(user("An example."), example, BREAD, user("More."), user("Now.")), model("Fine."))
    other = asked(user("Of another kind."), user("Of two."), example, OVEN)
    assert program.ask(other, model("Well.")).relation == Relation.OPENS


def test_a_call_whose_result_came_in_a_rewritten_history_waits_no_longer(program: Program) -> None:
    calling = signed(call("weather", place="oven"), "one")
    program.ask(asked(BREAD), calling)
    program.ask(asked(SUMMARY, OVEN, calling, result("weather", sky="clear")), model("Clear."))
    assert program.ask(STRANGER, model("So.")).relation == Relation.OPENS


@pytest.mark.parametrize("name", ["", "one"])
def test_an_agent_that_takes_over_the_history_has_the_result_of_the_call(program: Program, name: str) -> None:
    """A framework hands a conversation over, with other tools. Older models sign nothing."""
    calling = signed(call("hand", over="oven"), name) if name else call("hand", over="oven")
    program.ask(asked(BREAD), calling)
    others = [{"functionDeclarations": [{"name": "heat"}]}]
    taken = asked(BREAD, calling, result("hand", said="done"), system="You look after ovens.", tools=others)
    found = program.ask(taken, model("It is hot."))
    assert (found.session, found.role, found.is_guess) == ("1", LaneRole.SUB_AGENT, not name)
    assert program.ask(STRANGER, model("So.")).relation == Relation.OPENS


def test_a_side_call_is_one_of_the_session_whose_answer_it_carries(program: Program) -> None:
    answers = [signed(model("Double all of it, please."), name) for name in ("one", "two")]
    for answer in answers:
        program.ask(asked(BREAD), answer)
    title = asked(BREAD, answers[0], user("Title?"), system="You find titles.", tools=None)
    found = program.ask(title, model("Bread"))
    assert (found.session, found.role) == ("1", LaneRole.SIDE)


@pytest.mark.django_db
@pytest.mark.parametrize("beginning", [[SUMMARY, OVEN], [BREAD, model("Changed."), OVEN]])
def test_results_in_a_rewritten_history_go_on_with_the_run(alice: User, beginning: list[Any]) -> None:
    asking = Asking(CaptureAddress.issue(alice.pk, "Laptop")[0])
    calling, done = signed(call("weather", place="oven"), "two"), result("weather", sky="clear")
    asking.exchange(body_of([BREAD]), says("Double it."))
    asked_for = body_of([BREAD, model("Double it."), OVEN])
    first = asking.exchange(asked_for, event(chunk(*calling[PARTS_KEY], finish="STOP", usage=counted(9_000))))
    rewritten = asking.exchange(body_of([*beginning, calling, done]), says("Clear."))
    assert rewritten.captured.relation == "branch" and (rewritten.run, rewritten.step) == (first.run, 2)
    answer = signed(model("Clear."), "three")
    further = asking.exchange(body_of([*beginning, calling, done, answer, user("Now?")]), says("Yes."))
    assert further.run != first.run and not audited()


@pytest.mark.django_db
@pytest.mark.parametrize("is_other", [False, True])
def test_the_signatures_of_what_was_recorded_are_known(alice: User, is_other: bool) -> None:
    """Another process reads them from the rows."""
    asking = Asking(CaptureAddress.issue(alice.pk, "Laptop")[0])
    answer = signed(model("Double it."), "one")
    asking.exchange(body_of([BREAD]), event(chunk(*answer[PARTS_KEY], finish="STOP", usage=counted(9_000))))
    asking.recording = Recording() if is_other else asking.recording
    row = asking.exchange(body_of([SUMMARY, OVEN, answer, user("How hot?")]), says("Very."))
    assert row.captured.relation == "branch" and not row.captured.is_guess
    assert Session.objects.captured().count() == 1 and not audited()
