"""From turns to runs: grouping, windows, cards, thoughts."""

import re
import uuid

import pytest
from django.contrib.auth.models import User
from django.template.loader import render_to_string

from sessions_app.chat.transcript import WINDOW, Transcript, view_run
from sessions_app.errors import QuotaExceeded
from sessions_app.models import Run, Session
from sessions_app.runs.reply_progress import thinking_words
from sessions_app.wording import resends
from tests import factories

OPENING = r'<(\w+)(?: class="([\w-]+))?'
"""The name of an element and its first class."""


@pytest.fixture
def session(alice: User) -> Session:
    return factories.make_session(alice)


def test_an_empty_session_has_no_runs(session: Session) -> None:
    assert Transcript.ending_at(None) == Transcript((), None)


def test_a_run_has_its_question_and_its_answer(session: Session) -> None:
    factories.make_history(session, 2)
    runs = Transcript.ending_at(session.head).runs
    assert [run.text for run in runs] == ["Question 0", "Question 1"]
    assert "Answer 1" in runs[1].steps[0].text
    assert runs[1].markdown == "Answer 1"


def test_an_answer_says_that_the_provider_refused_the_signatures(session: Session) -> None:
    run = factories.make_run(session)
    failed = factories.make_exchange(run, [], error={"kind": "SignatureRefused", "message": "Corrupted."})
    factories.make_exchange(run, resend_of=failed)
    factories.finish(run)
    (view,) = Transcript.ending_at(session.head).runs
    assert view.notes == (resends.NOTES["SignatureRefused"],)


def test_an_answer_after_a_busy_provider_needs_no_note(session: Session) -> None:
    run = factories.make_run(session)
    failed = factories.make_exchange(run, [], error={"kind": "ProviderDown", "message": "Busy."})
    factories.make_exchange(run, resend_of=failed)
    assert Transcript.ending_at(session.head).runs[0].notes == ()


def test_a_tool_round_is_one_run_with_a_card(session: Session) -> None:
    factories.play_flight(session)
    (run,) = Transcript.ending_at(session.head).runs
    call, answer = run.steps
    assert call.cards[0].name == "check_flight" and '"AA100"' in call.cards[0].args
    assert "delayed" in call.cards[0].response and not call.cards[0].failed
    assert "on time" in answer.text and len(run.exchanges) == 2


def test_a_failed_tool_is_marked(session: Session) -> None:
    run = factories.make_run(session)
    factories.make_exchange(run, [factories.call_chunk("check_flight", {}, finish="STOP")])
    factories.answer_calls(run, {"error": "no such flight"})
    assert view_run(session, run).steps == ()
    assert view_run(session, factories.finish(run)).steps[0].cards[0].failed


def test_thoughts_stand_apart_from_the_answer(session: Session) -> None:
    run = factories.make_run(session)
    factories.make_exchange(
        run, [factories.text_chunk("Hm.", thought=True), factories.text_chunk("Yes.", finish="STOP")]
    )
    (step,) = view_run(session, factories.finish(run)).steps
    assert "Hm." in step.thoughts and "Yes." in step.text and "Hm." not in step.text


THOUGHT = factories.text_chunk("Hm, let me", thought=True)


def test_thoughts_that_were_stopped_stay_to_be_read(session: Session) -> None:
    view = view_run(session, factories.stop_answer(session, [THOUGHT]))
    assert view.steps == () and view.lone_thoughts and "Hm, let me" in view.lone_thoughts.thoughts
    assert view.activity == view.lone_thoughts.thoughts_label == thinking_words(120.0)
    page = render_to_string("chat/activity.html", {"view": view})
    assert "Hm, let me" in page


def test_thoughts_of_an_answer_that_was_stopped_are_shown_once(session: Session) -> None:
    view = view_run(session, factories.stop_answer(session, [THOUGHT, factories.text_chunk("It is")]))
    assert [step.turn.cut for step in view.steps] == [True] and view.lone_thoughts is None


def test_a_version_without_the_answer_does_not_show_its_thoughts(session: Session) -> None:
    run = factories.stop_answer(session, [THOUGHT, factories.text_chunk("It is")])
    assert run.trigger
    (view,) = Transcript.ending_at(run.trigger).runs
    assert view.steps == () and view.lone_thoughts is None


def test_the_page_and_the_fragment_of_a_run_are_the_same(session: Session) -> None:
    first, _ = factories.play_flight(session)
    (on_page,) = Transcript.ending_at(session.head).runs
    assert view_run(session, Run.objects.get(pk=first.run_id)) == on_page


def test_an_active_run_shows_no_steps_because_the_browser_replays_it(session: Session) -> None:
    run = factories.make_run(session)
    factories.make_exchange(run)
    (view,) = Transcript.ending_at(session.head).runs
    assert view.is_active and view.steps == () and view.ending is None


def test_a_failed_run_without_an_answer_is_shown_in_place(session: Session) -> None:
    run = factories.make_run(session)
    run.end(Run.Status.FAILED, error=QuotaExceeded("Too many requests.", hint="Wait a minute."))
    (view,) = Transcript.ending_at(session.head).runs
    assert view.ending and view.ending.kind == "error"
    assert (view.ending.title, view.ending.hint) == ("Too many requests.", "Wait a minute.")


def test_the_newest_attempt_stands_for_a_message_without_an_answer(session: Session) -> None:
    first = factories.make_run(session)
    first.end(Run.Status.FAILED, error=QuotaExceeded("First."))
    again = Run.objects.create(
        session=session, trigger=first.trigger, client_id=uuid.uuid4(), status="running"
    )
    again.end(Run.Status.FAILED, error=QuotaExceeded("Second."))
    (view,) = Transcript.ending_at(session.head).runs
    assert view.run == again


def test_only_the_end_of_a_long_session_is_shown(session: Session) -> None:
    factories.make_history(session, WINDOW // 2 + 3)
    last = Transcript.ending_at(session.head)
    assert len(last.runs) == WINDOW // 2 and last.earlier is not None
    older = Transcript.ending_at(last.earlier.parent)
    assert [run.text for run in older.runs] == ["Question 0", "Question 1", "Question 2"]
    assert older.earlier is None


def test_a_run_longer_than_the_window_is_shown_whole(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    factories.make_history(session, 1)
    factories.play_flight(session)
    monkeypatch.setattr("sessions_app.chat.transcript.WINDOW", 2)
    transcript = Transcript.ending_at(session.head)
    assert len(transcript.runs) == 2 and transcript.earlier is None


def test_what_cannot_stand_in_search_can_stand_on_the_page(session: Session) -> None:
    factories.answered(session, "NUL \0 and \ud800 and 👩‍🚀", "🇮🇩 \0 done")
    (view,) = Transcript.ending_at(session.head).runs
    assert "👩‍🚀" in view.text and "🇮🇩" in view.steps[0].text


def test_a_run_has_the_account_of_its_requests(session: Session) -> None:
    factories.answered(session, "Hello", "Hi")
    (view,) = Transcript.ending_at(session.head).runs
    assert view.account and (view.account.prompt, view.account.verdict) == (1204, "cache hit")


def test_a_step_says_how_long_its_thoughts_took(session: Session) -> None:
    run = factories.make_run(session)
    chunks = [factories.text_chunk("Hm.", thought=True), factories.text_chunk("Yes.", finish="STOP")]
    exchange = factories.make_exchange(run, chunks)
    assert view_run(session, factories.finish(run)).steps[0].thoughts_label == "Thoughts"
    exchange.thought_ms = 4200.0
    exchange.save(update_fields=["thought_ms"])
    assert view_run(session, run).steps[0].thoughts_label == "Thought for 4 s"


def test_what_pipeweb_wrote_is_marked_also_when_it_is_answered_again(session: Session) -> None:
    run = factories.make_run(session, "Written by Pipeweb, not by a person.")
    Run.objects.filter(pk=run.pk).update(continuations=1, status=Run.Status.COMPLETED)
    facts = {"client_id": uuid.uuid4(), "status": Run.Status.COMPLETED}
    again = Run.objects.create(session=session, trigger=run.trigger, **facts)
    assert view_run(session, Run.objects.select_related("trigger__run").get(pk=again.pk)).is_continuation
    assert (
        not Transcript.ending_at(factories.answered(session, "Mine", "Yes.").run.trigger)
        .runs[-1]
        .is_continuation
    )


@pytest.mark.parametrize("template", ["tool", "thoughts", "text"])
def test_a_step_that_is_coming_looks_like_one_that_is_there(template: str) -> None:
    card = {
        "name": "check_flight",
        "title": "Check a flight",
        "args_label": "Arguments",
        "args": "{}",
        "response": "{}",
    }
    step = {"thoughts_label": "Thoughts", "thoughts": "Hm.", "text": "Yes."}
    finished = render_to_string(f"chat/{template}.html", {"card": card, "step": step})
    coming = render_to_string(f"chat/{template}.html").replace('<span class="tail"></span>', "")
    assert re.findall(OPENING, coming) == re.findall(OPENING, finished)
