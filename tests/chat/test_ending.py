"""Every way a run can end has words, and says whether it cost something."""

from datetime import UTC, datetime

import pytest

from sessions_app.chat.ending import SETTINGS, UNCHARGED, Ending, cost_words
from sessions_app.chat.session_form import SessionForm
from sessions_app.models import Exchange, Run, Session
from sessions_app.prompt.reply import Outcome

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
    assert ending and ending.kind == "note" and ending.title == outcome.words and ending.hint == outcome.hint


@pytest.mark.django_db
def test_the_one_setting_that_would_change_it_is_a_field_of_the_form() -> None:
    named = {outcome.setting for outcome in Outcome} - {""}
    assert named == SETTINGS.keys()
    assert named <= SessionForm(instance=Session()).fields.keys()


def test_an_answer_that_failed_leads_to_its_setting_as_well() -> None:
    ending = Ending.of(ended("failed", "no_room", message="No room."), [])
    assert ending and (ending.setting, ending.setting_words) == ("thinking_level", "Thinking level")


def test_a_failed_run_shows_its_error_and_the_response_id() -> None:
    ending = Ending.of(ended("failed", message="Too many requests.", hint="Wait."), [PAID])
    assert ending and (ending.kind, ending.title, ending.request_id) == ("error", "Too many requests.", "abc")


def test_a_failed_run_without_an_error_still_has_words() -> None:
    ending = Ending.of(ended("failed"), [])
    assert ending and ending.title == "The run failed."


def test_a_stopped_run_is_labelled() -> None:
    ending = Ending.of(ended("stopped"), [PAID])
    assert ending and ending.kind == "note" and ending.title == "Stopped."


def test_an_interrupted_run_offers_a_retry() -> None:
    ending = Ending.of(ended("interrupted"), [])
    assert ending and ending.kind == "error" and "Retry" in ending.hint


def test_cost_counts_thoughts_as_output() -> None:
    assert cost_words([PAID, PAID]) == "It cost 2,408 prompt and 192 output tokens."


def test_what_was_not_counted_cost_nothing_known() -> None:
    assert cost_words([Exchange()]) == UNCHARGED


def test_a_page_of_words_from_the_provider_is_a_sentence_and_a_detail() -> None:
    run = Run(status=Run.Status.FAILED, error={"message": "Too much. See https://example.org. \n* limit: 20"})
    ending = Ending.of(run, [])
    assert ending is not None
    assert (ending.title, ending.detail) == ("Too much.", "See https://example.org. \n* limit: 20")


def test_a_full_quota_says_when_to_ask_again() -> None:
    run = ended("failed", message="Too many requests.")
    run.error["retry_after"], run.ended_at = 23.0, datetime(2026, 11, 21, 9, tzinfo=UTC)
    ending = Ending.of(run, [])
    assert ending and ending.ready_at == datetime(2026, 11, 21, 9, 0, 23, tzinfo=UTC)
