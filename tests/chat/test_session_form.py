"""What a person may set, and what the forms refuse."""

from typing import Any, Literal, get_args, get_origin

import pytest
from django import forms
from django.contrib.auth.models import User

from sessions_app.catalogue import CATALOGUE
from sessions_app.chat.option_fields import OPTIONS, option_field
from sessions_app.chat.session_form import COLUMN_TABS, TEXT_LIMIT, SessionForm, option_label
from sessions_app.gemini.model_capabilities import capabilities_of
from sessions_app.models import Assistant, PromptText, Session, SessionSettings
from sessions_app.panels import TOOLBOX, available_tools
from sessions_app.panels.panel_list import COSTS
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


def levels(form: SessionForm) -> list[str]:
    return [value for value, _ in form.fields["thinking_level"].choices]  # type: ignore[attr-defined]


@pytest.mark.parametrize("model", CATALOGUE)
def test_the_levels_on_offer_are_those_of_the_model(session: Session, model: str) -> None:
    session.model = model
    assert levels(SessionForm(instance=session)) == ["", *capabilities_of(model).levels]


def test_the_levels_follow_the_model_that_is_chosen_with_them(session: Session) -> None:
    assert saved(session, thinking_level="MINIMAL").options.thinking_level == "MINIMAL"
    for model in ("gemini-3.1-pro-preview", "gemini-3.7-flash", "gemini-3.8-flash"):
        session.settings = {}
        form = form_for(session, model=model, thinking_level="MINIMAL")
        assert "thinking_level" in form.errors


def test_a_level_that_the_model_does_not_take_stays_where_it_was_set(session: Session) -> None:
    session.settings = {"thinking_level": "MINIMAL"}
    kept = saved(session, model="gemini-2.5-flash", thinking_level="MINIMAL")
    assert kept.options.thinking_level == "MINIMAL"


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
        ("provider_tools", ["google_maps"]),
        ("answer_schema", "{"),
        ("answer_schema", '{"type": "text"}'),
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
    elsewhere = {"panels", "panels_of_model", "skills", "dynamic_texts"}
    assert set(SessionSettings.model_fields) - set(OPTIONS) == elsewhere


@pytest.mark.parametrize("name", OPTIONS)
def test_a_setting_has_a_label_and_a_help(name: str) -> None:
    info = SessionSettings.model_fields[name]
    assert info.title, f"{name} has no title"
    assert info.description, f"{name} has no description"


@pytest.mark.parametrize("name", OPTIONS)
def test_a_setting_with_choices_names_each_of_them(name: str) -> None:
    annotation = SessionSettings.model_fields[name].annotation
    members = get_args(annotation)[0] if get_origin(annotation) is list else annotation
    values = get_args(members) if get_origin(members) is Literal else ()
    assert set(OPTIONS[name].choices) == set(values)


def test_the_form_takes_what_the_setting_takes() -> None:
    field = option_field("max_rounds")
    assert isinstance(field, forms.IntegerField) and (field.min_value, field.max_value) == (1, 100)
    assert field.label == SessionSettings.model_fields["max_rounds"].title
    assert option_label("max_rounds") == field.label and option_label("model") == "Model"
    assert option_label("nonsense") == ""


def test_the_tabs_show_every_option_once(session: Session) -> None:
    form = form_for(session)
    shown = [field.name for tab in form.tabs for field in (*tab.boxes, *tab.fields)]
    assert sorted([*shown, "tools"]) == sorted(OPTIONS)
    boxes = [one.box.data["value"] for group in form.tool_groups for one in group.boxes]
    assert sorted(boxes) == sorted(available_tools().names)


def test_every_field_of_the_form_stands_in_a_tab(session: Session) -> None:
    assert set(form_for(session).fields) == {*OPTIONS, *COLUMN_TABS}


def open_tabs(form: SessionForm) -> list[str]:
    return [tab.key for tab in form.tabs if tab.is_open]


def test_the_first_tab_is_open_unless_another_has_an_error(session: Session) -> None:
    assert open_tabs(form_for(session)) == ["assistant"]
    form = form_for(session, time_zone="Mars/Olympus", max_usd="-1")
    assert open_tabs(form) == ["limits"]
    assert [tab.key for tab in form.tabs if tab.has_errors] == ["limits", "advanced"]


def test_a_group_of_tools_says_what_is_on_and_what_it_costs(session: Session) -> None:
    session.settings = {"tools": ["calculate"]}
    groups = SessionForm(instance=session).tool_groups
    on = [group for group in groups if group.on]
    assert [group.on for group in on] == [1] and on[0].tokens == COSTS["calculate"]
    assert all(group.tokens == 0 for group in groups if not group.on)


SET: dict[str, tuple[object, object]] = {
    # name: what is typed, what is stored
    "thinking_level": ("LOW", "LOW"),
    "thinking_budget": ("512", 512),
    "temperature": ("0.5", 0.5),
    "top_p": ("0.9", 0.9),
    "auto_title": ("model", "model"),
    "include_thoughts": ("on", True),
    "language": ("Portuguese", "Portuguese"),
    "message_language": ("German", "German"),
    "time_zone": ("Europe/Lisbon", "Europe/Lisbon"),
    "clock_minutes": ("5", 5),
    "tools": (["calculate"], ["calculate"]),
    "provider_tools": (["google_search"], ["google_search"]),
    "answer_schema": ('{"type": "object"}', '{"type": "object"}'),
    "examples": ("user: Hi", [{"role": "user", "text": "Hi"}]),
    "variables": ("tone = calm", [{"name": "tone", "default": "calm"}]),
    "history_policy": ("strict", "strict"),
    "model_panels": ("all", "all"),
    "cache_mode": ("implicit", "implicit"),
    "cache_policy": ("seed", "seed"),
    "continue_cut": ("on", True),
    "continue_todos": ("on", True),
    "max_rounds": ("3", 3),
    "max_continuations": ("0", 0),
    "max_tokens": ("500", 500),
    "max_seconds": ("60", 60),
    "max_usd": ("0.5", 0.5),
    "budget_usd": ("2", 2.0),
}
NUMBERS = [name for name in OPTIONS if name.startswith(("max_", "budget_"))]
EMPTIED: dict[str, object] = {"include_thoughts": False, "continue_cut": False, "tools": []} | dict.fromkeys(
    ("temperature", "top_p", "thinking_budget", *NUMBERS)
)


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_is_stored_as_it_was_set(session: Session, name: str) -> None:
    typed, stored = SET[name]
    kept = saved(session, **{name: typed})
    kept.refresh_from_db()
    assert kept.settings[name] == kept.options.model_dump()[name] == stored


@pytest.mark.parametrize("name", OPTIONS)
def test_an_emptied_limit_is_no_limit_and_another_emptied_option_its_default(
    session: Session, name: str
) -> None:
    session.settings = {name: SET[name][1]}
    session.save()
    kept = saved(session, **{name: [] if name in ("tools", "provider_tools") else ""})
    kept.refresh_from_db()
    default = getattr(SessionSettings(), name)
    assert kept.settings[name] == getattr(kept.options, name) == EMPTIED.get(name, default)


@pytest.mark.parametrize("name", [name for name in OPTIONS if OPTIONS[name].group == "limits"])
def test_a_limit_that_was_never_stored_has_its_default(session: Session, name: str) -> None:
    session.settings = {}
    assert getattr(session.options, name) == SessionSettings.model_fields[name].default


def test_limits_and_policies_are_kept(session: Session) -> None:
    policies = {"history_policy": "strict", "cache_policy": "seed", "cache_mode": "implicit"}
    options = saved(session, **LIMITS, **policies, continue_todos="on").options
    assert (options.max_rounds, options.max_tokens, options.max_usd) == (3, 500, 0.5)
    assert (options.max_seconds, options.budget_usd) == (60, 2)
    assert (options.history_policy, options.cache_policy, options.cache_mode) == tuple(policies.values())
    assert (options.continue_cut, options.continue_todos) == (False, True)


def test_a_field_that_was_not_sent_stays_as_it_was(session: Session) -> None:
    session.settings = {"max_usd": 9.0, "max_rounds": 9, "cache_mode": "implicit"}
    session.save()
    options = saved(session).options
    assert (options.max_usd, options.max_rounds, options.cache_mode) == (9, 9, "implicit")


@pytest.mark.parametrize("field", ["max_rounds", "max_tokens", "max_usd", "max_seconds", "budget_usd"])
def test_a_limit_is_above_nothing(session: Session, field: str) -> None:
    form = form_for(session, **{field: "0"})
    assert field in form.errors and open_tabs(form) == ["limits"]


def test_an_assistant_can_be_picked(session: Session) -> None:
    guide = Assistant.objects.create(name="Guide")
    assert saved(session, assistant=guide.public).assistant == guide
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
    form.focus("thinking_level")
    assert open_tabs(form) == ["model"] and "autofocus" in str(form["thinking_level"])
    form.focus("nonsense")
    assert open_tabs(form) == ["model"]
