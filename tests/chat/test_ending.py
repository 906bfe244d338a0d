"""Every way a run can end has words, and says whether it cost something."""

import pytest

from sessions_app.chat.ending import UNCHARGED, Ending, cost_words
from sessions_app.models import Exchange, Run
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
