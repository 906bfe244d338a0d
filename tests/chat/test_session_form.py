"""What a person may set, and what the forms refuse."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from sessions_app.chat.session_form import TEXT_LIMIT, SessionForm
from sessions_app.models import Assistant, PromptText, Session, SessionSettings
from sessions_app.tools import TOOLBOX
from tests import factories

MODEL = factories.MODEL


@pytest.fixture
def session(alice: User) -> Session:
    return factories.make_session(alice)


def form_for(session: Session, **data: Any) -> SessionForm:
    return SessionForm({"model": MODEL, "tools": list(TOOLBOX.standard), **data}, instance=session)


def saved(session: Session, **data: Any) -> Session:
    form = form_for(session, **data)
    assert form.is_valid(), form.errors
    return form.save()


def test_everything_but_the_model_may_stay_empty(session: Session) -> None:
    assert form_for(session).is_valid()
    assert not SessionForm({}, instance=session).is_valid()


def test_options_are_kept_beside_what_the_form_does_not_show(session: Session) -> None:
    session.settings = {"clock_minutes": 5}
    session.save()
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


LIMITS = {"max_rounds": "3", "max_tokens": "500", "max_usd": "0.5", "max_seconds": "60", "budget_usd": "2"}


def test_every_setting_of_a_person_is_in_the_form() -> None:
    elsewhere = {"panels", "skills", "dynamic_texts"}
    assert set(SessionSettings.model_fields) - set(SessionForm.OPTIONS) == elsewhere


def test_limits_and_policies_are_kept(session: Session) -> None:
    policies = {"history_policy": "strict", "cache_policy": "seed", "cache_mode": "implicit"}
    options = saved(session, **LIMITS, **policies, continue_todos="on").options
    assert (options.max_rounds, options.max_tokens, options.max_usd) == (3, 500, 0.5)
    assert (options.max_seconds, options.budget_usd) == (60, 2)
    assert (options.history_policy, options.cache_policy, options.cache_mode) == tuple(policies.values())
    assert (options.continue_cut, options.continue_todos) == (False, True)


def test_an_emptied_limit_is_no_limit_and_an_emptied_number_its_default(session: Session) -> None:
    session.settings = {"max_usd": 9, "max_rounds": 9, "clock_minutes": 5}
    session.save()
    options = saved(session, max_usd="", max_rounds="", clock_minutes="").options
    assert (options.max_usd, options.max_rounds, options.clock_minutes) == (None, 10, 60)


def test_a_field_that_was_not_sent_stays_as_it_was(session: Session) -> None:
    session.settings = {"max_usd": 9.0, "max_rounds": 9, "cache_mode": "implicit"}
    session.save()
    options = saved(session).options
    assert (options.max_usd, options.max_rounds, options.cache_mode) == (9, 9, "implicit")


@pytest.mark.parametrize("field", ["max_rounds", "max_tokens", "max_usd", "max_seconds", "budget_usd"])
def test_a_limit_is_above_nothing(session: Session, field: str) -> None:
    form = form_for(session, **{field: "0"})
    assert field in form.errors and form.open_groups == {"limits"}


def test_an_assistant_can_be_picked(session: Session) -> None:
    guide = Assistant.objects.create(name="Guide")
    assert saved(session, assistant=guide.pk).assistant == guide
    assert saved(session, assistant="").assistant is None


def test_saving_leaves_alone_what_a_run_is_writing(session: Session) -> None:
    form = form_for(session)
    Session.objects.filter(pk=session.pk).update(
        exchange_count=7, spent_usd=1, settings={"panels": {"tree": True}}
    )
    assert form.is_valid()
    form.save()
    session.refresh_from_db()
    assert session.exchange_count == 7
    assert session.spent_usd == 1
    assert session.options.panels == {"tree": True}


def test_the_field_that_a_person_came_for_stands_open(alice: User) -> None:
    form = SessionForm(instance=factories.make_session(alice))
    form.open_at("thinking_level")
    assert form.open_groups == {"answer"} and "autofocus" in str(form["thinking_level"])
    form.open_at("nonsense")
    assert form.open_groups == {"answer"}
