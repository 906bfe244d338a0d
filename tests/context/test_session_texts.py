"""What the texts of a session's prompt are, as written and as the model reads them."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import DjangoAssertNumQueries

from sessions_app.context.arguments import arguments_of
from sessions_app.context.session_texts import (
    MOVED,
    RenderedText,
    SessionText,
    expand_command,
    instructions_panel,
    read_texts,
    render_session_texts,
    static_sources,
)
from sessions_app.models import Assistant, PromptText, Session
from sessions_app.prompt.arguments import Arguments, MessageArguments
from sessions_app.prompt.layers import StaticSources
from sessions_app.prompt.templates import ChangeRate
from tests import factories

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 11, 21, 9, tzinfo=UTC)


@pytest.fixture
def session(alice: User) -> Session:
    return Session.objects.create(
        owner=alice, model="gemini-3-flash-preview", purpose="Learn.", settings={"language": "Dutch"}
    )


def text(kind: str, name: str, body: str = "", **fields: Any) -> PromptText:
    return PromptText.objects.create(kind=kind, name=name, body=body or f"Be {name}.", **fields)


def assistant(**fields: Any) -> Assistant:
    return Assistant.objects.create(name="Guide", **fields)


def written(session: Session, **values: Any) -> dict[str, RenderedText]:
    texts = render_session_texts(read_texts(session), Arguments(values), owner=1)
    return {each.text.source: each for each in texts}


def static(session: Session, *tools: str) -> StaticSources:
    return static_sources(session, render_session_texts(read_texts(session), Arguments(), owner=1), tools)


def move(session: Session, *sources: str) -> None:
    session.settings = {**session.settings, "dynamic_texts": list(sources)}


def test_roles_come_by_name_whatever_order_they_were_chosen_in(session: Session) -> None:
    session.roles.add(text("role", "zealous"), text("role", "attentive"))
    assert [role.name for role in static(session).roles] == ["attentive", "zealous"]


def test_a_role_nobody_chose_is_not_sent(session: Session) -> None:
    text("role", "unwanted")
    assert static(session).roles == ()


def test_the_procedure_is_the_sessions_own(session: Session) -> None:
    text("procedure", "other")
    session.procedure = text("procedure", "chosen")
    procedure = static(session).procedure
    assert procedure is not None and procedure.name == "chosen"


def test_constraints_hold_for_every_session(session: Session) -> None:
    text("constraint", "brief")
    assert [one.name for one in static(session).constraints] == ["brief"]


def test_purpose_language_and_tools_are_passed_on(session: Session) -> None:
    sources = static(session, "calculate")
    assert (sources.purpose, sources.language, sources.tools) == ("Learn.", "Dutch", ("calculate",))


def test_an_assistants_roles_stand_with_the_sessions_own(session: Session) -> None:
    session.assistant = assistant()
    shared = text("role", "shared")
    session.assistant.roles.add(text("role", "attentive"), shared)
    session.roles.add(text("role", "zealous"), shared)
    assert [role.name for role in static(session).roles] == ["attentive", "shared", "zealous"]


def test_the_assistants_procedure_and_language_stand_in_for_missing_ones(session: Session) -> None:
    session.assistant = assistant(language="Greek", procedure=text("procedure", "theirs"))
    session.settings = {}
    sources = static(session)
    assert sources.procedure is not None
    assert (sources.procedure.name, sources.language) == ("theirs", "Greek")


def test_the_sessions_procedure_and_language_come_first(session: Session) -> None:
    session.assistant = assistant(language="Greek", procedure=text("procedure", "a theirs"))
    session.procedure = text("procedure", "mine")
    sources = static(session)
    assert sources.procedure is not None
    assert (sources.procedure.name, sources.language) == ("mine", "Dutch")


def test_all_texts_cost_one_query(
    session: Session, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    session.assistant = assistant()
    session.roles.add(text("role", "zealous"), text("role", "attentive"))
    with django_assert_num_queries(1):
        static(session)


def test_a_text_is_a_template_with_defaults(session: Session) -> None:
    role = text("role", "R", "{{ tone }} {{ name }}", variables=[{"name": "tone", "default": "Calm"}])
    session.roles.add(role)
    assert written(session, name="Jo")[f"role:{role.pk}"].body == "Calm Jo"


def test_a_column_that_is_no_list_of_variables_has_no_defaults(session: Session) -> None:
    session.roles.add(text("role", "R", "[{{ tone }}]", variables={"tone": 1}))
    assert static(session).roles[0].body == "[]"


def test_one_text_that_fails_leaves_the_others_rendered(session: Session) -> None:
    session.purpose, session.background = "{% broken", "For {{ name }}"
    found = written(session, name="Jo")
    assert (found["purpose"].body, found["background"].body) == ("{% broken", "For Jo")


def test_a_clock_in_a_static_text_is_a_breaker_with_its_line(session: Session) -> None:
    session.background = "one\nIt is {{ system.current_time }}"
    breaker = written(session, system={"current_time": "9:00"})["background"].breakers[0]
    assert (breaker.path, breaker.line) == ("system.current_time", 2)


@pytest.mark.parametrize(
    ("description", "args", "rates"),
    [
        ("Knows {{ message.text }} on {{ system.current_date }}.", {}, [ChangeRate.ALWAYS]),
        ("It is {{ system.current_date }}.", {}, [ChangeRate.DAILY]),
        ("Works for {{ args.team }}.", {}, []),
        ("Plain.", {}, []),
        ("Knows {{ message.text }}.", {"assistant": {"description": "Fixed."}}, []),
        ("Knows {{ message.text }}.", {"assistant": "Fixed."}, []),
    ],
)
def test_a_description_that_changes_breaks_the_cache_of_the_text_that_uses_it(
    session: Session, description: str, args: dict[str, Any], rates: list[ChangeRate]
) -> None:
    session.assistant, session.args = assistant(description=description), args
    session.purpose, session.background = "{{ assistant.name }}", "{{ assistant.description|default('') }}"
    found = arguments_of(session, MessageArguments("Hi"), NOW)
    texts = {one.text.source: one for one in render_session_texts(read_texts(session), found, owner=1)}
    assert [(one.path, one.rate) for one in texts["background"].breakers] == [
        ("assistant.description", rate) for rate in rates
    ]
    assert texts["purpose"].breakers == ()


@pytest.mark.parametrize(
    ("args", "paths"),
    [
        ({}, ["system.current_time", "system.day_of_week", "message.text"]),
        ({"system": {"current_time": "noon"}}, ["system.day_of_week", "message.text"]),
        (
            {"system.day_of_week": "Monday", "message": {"text": "Hi"}},
            ["system.current_time", "message.text"],
        ),
    ],
)
def test_a_clock_that_the_sessions_arguments_set_breaks_nothing(
    session: Session, args: dict[str, Any], paths: list[str]
) -> None:
    session.args = args
    session.background = "{{ system.current_time }}{{ system.day_of_week[0] }}{{ message.text }}"
    found = arguments_of(session, MessageArguments("Hi"), NOW)
    texts = {one.text.source: one for one in render_session_texts(read_texts(session), found, owner=1)}
    breakers = texts["background"].breakers
    assert [one.path.removesuffix(".0") for one in breakers] == paths


def test_a_text_that_is_sent_as_written_breaks_nothing(session: Session) -> None:
    session.background = "{{ system.current_time }}{{ 1 / 0 }}"
    assert written(session)["background"].breakers == ()


def test_a_moved_text_stands_in_the_dynamic_layer_only(session: Session) -> None:
    role = text("role", "R", "{{ system.current_time }}")
    session.roles.add(role)
    move(session, f"role:{role.pk}", "purpose")
    clock = Arguments({"system": {"current_time": "9:00"}})
    texts = render_session_texts(read_texts(session), clock, owner=1)
    sources = static_sources(session, texts, ())
    panel = instructions_panel(texts, NOW)
    assert (sources.roles, sources.purpose) == ((), MOVED)
    assert panel is not None and panel.changed == NOW
    assert [(each["kind"], each["name"], each["text"]) for each in panel.value["texts"]] == [
        ("purpose", "", "Learn."),
        ("role", "R", "9:00"),
    ]
    assert not any(each.breakers for each in texts)


def test_the_library_can_say_that_a_text_is_dynamic(session: Session) -> None:
    session.roles.add(text("role", "R", layer=PromptText.Layer.DYNAMIC))
    found = next(each for each in read_texts(session) if each.kind == "role")
    assert found.is_dynamic and found.is_fixed


def test_without_moved_texts_there_is_no_panel(session: Session) -> None:
    move(session, "background", "role:99")
    assert instructions_panel(render_session_texts(read_texts(session), Arguments(), owner=1), NOW) is None


def test_a_text_is_called_by_its_kind_and_name() -> None:
    assert SessionText("role:1", "role", "Guide", "").title == "role “Guide”"
    assert SessionText("purpose", "purpose", "", "").title == "purpose"


@pytest.fixture
def blue_session(alice: User) -> Session:
    return factories.make_session(alice, args={"team": "Blue"})


def command(name: str, body: str, **fields: Any) -> None:
    PromptText.objects.create(kind="command", name=name, body=body, **fields)


def expanded(blue_session: Session, text: str) -> str:
    return expand_command(blue_session, text, factories.NOW)


def test_a_command_becomes_its_text(blue_session: Session) -> None:
    command("Weekly review", "Review the week of {{ team }}.")
    assert expanded(blue_session, "/weekly-review") == "Review the week of Blue."


def test_a_command_that_fails_keeps_what_the_person_wrote(blue_session: Session) -> None:
    command("Shorten", "Shorten: {{ message.text|round }}")
    assert expanded(blue_session, "/shorten a\nb") == "Shorten: {{ message.text|round }}\n\na\nb"


@pytest.mark.parametrize(
    "body",
    [
        "{{ message.text }}",
        "{{ message.text.split(' ')[0] }} {{ message.text[0] }}",
        "{% for message in args.old %}{{ message.text }}{% endfor %}{{ message.text }}",
    ],
)
def test_what_the_person_wrote_stands_once_where_the_command_uses_it(
    blue_session: Session, body: str
) -> None:
    command("Say", body)
    assert "\n\n" not in expanded(blue_session, "/say one two")


def test_a_name_without_letters_is_no_command(blue_session: Session) -> None:
    command("→", "Go there.")
    assert expanded(blue_session, "/- hello") == "/- hello"


def test_what_follows_the_name_stands_below(blue_session: Session) -> None:
    command("Shorten", "Shorten this.")
    assert expanded(blue_session, "/shorten a\nb") == "Shorten this.\n\na\nb"


def test_a_template_that_uses_the_rest_gets_it_once(blue_session: Session) -> None:
    command(
        "Shorten",
        "Shorten “{{ message.text }}” to {{ words }} words.",
        variables=[{"name": "words", "default": 9}],
    )
    assert expanded(blue_session, "/shorten this text") == "Shorten “this text” to 9 words."


@pytest.mark.parametrize("text", ["/unknown", "/", "/ shorten", "/etc/passwd is a file", "//shorten", "/!!!"])
def test_what_is_no_command_stays_as_it_was_typed(blue_session: Session, text: str) -> None:
    command("Shorten", "Shorten this.")
    assert expanded(blue_session, text) == text


def test_a_role_is_no_command(blue_session: Session) -> None:
    PromptText.objects.create(kind="role", name="Pilot", body="You fly.")
    assert expanded(blue_session, "/pilot") == "/pilot"


def test_an_ordinary_message_costs_no_query(
    blue_session: Session, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(0):
        assert expanded(blue_session, "Is it 1/2?") == "Is it 1/2?"
