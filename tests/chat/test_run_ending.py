"""How a run ended, in words, with what it cost and what would change it."""

from datetime import UTC, datetime

import httpx2
import pytest
from django.contrib.auth.models import User

from sessions_app.chat.run_ending import Ending, cost_of
from sessions_app.chat.session_form import SessionForm, option_label
from sessions_app.error_codes import RefusalCode
from sessions_app.errors import BudgetSpent, excerpt
from sessions_app.gemini.error_mapping import translate
from sessions_app.models import Exchange, Run, Session
from sessions_app.models.run import describe
from sessions_app.prompt.reply import Outcome
from sessions_app.wording import endings
from sessions_app.wording.outcomes import HINTS, NEWS, SENTENCES
from sessions_app.wording.refusals import lasting_hint
from tests import factories

HOPS = lasting_hint("max_hops")
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


@pytest.mark.parametrize("outcome", ["calls", "continues"])
def test_what_failed_after_an_answered_request_has_neither_its_cost_nor_its_response_id(outcome: str) -> None:
    answered = Exchange(prompt_tokens=1204, output_tokens=90, response_id="abc", outcome=outcome)
    refused = describe(BudgetSpent(RefusalCode.BUDGET_SPENT))
    ending = Ending.of(Run(status="failed", error=refused), [PAID, answered])
    assert ending and ending.request_id == ""
    assert ending.cost == endings.cost(2_408, 186, is_before=True) != endings.cost(2_408, 186)


def test_a_failed_run_without_an_error_still_has_words() -> None:
    ending = Ending.of(ended("failed"), [])
    assert ending and ending.title == endings.TITLES["failed"]


def test_a_stopped_run_is_labelled() -> None:
    ending = Ending.of(ended("stopped"), [PAID])
    assert ending and ending.kind == "note" and ending.title == endings.TITLES["stopped"]


def test_an_interrupted_run_offers_a_retry() -> None:
    ending = Ending.of(ended("interrupted"), [Exchange()])
    assert ending and ending.kind == "error"
    assert (ending.title, ending.hint) == (endings.TITLES["interrupted"], endings.ARRIVALS["nothing"])


@pytest.mark.parametrize(
    ("status", "title"), [("stopped", "unanswered"), ("interrupted", "interrupted")], ids=str
)
def test_a_run_without_requests_was_not_answered_and_nothing_is_said_of_tokens(
    status: str, title: str
) -> None:
    ending = Ending.of(ended(status), [])
    assert ending and (ending.title, ending.hint) == (endings.TITLES[title], endings.ARRIVALS["unasked"])
    assert ending.cost == ""


def test_the_beginning_of_an_answer_that_came_with_a_fork_is_kept() -> None:
    ending = Ending.of(ended("stopped"), [], is_cut=True)
    assert ending and (ending.title, ending.cost) == (endings.TITLES["stopped"], "")
    assert ending.hint == endings.ARRIVALS["something"]


@pytest.mark.parametrize("is_cut", [True, False])
def test_a_failure_says_that_something_is_kept_where_it_stands(is_cut: bool) -> None:
    error = translate(httpx2.ReadError("gone"))
    ending = Ending.of(Run(status="failed", error=describe(error)), [PAID], is_cut=is_cut)
    assert ending and ending.hint == endings.beside_what_stands(error.hint, is_cut=is_cut)
    assert (endings.ARRIVALS["something"] in ending.hint) is is_cut
    unfinished = Ending.of(ended("completed", "unfinished"), [PAID], is_cut=is_cut)
    assert unfinished and (endings.ARRIVALS["something"] in unfinished.hint) is is_cut


def test_a_refusal_of_ours_says_itself_what_is_kept() -> None:
    ending = Ending.of(ended("failed", reason="max_hops"), [PAID], is_cut=True)
    assert ending and ending.hint == HOPS


@pytest.mark.parametrize(("last", "hint"), [("calls", "called"), ("complete", "hint")])
def test_calls_are_said_to_be_run_where_there_were_some(last: str, hint: str) -> None:
    """Those of an answer whose reason is known do not count."""
    known = Exchange(finish_reason="STOP", outcome="calls")
    ending = Ending.of(ended("completed"), [known, Exchange(finish_reason="NEW", outcome=last)])
    assert ending and ending.hint == NEWS[hint]


@pytest.mark.parametrize("status", ["stopped", "interrupted"])
def test_what_arrived_is_said_to_be_kept_where_something_did(status: str) -> None:
    waited, answered = Exchange(), Exchange(first_chunk_ms=12.5)
    for exchanges, arrival in (([waited], "nothing"), ([answered, waited], "something")):
        ending = Ending.of(ended(status), exchanges)
        assert ending and ending.hint == endings.ARRIVALS[arrival]


def test_cost_counts_thoughts_as_output() -> None:
    assert cost_of([PAID, PAID]) == endings.cost(2_408, 192)


def test_what_was_not_counted_cost_nothing_known() -> None:
    assert cost_of([Exchange()]) == endings.COSTS["uncharged"]


@pytest.mark.django_db
def test_what_a_stopped_answer_cost_is_called_the_last_count(alice: User) -> None:
    bodies = [factories.text_chunk("It is", usage=factories.USAGE)]
    run = factories.stop_answer(factories.make_session(alice), bodies)
    ending = Ending.of(run, list(run.exchanges.all()))
    assert ending and ending.cost == endings.cost(1_204, 136, is_cut_off=True) != endings.cost(1_204, 136)


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
