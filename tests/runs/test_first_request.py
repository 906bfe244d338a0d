"""The first request of a run is prepared where the run is stored, unless something else comes before it."""

import uuid
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User

from sessions_app.errors import BudgetHeld, BudgetSpent, FilesNotUploaded
from sessions_app.models import Exchange, Run, Session
from sessions_app.panels import TOOLBOX
from sessions_app.prompt.turns import TurnKind
from sessions_app.runs import first_request as module
from sessions_app.runs.first_request import FirstOutcome, create_run, first_request
from sessions_app.runs.request import Endpoint
from sessions_app.runs.start import start_send
from tests.factories import make_session

pytestmark = pytest.mark.django_db

ENDPOINT = Endpoint("0123456789abcdef", "Emulator", "gemini", True, lambda model, body: body)


@pytest.fixture
def session(alice: User) -> Session:
    return make_session(alice)


def sent(session: Session) -> Run:
    run = start_send(session.pk, uuid.uuid4(), "Hello", "here")
    assert run is not None
    return run


def first_of(run: Run) -> FirstOutcome | None:
    return first_request(run, ENDPOINT, TOOLBOX)


def test_it_is_stored_with_its_run(session: Session) -> None:
    created = create_run(lambda: sent(session), lambda session, turn: "<files>", first_of)
    assert created is not None and created.first is not None
    prepared = created.first.result()
    assert Exchange.objects.get(run=created.run).pk == prepared.exchange.pk
    assert created.files == "<files>"


def test_without_a_run_there_is_none() -> None:
    assert create_run(lambda: None, lambda session, turn: "", first_of) is None


@pytest.mark.parametrize("settings", [{"tools": ["clock__now"]}, {"panels": {"console": True}}])
def test_it_waits_for_tools_of_a_server_and_for_programs(
    session: Session, monkeypatch: pytest.MonkeyPatch, settings: dict[str, object]
) -> None:
    Session.objects.filter(pk=session.pk).update(settings=settings)
    monkeypatch.setattr(module, "prepare", raising(AssertionError()))
    assert first_of(sent(session)) is None


def test_a_run_that_goes_on_from_tool_responses_has_calls_to_run_first(session: Session) -> None:
    run = sent(session)
    assert run.trigger is not None
    run.trigger.kind = TurnKind.TOOL_RESPONSE
    assert first_of(run) is None


@pytest.mark.parametrize("error", [BudgetHeld, FilesNotUploaded])
def test_it_waits_for_money_and_files(
    session: Session, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    monkeypatch.setattr(module, "prepare", raising(error.__new__(error)))
    assert first_of(sent(session)) is None


@pytest.mark.parametrize("error", [BudgetSpent, KeyError])
def test_what_keeps_a_run_from_it_is_raised_where_the_run_awaits_it(
    session: Session, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    monkeypatch.setattr(module, "prepare", raising(error.__new__(error)))
    first = first_of(sent(session))
    assert first is not None
    with pytest.raises(error):
        first.result()


def raising(error: Exception) -> Callable[..., None]:
    def prepare(*args: object, **named: object) -> None:
        raise error

    return prepare
