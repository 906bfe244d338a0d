"""What a run shows of itself on one line, answers that go on, and long messages."""

import pytest
from django.contrib.auth.models import User

from sessions_app.chat.transcript import Transcript, view_run
from sessions_app.events import CARRY_ON
from sessions_app.models import Session
from tests import factories


@pytest.fixture
def session(alice: User) -> Session:
    return factories.make_session(alice)


def test_an_answer_that_a_person_continued_is_the_rest_of_the_one_above(session: Session) -> None:
    factories.answered(session, "Tell me", "One")
    factories.answered(session, CARRY_ON, "Two")
    assert [run.goes_on for run in Transcript.ending_at(session.head).runs] == [False, True]


def test_the_activity_names_thinking_and_tools(session: Session) -> None:
    run = factories.make_run(session)
    chunks = [factories.text_chunk("Hm.", thought=True), factories.text_chunk("Yes.", finish="STOP")]
    exchange = factories.make_exchange(run, chunks)
    assert view_run(session, factories.finish(run)).activity == "Thought"
    exchange.thought_ms = 4200.0
    exchange.save(update_fields=["thought_ms"])
    assert view_run(session, run).activity == "Thought for 4 s"
    factories.play_flight(session)
    view = Transcript.ending_at(session.head).runs[-1]
    assert view.activity == f"Used {len(view.steps[0].tools)} tool"
    assert view.steps[0].tools[0].title == "Check a flight"


def test_an_answer_alone_has_no_activity(session: Session) -> None:
    factories.answered(session, "Tell me", "One")
    assert Transcript.ending_at(session.head).runs[0].activity == ""


@pytest.mark.parametrize(
    ("text", "is_long"), [("a\n" * 12, False), ("a\n" * 13, True), ("a" * 865, True), ("a" * 864, False)]
)
def test_a_message_of_more_than_twelve_lines_is_long(session: Session, text: str, is_long: bool) -> None:
    factories.answered(session, text, "Fine.")
    assert Transcript.ending_at(session.head).runs[0].is_long is is_long
