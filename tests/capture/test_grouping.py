"""Which requests belong together, on conversations of made-up clients."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.capture import grouping, relations
from sessions_app.capture.agents import agent_of
from sessions_app.capture.grouping import Grouping
from sessions_app.capture.placements import LaneRole, Placement, Relation
from sessions_app.capture.traits import RequestTraits, behind, traits_of
from sessions_app.prompt.parts import content, text_part
from tests.capture.conversations import asked, asked_with, body_of, call, model, result, user

CONTEXT = user("<session_context>\nToday is Sunday, and this is a folder.")
FIRST, SECOND = user("How do I scale the loaf to two kilograms?"), user("And how long does it bake then?")
ANSWER = model("Double everything but the yeast.")
ROUTER = "Say how hard this is."


class Clock:
    """A grouping whose requests come one a second and end at once."""

    def __init__(self) -> None:
        self.grouping = Grouping()
        self.now = 0.0

    def ask(
        self,
        key: str,
        traits: RequestTraits,
        *calls: tuple[str, ...],
        text: str = "",
        failed: bool = False,
    ) -> Placement:
        self.now += 1
        placed = self.grouping.place(key, self.now, traits)
        self.grouping.end(key, self.now + 0.5, calls, text=text, has_failed=failed)
        return placed

    def place(self, key: str) -> Placement:
        return self.grouping.leaves[key].place


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_request_that_begins_with_the_one_before_continues_it(clock: Clock) -> None:
    clock.ask("1", asked(FIRST))
    found = clock.ask("2", asked(FIRST, ANSWER, SECOND))
    assert found == Placement("1", "1", Relation.CONTINUES, before="1", shared=1)


def test_the_same_first_message_again_is_another_session(clock: Clock) -> None:
    clock.ask("1", asked(FIRST))
    assert clock.ask("2", asked(FIRST)).relation == Relation.OPENS
    assert clock.ask("3", asked(FIRST, ANSWER, SECOND)).session == "2", "of two, the newer one goes on"


def test_the_same_contents_after_a_failure_are_a_retry(clock: Clock) -> None:
    clock.ask("1", asked(FIRST), failed=True)
    assert clock.ask("2", asked(FIRST)) == Placement("1", "1", Relation.RETRY, before="1", shared=1)
    assert clock.ask("3", asked(FIRST)).relation == Relation.OPENS, "the second one was answered"


def test_a_retry_may_mend_the_signatures_that_were_refused(clock: Clock) -> None:
    signed = {
        **model("Double everything but the yeast."),
        "parts": [{"text": "So.", "thoughtSignature": "c2ln"}],
    }
    bare = {**signed, "parts": [{"text": "So."}]}
    clock.ask("1", asked(FIRST))
    clock.ask("2", asked(FIRST, bare, SECOND), failed=True)
    assert clock.ask("3", asked(FIRST, signed, SECOND)).relation == Relation.RETRY


def test_an_edited_message_is_a_branch_from_where_it_was_edited(clock: Clock) -> None:
    clock.ask("1", asked(FIRST, ANSWER, SECOND))
    found = clock.ask("2", asked(FIRST, ANSWER, user("And how much salt does it need?")))
    assert found == Placement("1", "1", Relation.BRANCH, before="1", shared=2)


@pytest.mark.parametrize("again", [(FIRST, ANSWER, SECOND), (FIRST, ANSWER)])
def test_what_was_asked_before_is_no_other_question(clock: Clock, again: tuple[Any, ...]) -> None:
    """An answer that is asked for anew, and the same after going back further."""
    clock.ask("1", asked(FIRST, ANSWER, SECOND))
    found = clock.ask("2", asked(*again))
    assert found == Placement("1", "1", Relation.REPEAT, before="1", shared=len(again))


def test_a_conversation_goes_on_where_a_cache_takes_the_place_of_its_beginning(clock: Clock) -> None:
    clock.ask("1", asked(FIRST))
    assert clock.ask("2", asked_with("c/1", FIRST, ANSWER, SECOND)).before == "1"
    further = (FIRST, ANSWER, SECOND, model("Forty minutes."), user("How hot?"))
    assert clock.ask("3", asked_with("c/1", *further), failed=True).before == "2"
    retry = clock.ask("4", asked(*further))
    assert (retry.relation, retry.before) == (Relation.RETRY, "3"), "without the cache that was gone"
    assert clock.ask("5", asked(*further)).relation == Relation.REPEAT, "of the one that was answered"
    assert not {"1", "2", "3"} & clock.grouping.leaves.keys(), "nothing goes on from what was gone on from"


def test_a_document_in_a_cache_is_no_part_of_the_conversation(clock: Clock) -> None:
    clock.ask("1", asked(FIRST))
    held = asked(user("The whole book about bread."))
    assert clock.ask("2", behind(held, asked_with("c/1", FIRST, ANSWER, SECOND))).before == "1"


def test_two_agents_do_not_become_one_because_one_names_a_cache(clock: Clock) -> None:
    clock.ask("1", asked(FIRST))
    assert clock.ask("2", asked_with("c/1", SECOND)).session == "2"


def test_history_that_was_rewritten_is_a_branch_by_a_guess(clock: Clock) -> None:
    clock.ask("1", asked(FIRST, ANSWER, SECOND))
    texts = ("How do I scale the loaf to two kilograms?", "Double everything but the yeast.")
    found = clock.ask("2", asked(user("\n".join(texts[:1])), model("…"), user(texts[1])))
    assert found.session == "1" and found.relation == Relation.BRANCH
    rewritten = [user("Once more, from the start."), ANSWER, SECOND]
    again = clock.ask("3", asked(*rewritten))
    assert (again.session, again.relation, again.is_guess) == ("1", Relation.BRANCH, True)


def test_one_text_that_was_said_elsewhere_is_no_branch(clock: Clock) -> None:
    clock.ask("1", asked(FIRST, ANSWER, SECOND))
    assert clock.ask("2", asked(SECOND)).relation == Relation.OPENS


CLOCK = "Help people who bake at home. The time is {}."
OTHERS = [{"functionDeclarations": [{"name": "weather"}, {"name": "scales"}, {"name": "timer"}]}]
FEWER = [{"functionDeclarations": [{"name": "timer"}, {"name": "scales"}]}]


def test_a_clock_in_the_instruction_is_no_other_conversation(clock: Clock) -> None:
    clock.ask("1", asked(FIRST, system=CLOCK.format("9:00")), ("a call",))
    second = clock.ask("2", asked(FIRST, ANSWER, SECOND, system=CLOCK.format("9:01")), ("a call",))
    assert second == Placement("1", "1", Relation.CONTINUES, before="1", shared=1, is_guess=True)
    third = asked(FIRST, ANSWER, SECOND, ANSWER, FIRST, system=CLOCK.format("9:02"))
    assert clock.ask("3", third) == Placement("1", "1", Relation.CONTINUES, before="2", shared=3)
    assert list(clock.grouping.leaves) == ["3"]


def test_tools_that_come_and_go_are_no_other_conversation(clock: Clock) -> None:
    clock.ask("1", asked(FIRST, tools=OTHERS))
    assert clock.ask("2", asked(FIRST, ANSWER, SECOND, tools=FEWER)).relation == Relation.CONTINUES
    found = clock.ask("3", asked(FIRST, ANSWER, SECOND, ANSWER, FIRST, tools=None))
    assert found == Placement("1", "1", Relation.CONTINUES, before="2", shared=3)


def test_a_question_beside_the_chain_leaves_it_where_it_was(clock: Clock) -> None:
    clock.ask("1", asked(FIRST), ("a call",))
    clock.ask("title", asked(FIRST, ANSWER, user("Which title has this?"), tools=None))
    assert clock.ask("2", asked(FIRST, ANSWER, SECOND)).before == "1"


def test_another_agent_that_reads_the_conversation_asks_on_its_own(clock: Clock) -> None:
    clock.ask("1", asked(FIRST, ANSWER, SECOND))
    title = asked(FIRST, ANSWER, SECOND, ANSWER, user("Go."), system="Find a title.", tools=None)
    assert clock.ask("2", title).relation == Relation.SIDE_CALL


def test_an_agent_like_the_first_that_is_told_the_past_does_not_go_on_from_it(clock: Clock) -> None:
    """As agents of ADK do, whose instructions are the framework's but for a few words."""
    clock.ask("1", asked(FIRST, system=CLOCK.format("9:00")), ("how",))
    retold = asked(FIRST, user("The other agent called a function."), system=CLOCK.format("9:01"))
    assert clock.ask("2", retold).relation == Relation.SUB_AGENT


def test_a_first_message_with_another_clock_is_another_run(clock: Clock) -> None:
    long = content("user", [text_part("The loaf weighs one kilogram."), text_part("How do I scale it up?")])
    clock.ask("1", asked(long, system=CLOCK.format("9:00")))
    clock.ask("2", asked(long, ANSWER, SECOND, system=CLOCK.format("9:01")))
    assert clock.ask("3", asked(long, system=CLOCK.format("9:30"))).relation == Relation.OPENS


def test_a_clock_moves_on_before_a_retry_and_before_an_edited_message(clock: Clock) -> None:
    clock.ask("1", asked(FIRST, system=CLOCK.format("9:00")), failed=True)
    assert clock.ask("2", asked(FIRST, system=CLOCK.format("9:01"))).relation == Relation.RETRY
    clock.ask("3", asked(FIRST, ANSWER, SECOND, system=CLOCK.format("9:02")))
    edited = asked(FIRST, ANSWER, user("And how much salt does it need?"), system=CLOCK.format("9:03"))
    found = clock.ask("4", edited)
    assert (found.session, found.relation, found.before, found.shared) == ("1", Relation.BRANCH, "3", 2)


@pytest.mark.parametrize("kept", [ANSWER, model("")])
def test_a_history_without_its_signatures_goes_on(clock: Clock, kept: dict[str, Any]) -> None:
    signed = {**kept, "parts": [{**kept["parts"][0], "thoughtSignature": "c2lnbmF0dXJl"}]}
    thought = {"text": "Twice as much, then.", "thought": True}
    whole = {**signed, "parts": [thought, *signed["parts"]]}
    clock.ask("1", asked(FIRST, whole, SECOND))
    found = clock.ask("2", asked(FIRST, kept, SECOND, ANSWER, FIRST))
    assert found == Placement("1", "1", Relation.CONTINUES, before="1", shared=1)


def test_of_two_runs_side_by_side_signatures_tell_which_goes_on(clock: Clock) -> None:
    runs = {key: model("Double everything.") for key in ("a", "b")}
    for key, answer in runs.items():
        answer["parts"][0]["thoughtSignature"] = key
        clock.ask(f"{key}1", asked(FIRST))
        clock.ask(f"{key}2", asked(FIRST, answer, SECOND))
    for key, answer in runs.items():
        assert clock.ask(f"{key}3", asked(FIRST, answer, SECOND, ANSWER, FIRST)).before == f"{key}2"


def test_a_router_is_a_side_call_whether_it_comes_first_or_second(clock: Clock) -> None:
    router, agent = asked(CONTEXT, FIRST, system=ROUTER, tools=None), asked(FIRST)
    clock.ask("router", router)
    assert clock.ask("agent", agent).adopted == "router"
    assert clock.place("router").role == LaneRole.SIDE
    assert clock.place("router").session == clock.place("agent").session
    other = Clock()
    other.ask("agent", agent)
    assert other.ask("router", router).relation == Relation.SIDE_CALL


def test_what_was_answered_was_said_too(clock: Clock) -> None:
    """A router that comes before its agent's next request repeats an answer that no request held yet."""
    said = "Double everything but the yeast."
    clock.ask("1", asked(user("Scale it.")), text=said)
    router = asked(user("Scale it."), model(said), user("And?"), system=ROUTER, tools=None)
    found = clock.ask("router", router)
    assert (found.session, found.relation, found.before) == ("1", Relation.SIDE_CALL, "1")


def test_a_router_of_short_texts_is_taken_in_by_the_request_that_goes_on(clock: Clock) -> None:
    short, answer = user("Scale it."), model("Done.")
    for run in ("a", "b"):
        first = asked(CONTEXT, short, system=ROUTER, tools=None)
        clock.ask(f"{run} router", first)
        assert clock.ask(f"{run}1", asked(short)).session == f"{run} router"
        again = asked(CONTEXT, user("Scale it. Done."), user("Why?"), system=ROUTER, tools=None)
        clock.ask(f"{run} again", again)
        found = clock.ask(f"{run}2", asked(short, answer, user("Why?")))
        assert (found.relation, found.adopted) == (Relation.CONTINUES, f"{run} again")
        placed = clock.place(f"{run} again")
        assert (placed.session, placed.lane) == (f"{run} router", f"{run} router"), "the lane it had before"
        assert (placed.role, placed.before) == (LaneRole.SIDE, f"{run}2")


def test_a_new_listing_of_the_folder_is_no_other_conversation(clock: Clock) -> None:
    """As when Gemini CLI resumes a session."""
    texts = [text_part("<session_context>\nThe folder has a.txt."), text_part("How do I scale the loaf?")]
    later = [text_part("<session_context>\nThe folder has a.txt and b.txt."), texts[1]]
    clock.ask("1", asked(content("user", texts)))
    found = clock.ask("2", asked(content("user", later), ANSWER, SECOND))
    assert found == Placement("1", "1", Relation.CONTINUES, before="1", shared=0)
    assert clock.ask("3", asked(content("user", later))).relation == Relation.OPENS, "another run of it"


def test_a_side_request_is_adopted_for_a_minute_only(clock: Clock) -> None:
    clock.ask("router", asked(CONTEXT, FIRST, system=ROUTER, tools=None))
    clock.now += relations.ADOPTION_SECONDS
    assert clock.ask("agent", asked(FIRST)).adopted == ""


def test_one_question_to_two_agents_with_tools_is_two_sessions(clock: Clock) -> None:
    clock.ask("1", asked(FIRST))
    assert clock.ask("2", asked(FIRST, system="Be long.")).relation == Relation.OPENS


def test_generated_context_alone_joins_nothing(clock: Clock) -> None:
    clock.ask("1", asked(CONTEXT, FIRST))
    assert clock.ask("2", asked(CONTEXT, user("Which files are there in this folder?"))).session == "2"


def test_a_task_that_quotes_an_argument_is_a_sub_agent_of_that_call(clock: Clock) -> None:
    clock.ask("1", asked(FIRST), ("look into the oven door",))
    task = asked(user("Your task: look into the oven door."), system="You look.", scope="another program")
    found = clock.ask("2", task)
    assert found == Placement("1", "2", Relation.SUB_AGENT, LaneRole.SUB_AGENT, before="1")


def test_an_agent_that_comes_while_a_call_waits_is_a_guess(clock: Clock) -> None:
    clock.ask("1", asked(FIRST), ("how",))
    agent = asked(user("Tell how Gemini CLI is set up."), system="You help.")
    assert clock.ask("2", agent).is_guess
    clock.now += relations.RELATED_SECONDS
    late = asked(user("Tell what else there is to set up."), system="You help others.")
    assert clock.ask("3", late).relation == Relation.OPENS


def test_a_call_that_is_the_form_of_an_answer_waits_only_for_who_quotes_it(clock: Clock) -> None:
    clock.ask("1", replace(asked(FIRST), must_call=True), ("Bergen on the west coast",))
    assert clock.ask("2", asked(user("How is it set up?"), system="You help.")).relation == Relation.OPENS
    assert clock.ask("3", asked(user("See Bergen on the west coast."), system="You look.")).before == "1"


def test_another_program_does_not_join_a_waiting_call_by_time(clock: Clock) -> None:
    clock.ask("1", asked(FIRST), ("how",))
    assert clock.ask("2", asked(user("Tell how it is set up."), system="x", scope="other")).session == "2"


def test_a_name_overrides_everything(clock: Clock) -> None:
    clock.ask("1", asked(FIRST, name="loaf"))
    assert clock.ask("2", asked(FIRST)).session == "2", "no name is not that name"
    other = clock.ask("3", asked(user("Something else entirely."), system="x", name="loaf"))
    assert other.session == "name:loaf" and other.relation == Relation.NAMED and other.lane == "3"
    assert clock.ask("4", asked(FIRST, ANSWER, SECOND, name="loaf")).relation == Relation.CONTINUES
    assert clock.ask("5", asked(FIRST, name="bread")).session == "name:bread"


def test_in_a_named_session_an_agent_is_compared_with_its_last_request(clock: Clock) -> None:
    """Whatever it asks, and although its instruction begins with a clock: that is what one looks for."""
    rules = "Be brief, and name the sources that you know of the bread that is asked for."
    clock.ask("1", asked(FIRST, system=f"Now it is 12:00. {rules}", name="loaf"))
    clock.ask("2", asked(SECOND, system="Say how hard this is.", tools=None, name="loaf"))
    found = clock.ask("3", asked(SECOND, system=f"Now it is 12:01. {rules}", name="loaf"))
    assert found == Placement("name:loaf", "1", Relation.NAMED, before="1")


def test_in_a_named_session_a_cache_is_an_agent_too(clock: Clock) -> None:
    clock.ask("1", asked_with("c/1", FIRST, name="loaf"))
    clock.ask("2", asked_with("c/2", SECOND, name="loaf"))
    assert clock.ask("3", asked_with("c/1", user("How hot?"), name="loaf")).before == "1"


def test_without_instruction_tools_and_cache_nothing_is_an_agent(clock: Clock) -> None:
    clock.ask("1", asked(FIRST, system="", tools=None, name="loaf"))
    found = clock.ask("2", asked(SECOND, system="", tools=None, name="loaf"))
    assert (found.relation, found.before, found.lane) == (Relation.NAMED, "", "2")


def test_other_spelling_and_other_ids_say_the_same(clock: Clock) -> None:
    spelled = traits_of(body_of([FIRST]).replace(b'":', b'" : '), scope="client")
    assert spelled == asked(FIRST)
    one, other = (asked(FIRST, call(name, city="a city of sixteen")) for name in ("a_rather_long_name", "b"))
    assert one.said == other.said and len(one.said) == 2, "ids and names are not said"


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b'{"contents":3}', b'{"contents":[]}', b"\xff", b'{"a":1}']
)
def test_what_has_no_contents_has_no_traits(body: bytes) -> None:
    assert traits_of(body) is None


def test_an_object_in_place_of_the_list_is_one_content() -> None:
    found = traits_of(b'{"contents":{"parts":[{"text":"Hello"}]}}')
    assert found is not None and len(found.contents) == 1 and found.newest


def test_no_more_leaves_are_kept_than_are_compared(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grouping, "LEAVES", 3)
    for number in range(5):
        clock.ask(str(number), asked(user(f"A question that has the number {number}.")))
    assert sorted(clock.grouping.leaves) == ["2", "3", "4"]


@st.composite
def runs(draw: st.DrawFn) -> list[RequestTraits]:
    """The requests of one chat: turns, some with rounds of tools."""
    contents = []
    requests = []
    for turn, rounds in enumerate(draw(st.lists(st.integers(0, 3), min_size=1, max_size=5))):
        contents.append(user(f"The question number {turn}, with words enough."))
        requests.append(asked(*contents))
        for number in range(rounds):
            contents += [call("weather", city=f"city {turn}.{number}"), result("weather", sky="clear")]
            requests.append(asked(*contents))
        contents.append(model(f"The answer number {turn}."))
    return requests


@given(run=runs(), copies=st.integers(2, 3))
def test_identical_runs_one_after_the_other_are_as_many_sessions(
    run: list[RequestTraits], copies: int
) -> None:
    clock = Clock()
    found = [[clock.ask(f"{copy}.{at}", one).session for at, one in enumerate(run)] for copy in range(copies)]
    assert [set(one) for one in found] == [{f"{copy}.0"} for copy in range(copies)]


@given(run=runs(), data=st.data())
def test_a_run_stays_one_session_whatever_the_clock_says(
    run: list[RequestTraits], data: st.DataObject
) -> None:
    clock = Clock()
    minutes = st.integers(0, 59)
    for number in range(2):
        for at, one in enumerate(run):
            system = content("user", [text_part(CLOCK.format(data.draw(minutes)))])
            moved = replace(one, agent=agent_of(system, None), lane=f"{system}")
            assert clock.ask(f"{number}.{at}", moved).session == f"{number}.0"


@given(run=runs(), order=st.randoms(use_true_random=False))
def test_runs_side_by_side_stay_apart(run: list[RequestTraits], order: object) -> None:
    """Two programs ask other things at the same time; each keeps its own order."""
    pair = {"a": list(run), "b": [replace(one, scope="other") for one in run]}
    clock = Clock()
    found: dict[str, set[str]] = {"a": set(), "b": set()}
    while any(pair.values()):
        which = order.choice([key for key, left in pair.items() if left])  # type: ignore[attr-defined]
        found[which].add(clock.ask(f"{which}{len(pair[which])}", pair[which].pop(0)).session)
    assert [len(one) for one in found.values()] == [1, 1]
    assert found["a"] != found["b"]
