"""One question may be put twice: the answer that comes back tells which of the two goes on."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from sessions_app.capture.placements import Placement, Relation
from sessions_app.models import CaptureAddress, CapturedRequest, Turn
from sessions_app.prompt.parts import content
from tests.capture.answers import Asking, audited, says
from tests.capture.conversations import asked, body_of, model, user
from tests.capture.test_grouping import Clock

FIRST, SECOND = user("How do I scale the loaf to two kilograms?"), user("And how long does it bake then?")
THIRD, OTHER = user("And how is the crust made?"), user("And how is it sliced?")
SAID = ("Double everything but the yeast.", "Bake two loaves of one kilogram.")
LATER = model("An hour, and ten minutes more.")


def test_of_two_answers_to_one_question_the_one_that_follows_goes_on() -> None:
    clock = Clock()
    for key, said in zip("ab", SAID, strict=True):
        clock.ask(key, asked(FIRST), text=said)
    for key, said in zip("ab", SAID, strict=True):
        found = clock.ask(f"{key}2", asked(FIRST, model(said), SECOND))
        assert found == Placement(key, key, Relation.CONTINUES, before=key, shared=1)


def test_a_short_answer_in_two_parts_is_known_again_too() -> None:
    clock = Clock()
    for key, said in (("a", "Two"), ("b", "Three")):
        clock.ask(key, asked(FIRST), text=f"{said} kg.\n")
    parts: list[Any] = [{"text": "A guess.", "thought": True}, {"text": "Two"}, {"text": " kg."}]
    assert clock.ask("2", asked(FIRST, content("model", parts), SECOND)).before == "a"


def test_without_a_known_answer_the_newest_goes_on() -> None:
    clock = Clock()
    for key in "ab":
        clock.ask(key, asked(FIRST))
    assert clock.ask("2", asked(FIRST, model(SAID[0]), SECOND)).before == "b"


def chat(clock: Clock, first: str) -> list[Any]:
    """The second of two answers was gone on from; `first` was the other one."""
    clock.ask("a", asked(FIRST), text=first)
    clock.ask("b", asked(FIRST), text=SAID[1])
    contents = [FIRST, model(SAID[1]), SECOND]
    clock.ask("b2", asked(*contents), text="An hour, and ten minutes more.")
    clock.ask("b3", asked(*contents, LATER, THIRD))
    return [*contents, LATER]


def test_a_message_edited_behind_another_answer_is_no_continuation_of_the_first() -> None:
    clock = Clock()
    contents = chat(clock, SAID[0])
    found = clock.ask("b4", asked(*contents, OTHER))
    assert found == Placement("b", "b", Relation.BRANCH, before="b3", shared=4)


def test_a_run_with_the_same_answers_goes_on_from_its_own_question() -> None:
    clock = Clock()
    chat(clock, SAID[0])
    clock.ask("c", asked(FIRST), text=SAID[1])
    assert clock.ask("c2", asked(FIRST, model(SAID[1]), SECOND)).before == "c"


@pytest.mark.parametrize("kept", [True, False])
def test_a_signature_tells_of_an_answer_only_where_signatures_come_back(kept: bool) -> None:
    """`kept`: the program sends signatures; the one of the leaf is then missed."""
    clock = Clock()
    contents = chat(clock, "")
    clock.grouping.end("a", 1.5, signatures=frozenset({"of a"}))
    signed = [{**LATER, "parts": [{**LATER["parts"][0], "thoughtSignature": "c2ln"}]}, OTHER]
    found = clock.ask("4", asked(*contents[:3], *(signed if kept else [LATER, OTHER])))
    assert found.session == ("b" if kept else "a")


@pytest.mark.django_db
def test_a_message_stands_below_the_answer_that_it_was_sent_with(alice: User) -> None:
    program = Asking(CaptureAddress.issue(alice.pk, "Laptop")[0])
    begun = [FIRST, model("Double everything, I say."), SECOND]
    program.exchange(body_of(begun[:1]), says("Double everything, I say."))
    for said in SAID:
        program.exchange(body_of(begun), says(said))
    program.exchange(body_of([*begun, model(SAID[0]), THIRD]), says("With steam."))
    asked_last = Turn.objects.get(text=THIRD["parts"][0]["text"])
    assert asked_last.parent is not None and asked_last.parent.text == SAID[0]
    rows = CapturedRequest.objects.order_by("pk")
    assert rows[3].before == str(rows[1].public) and audited() == []
