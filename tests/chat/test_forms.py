"""What a person may set, and what the forms refuse."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from sessions_app.chat.forms import TEXT_LIMIT, FileForm, SessionForm, TitleForm
from sessions_app.models import PromptText, Session
from sessions_app.tools import TOOLBOX
from tests import factories

MODEL = factories.MODEL


@pytest.fixture
def session(alice: User) -> Session:
    return factories.make_session(alice)


def form_for(session: Session, **data: Any) -> SessionForm:
    return SessionForm({"model": MODEL, "tools": list(TOOLBOX.names), **data}, instance=session)


def saved(session: Session, **data: Any) -> Session:
    form = form_for(session, **data)
    assert form.is_valid(), form.errors
    return form.save()


def test_everything_but_the_model_may_stay_empty(session: Session) -> None:
    assert form_for(session).is_valid()
    assert not SessionForm({}, instance=session).is_valid()


def test_options_are_kept_beside_what_the_form_does_not_show(session: Session) -> None:
    session.settings = {"clock_minutes": 5}
    kept = saved(session, temperature="0.5", thinking_level="LOW", language="Portuguese")
    assert kept.options.clock_minutes == 5
    assert (kept.options.temperature, kept.options.thinking_level) == (0.5, "LOW")
    assert kept.options.language == "Portuguese"


def test_all_tools_chosen_means_later_tools_too(session: Session) -> None:
    assert saved(session).options.tools is None


def test_a_choice_of_tools_is_kept(session: Session) -> None:
    kept = saved(session, tools=["list_todos", "calculate"])
    assert kept.options.tools == ["calculate", "list_todos"]


def test_no_tools_is_a_choice_too(session: Session) -> None:
    assert saved(session, tools=[]).options.tools == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("temperature", "2.5"),
        ("thinking_level", "EXTREME"),
        ("time_zone", "Mars/Olympus"),
        ("tools", ["rm"]),
        ("model", "no-such-model"),
        ("purpose", "x" * (TEXT_LIMIT + 1)),
        ("background", "x" * (TEXT_LIMIT + 1)),
    ],
)
def test_wrong_values_are_refused(session: Session, field: str, value: object) -> None:
    form = form_for(session, **{field: value})
    assert field in form.errors


def test_the_sessions_own_model_stays_possible(session: Session) -> None:
    session.model = "gemini-of-tomorrow"
    assert form_for(session, model="gemini-of-tomorrow").is_valid()


def test_roles_come_from_the_library(session: Session) -> None:
    role = PromptText.objects.create(kind=PromptText.Kind.ROLE, name="Pilot", body="You fly.")
    procedure = PromptText.objects.create(kind=PromptText.Kind.PROCEDURE, name="Checklist", body="1. Check.")
    kept = saved(session, roles=[role.pk], procedure=procedure.pk)
    assert list(kept.roles.all()) == [role] and kept.procedure == procedure


def test_a_procedure_is_not_a_role(session: Session) -> None:
    procedure = PromptText.objects.create(kind=PromptText.Kind.PROCEDURE, name="Checklist", body="1. Check.")
    assert "roles" in form_for(session, roles=[procedure.pk]).errors


def test_a_title_has_a_length() -> None:
    assert TitleForm({"title": "x" * 120}).is_valid()
    assert not TitleForm({"title": "x" * 121}).is_valid()


def test_a_file_form_needs_a_file_or_a_path() -> None:
    assert not FileForm({}).is_valid()
    assert FileForm({"path": "notes.md"}).is_valid()
