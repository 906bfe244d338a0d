"""From turns to runs: grouping, windows, cards, endings."""

import re
import uuid
from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import User
from django.template.loader import render_to_string

from sessions_app.chat.run_ending import Ending, cost_of
from sessions_app.chat.session_form import SessionForm, option_label
from sessions_app.chat.transcript import WINDOW, Transcript, view_run
from sessions_app.errors import QuotaExceeded, excerpt
from sessions_app.models import Exchange, Run, Session
from sessions_app.prompt.reply import Outcome
from sessions_app.wording import endings, resends
from sessions_app.wording.outcomes import HINTS, SENTENCES
from tests import factories

PAID = Exchange(prompt_tokens=1204, output_tokens=90, thought_tokens=6, response_id="abc")


def ended(status: str, outcome: str = "", **error: str) -> Run:
    return Run(status=status, outcome=outcome, error=error)


@pytest.mark.parametrize("outcome", ["", "complete", "calls", "from a newer version"])
def test_a_complete_run_needs_no_words(outcome: str) -> None:
    assert Ending.of(ended("completed", outcome), []) is None


def test_an_active_run_has_not_ended() -> None:
    assert Ending.of(ended("running", "max_tokens"), []) is None


@pytest.mark.parametrize(
    "outcome", [kind for kind in Outcome if kind not in (Outcome.COMPLETE, Outcome.CALLS)]
)
def test_every_other_outcome_is_explained(outcome: Outcome) -> None:
    ending = Ending.of(ended("completed", outcome.value), [])
    assert (
        ending
        and ending.kind == "note"
        and (ending.title, ending.hint) == (SENTENCES[outcome], HINTS[outcome])
    )


@pytest.mark.django_db
def test_the_one_setting_that_would_change_it_is_a_field_of_the_form() -> None:
    named = {outcome.setting for outcome in Outcome} - {""}
    assert named <= SessionForm(instance=Session()).fields.keys()
    assert all(option_label(name) for name in named)


def test_an_answer_that_failed_leads_to_its_setting_as_well() -> None:
    ending = Ending.of(ended("failed", "no_room", message="No room."), [])
    assert ending and (ending.setting, ending.setting_label) == ("thinking_level", "Thinking level")


def test_a_failed_run_shows_its_error_and_the_response_id() -> None:
    ending = Ending.of(ended("failed", message="Too many requests.", hint="Wait."), [PAID])
    assert ending and (ending.kind, ending.title, ending.request_id) == ("error", "Too many requests.", "abc")


def test_a_failed_run_without_an_error_still_has_words() -> None:
    ending = Ending.of(ended("failed"), [])
    assert ending and ending.title == endings.TITLES["failed"]


def test_a_stopped_run_is_labelled() -> None:
    ending = Ending.of(ended("stopped"), [PAID])
    assert ending and ending.kind == "note" and ending.title == endings.TITLES["stopped"]


def test_an_interrupted_run_offers_a_retry() -> None:
    ending = Ending.of(ended("interrupted"), [])
    assert ending and ending.kind == "error"
    assert (ending.title, ending.hint) == (endings.TITLES["interrupted"], endings.HINTS["interrupted"])


def test_cost_counts_thoughts_as_output() -> None:
    assert cost_of([PAID, PAID]) == endings.cost(2_408, 192)


def test_what_was_not_counted_cost_nothing_known() -> None:
    assert cost_of([Exchange()]) == endings.COSTS["uncharged"]


def failed_with(message: str) -> Ending:
    ending = Ending.of(Run(status=Run.Status.FAILED, error={"message": message}), [])
    assert ending is not None
    return ending


@pytest.mark.parametrize(
    "message",
    [
        "Resource has been exhausted (e.g. check quota).",
        "Function call `f` in the 2. content block is missing a `thought_signature`.",
        "Too much. See https://example.org. \n* limit: 20",
    ],
)
def test_what_the_provider_said_is_not_cut_where_a_sentence_may_end(message: str) -> None:
    ending = failed_with(message)
    assert (ending.title, ending.detail) == (message, "")


def test_a_page_of_words_from_the_provider_is_an_excerpt_with_all_of_it_behind() -> None:
    message = "Quota exceeded for metric: requests. " * 20
    ending = failed_with(message)
    assert (ending.title, ending.detail) == (excerpt(message), message.strip())


def test_a_full_quota_says_when_to_ask_again() -> None:
    run = ended("failed", message="Too many requests.")
    run.error["retry_after"], run.ended_at = 23.0, datetime(2026, 11, 21, 9, tzinfo=UTC)
    ending = Ending.of(run, [])
    assert ending and ending.ready_at == datetime(2026, 11, 21, 9, 0, 23, tzinfo=UTC)


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
