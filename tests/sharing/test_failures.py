"""A failure is told as a code that anybody with the link may know."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from sessions_app import errors
from sessions_app.error_codes import RefusalCode, SharedFailure
from sessions_app.errors import GatewayError, PipewebError
from sessions_app.models import Run
from sessions_app.models.run import describe
from sessions_app.prompt.outcomes import Outcome
from sessions_app.sharing.failures import failure_code
from sessions_app.wording import endings, sharing
from tests.factories import answered, make_run, make_session
from tests.sharing.links import snapshot_of

CODES: list[tuple[PipewebError, SharedFailure | Outcome]] = [
    (errors.QuotaExceeded("key AIza is over its quota", code=429), SharedFailure.QUOTA),
    (errors.ProviderDown("overloaded", code=503), SharedFailure.PROVIDER_DOWN),
    (errors.BadKey("API key not valid", code=400), SharedFailure.REFUSED),
    (errors.Unreachable("10.0.0.7 refused"), SharedFailure.NOT_REACHED),
    (errors.AnswerRefused(RefusalCode.ANSWER_TOO_LARGE, limit=1), SharedFailure.UNREADABLE),
    (errors.BudgetSpent(RefusalCode.BUDGET_SPENT), SharedFailure.LIMIT),
    (errors.HistoryInvalid(RefusalCode.HISTORY_INVALID), SharedFailure.NOT_SENT),
    (errors.FilesNotUploaded(["a-key"]), SharedFailure.NOT_SENT),
    (errors.StorageFull(), SharedFailure.BROKEN),
    (errors.NoAnswer(Outcome.SAFETY.value, finish_reason="SAFETY"), Outcome.SAFETY),
    (errors.NoAnswer(Outcome.FAILED.value), SharedFailure.IN_ANSWER),
]


@pytest.mark.parametrize(("error", "code"), CODES, ids=lambda value: type(value).__name__)
def test_an_error_of_a_run_has_its_code(error: PipewebError, code: SharedFailure | Outcome) -> None:
    assert failure_code(describe(error)) is code


@pytest.mark.parametrize("error", [{}, {"kind": "GuardRail"}, {"kind": "EXCERPT_LIMIT"}, {"kind": "Mapping"}])
def test_what_this_version_does_not_know_has_none(error: dict[str, Any]) -> None:
    assert failure_code(error) is None


@pytest.mark.django_db
def test_a_copy_says_why_there_is_no_answer_and_nothing_of_the_provider(alice: User) -> None:
    session = make_session(alice)
    answered(session, "Hello", "Hi")
    run = make_run(session, "And now?")
    run.end(Run.Status.FAILED, error=GatewayError("projects/12345 has no access", code=403))
    copy = snapshot_of(session)
    assert copy.messages[-1].ending_title == sharing.FAILURES[SharedFailure.REFUSED]
    assert "12345" not in copy.stored().decode()


@pytest.mark.django_db
def test_a_copy_of_an_unknown_error_says_that_the_run_failed(alice: User) -> None:
    session = make_session(alice)
    answered(session, "Hello", "Hi")
    make_run(session, "And now?").end(Run.Status.FAILED)
    assert snapshot_of(session).messages[-1].ending_title == endings.TITLES["failed"]
