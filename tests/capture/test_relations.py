"""Which call a new agent was begun by, and what belongs to a request that is long over."""

import pytest

from sessions_app.capture.grouping import Grouping
from sessions_app.capture.placements import Leaf, Relation
from sessions_app.capture.relations import RELATED_SECONDS
from sessions_app.capture.traits import RequestTraits
from tests.capture.conversations import asked, call, model, result, user

FIRST, SECOND = user("How do I scale the loaf to two kilograms?"), user("And how long does it bake then?")
TASK, NEXT_TASK = user("Look after the oven for me, please."), user("And now after the dough.")
ANSWER = model("Double everything but the yeast.")
BACK = "the agent at the beginning"
"""The argument of the call with which a sub-agent hands back, as google-adk's `transfer_to_agent`."""
OVEN = "You look after ovens."
STRANGER = asked(user("Tell how Gemini CLI is set up."), system="You help with programs.")


def placed(*asked: tuple[RequestTraits, str]) -> Grouping:
    """Requests one a second, each answered with a call of one argument, or with none."""
    grouping = Grouping()
    for number, (traits, argument) in enumerate(asked, 1):
        grouping.place(str(number), float(number), traits)
        grouping.end(str(number), number + 0.5, [[argument]] if argument else [])
    return grouping


HANDED_BACK = (
    (asked(FIRST), "oven"),
    (asked(TASK, system=OVEN), BACK),
    (asked(FIRST, ANSWER, SECOND), ""),
)


def test_who_comes_after_a_sub_agent_has_handed_back_is_none_of_its_own() -> None:
    grouping = placed(*HANDED_BACK)
    assert grouping.place("4", 4.0, STRANGER).relation == Relation.OPENS


def test_who_comes_before_that_is_a_guess() -> None:
    found = placed(*HANDED_BACK[:2]).place("3", 3.0, STRANGER)
    assert (found.relation, found.is_guess, found.before) == (Relation.SUB_AGENT, True, "2")


def test_who_quotes_the_call_is_begun_by_it_all_the_same() -> None:
    """An agent that goes on in the background may begin others."""
    task = asked(user(f"Ask {BACK} how it goes."), system="You ask.")
    found = placed(*HANDED_BACK).place("4", 4.0, task)
    assert (found.relation, found.is_guess, found.before) == (Relation.SUB_AGENT, False, "2")


def test_a_sub_agent_that_is_begun_again_waits_again() -> None:
    again = asked(TASK, model("Done."), NEXT_TASK, system=OVEN)
    found = placed(*HANDED_BACK, (again, BACK)).place("5", 5.0, STRANGER)
    assert (found.relation, found.before) == (Relation.SUB_AGENT, "4")
    grouping = placed(*HANDED_BACK, (again, BACK))
    further = asked(FIRST, ANSWER, SECOND, model("Forty minutes."), user("How hot?"))
    assert grouping.place("5", 5.0, further).relation == Relation.CONTINUES
    assert grouping.place("6", 6.0, STRANGER).relation == Relation.OPENS


def test_agents_of_a_sub_agent_have_ended_with_it() -> None:
    below = asked(user("Which of the two loaves is done?"), system="You count loaves.")
    grouping = placed(HANDED_BACK[0], (asked(TASK, system=OVEN), "loaf"), (below, "some"), HANDED_BACK[2])
    assert grouping.place("5", 5.0, STRANGER).relation == Relation.OPENS


TRANSFERRED = (
    (asked(FIRST), "oven"),
    (asked(TASK, system=OVEN), ""),
    (asked(TASK, model("It is hot."), NEXT_TASK, system=OVEN), ""),
)
"""The agent that the call began goes on with the person, and the call gets no result."""


def test_who_comes_after_the_conversation_was_transferred_is_none_of_the_call() -> None:
    assert placed(*TRANSFERRED[:2]).place("3", 3.0, STRANGER).relation == Relation.SUB_AGENT
    assert placed(*TRANSFERRED).place("4", 4.0, STRANGER).relation == Relation.OPENS


def test_of_two_calls_one_may_begin_its_agent_later() -> None:
    """As in Gemini CLI, which tells the first agent to end with a call."""
    grouping = Grouping()
    grouping.place("1", 1.0, TRANSFERRED[0][0])
    grouping.end("1", 1.5, [["oven"], ["loaf"]])
    for number, (traits, _) in enumerate(TRANSFERRED[1:], 2):
        grouping.place(str(number), float(number), traits)
        grouping.end(str(number), number + 0.5)
    assert grouping.place("4", 4.0, STRANGER).before == "1"


def test_a_sub_agent_that_works_on_is_waited_for() -> None:
    working = (asked(TASK, call("weather"), result("weather", it="is dry"), system=OVEN), "")
    found = placed(TRANSFERRED[0], (TRANSFERRED[1][0], "dry"), working).place("4", 4.0, STRANGER)
    assert (found.relation, found.before) == (Relation.SUB_AGENT, "1")


def test_a_caller_that_begins_its_agent_again_waits_for_it() -> None:
    again = (asked(FIRST, ANSWER, SECOND), "oven")
    found = placed(*TRANSFERRED[:2], again, TRANSFERRED[2]).place("5", 5.0, STRANGER)
    assert (found.relation, found.before) == (Relation.SUB_AGENT, "3")


@pytest.mark.parametrize("asked_before", [HANDED_BACK, TRANSFERRED])
def test_it_is_known_again_from_the_rows(asked_before: tuple[tuple[RequestTraits, str], ...]) -> None:
    """Another process reads the requests with their places, those that were gone on from among them."""
    places = {number: placed(*asked_before[:number]).leaves[str(number)].place for number in (1, 2, 3)}
    grouping = Grouping()
    grouping.restore(
        Leaf(
            str(number),
            float(number),
            traits,
            places[number],
            ((argument,),) if argument else (),
            number + 0.5,
        )
        for number, (traits, argument) in enumerate(asked_before, 1)
    )
    assert grouping.place("4", 4.0, STRANGER).relation == Relation.OPENS


def test_who_says_the_same_much_later_or_in_another_program_is_no_side_call() -> None:
    asked_before = (asked(FIRST), "")
    router = asked(FIRST, system="Say how hard this is.", tools=None)
    assert placed(asked_before).place("2", 2.0, router).relation == Relation.SIDE_CALL
    assert placed(asked_before).place("2", 2.0 + RELATED_SECONDS, router).relation == Relation.OPENS
    elsewhere = asked(FIRST, system="Say how hard this is.", tools=None, scope="another program")
    assert placed(asked_before).place("2", 2.0, elsewhere).relation == Relation.OPENS


def test_who_quotes_a_call_much_later_is_not_begun_by_it() -> None:
    task = asked(user("Your task: look into the oven door."), system="You look.")
    waiting = (asked(FIRST), "look into the oven door")
    assert placed(waiting).place("2", 2.0, task).relation == Relation.SUB_AGENT
    assert placed(waiting).place("2", 2.0 + RELATED_SECONDS, task).relation == Relation.OPENS
