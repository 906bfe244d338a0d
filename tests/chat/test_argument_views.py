"""The page of a session's arguments: what is refused, what is shown, what moves."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from sessions_app.chat.argument_views import ARGS_LIMIT, ArgsForm
from sessions_app.context.session_texts import read_texts
from sessions_app.models import PromptText, Session
from tests import factories


@pytest.fixture
def session(alice: User) -> Session:
    return factories.make_session(alice, purpose="For {{ name }}", args={"name": "Jo"})


def url(session: Session, name: str = "arguments") -> str:
    return reverse(name, args=[session.public])


def shown(client: Client, session: Session) -> str:
    return client.get(url(session)).content.decode()


def role(body: str, **fields: Any) -> PromptText:
    return PromptText.objects.create(kind="role", name="Guide", body=body, **fields)


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ('{"a": }', "Line 1, column 7"),
        ("{\n'a': 1}", "Line 2, column 1"),
        ("[1]", "Write an object"),
        ('"text"', "Write an object"),
        ('{"a": ' * 25 + "1" + "}" * 25, "At most 20 levels"),
        ("[" * 50_000, "lists and objects"),
        ('{"who": "Ada", "who.x": 1}', "“who” is not used beside “who.x”"),
        (json.dumps({"a": "x" * ARGS_LIMIT}), "at most"),
    ],
)
def test_wrong_arguments_are_refused_with_the_reason(typed: str, words: str) -> None:
    form = ArgsForm({"args": typed})
    assert words in str(form.errors)


@pytest.mark.parametrize(("typed", "args"), [("", {}), (" \n", {}), ('{"a": [1]}', {"a": [1]})])
def test_an_object_or_nothing_is_taken(typed: str, args: dict[str, Any]) -> None:
    form = ArgsForm({"args": typed})
    assert form.is_valid() and form.cleaned_data["args"] == args


def test_arguments_are_kept(client: Client, session: Session) -> None:
    answer = client.post(url(session), {"args": '{"name": "Ann"}'}, headers={"HX-Request": "true"})
    session.refresh_from_db()
    assert session.args == {"name": "Ann"}
    assert "Saved" in answer.content.decode() and "For Ann" in answer.content.decode()


def test_nothing_typed_is_lost_on_an_error(client: Client, session: Session) -> None:
    answer = client.post(url(session), {"args": '{"name": oops}'}).content.decode()
    session.refresh_from_db()
    assert session.args == {"name": "Jo"}
    assert "{&quot;name&quot;: oops}" in answer and "Line 1, column 10" in answer


def test_a_preview_keeps_nothing(client: Client, session: Session) -> None:
    answer = client.post(url(session, "arguments-preview"), {"args": '{"name": "Ann"}'}).content.decode()
    session.refresh_from_db()
    assert "For Ann" in answer and session.args == {"name": "Jo"}


def test_a_preview_of_broken_arguments_shows_only_the_error(client: Client, session: Session) -> None:
    answer = client.post(url(session, "arguments-preview"), {"args": "{"})
    assert answer.headers["HX-Retarget"] == "#args-error"
    assert "Line 1" in answer.content.decode() and "For" not in answer.content.decode()


def test_every_name_stands_with_its_value(client: Client, session: Session) -> None:
    page = shown(client, session)
    for name in (
        "system.current_date",
        "conversation.identifier",
        "session.mode",
        "args.name",
        "message.text",
    ):
        assert f"<code>{name}</code>" in page
    assert str(session.public) in page


def test_a_default_stands_with_the_texts_that_have_it_until_an_argument_replaces_it(
    client: Client, session: Session
) -> None:
    variables = [{"name": "town.name", "default": "Lisbon"}]
    session.roles.add(role("Bake in {{ town.name }}", variables=variables))
    assert "default in role “Guide”" in shown(client, session) and "town.name" in shown(client, session)
    Session.objects.update(args={"town": {"name": "Porto"}})
    assert "default in" not in shown(client, session)


def test_arguments_of_an_earlier_version_that_are_dropped_are_told(client: Client, session: Session) -> None:
    Session.objects.update(args={"who": "Ada", "who.x": 1})
    assert "“who” is not used beside “who.x”" in shown(client, session)


def test_collisions_are_told(client: Client, session: Session) -> None:
    Session.objects.update(args={"message": {"text": "mine"}, "customer-name": "Jo"})
    page = shown(client, session)
    assert "“message” is a reserved name" in page and "“customer-name” cannot be written" in page


def test_a_text_that_fails_says_where_and_why(client: Client, session: Session) -> None:
    Session.objects.update(purpose="one\n{% broken")
    page = shown(client, session)
    assert "sent as written" in page and "Line 2:" in page


def test_a_text_is_shown_as_text(client: Client, session: Session) -> None:
    Session.objects.update(purpose="<script>{{ name }}</script>")
    assert "&lt;script&gt;Jo&lt;/script&gt;" in shown(client, session)


def test_one_click_moves_a_cache_breaker_and_another_moves_it_back(client: Client, session: Session) -> None:
    guide = role("It is\n{{ system.current_time }}")
    session.roles.add(guide)
    assert "Line 2 uses <code>system.current_time</code>" in shown(client, session)
    source = f"role:{guide.pk}"
    moved = client.post(url(session, "move-text"), {"source": source, "layer": "dynamic"}).content.decode()
    session.refresh_from_db()
    assert session.options.dynamic_texts == [source]
    assert "Line 2 uses" not in moved and "Move to the static layer" in moved
    client.post(url(session, "move-text"), {"source": source, "layer": "static"})
    session.refresh_from_db()
    assert session.options.dynamic_texts == []


@pytest.mark.parametrize("source", ["", "role:999", "constraint", "purpose; drop"])
def test_what_is_no_text_of_the_session_cannot_be_moved(
    client: Client, session: Session, source: str
) -> None:
    assert client.post(url(session, "move-text"), {"source": source}).status_code == 400


def test_what_the_library_made_dynamic_cannot_be_moved(client: Client, session: Session) -> None:
    guide = role("x", layer="dynamic")
    session.roles.add(guide)
    answer = client.post(url(session, "move-text"), {"source": f"role:{guide.pk}", "layer": "static"})
    assert answer.status_code == 400


@pytest.mark.parametrize("name", ["arguments", "arguments-preview", "move-text"])
def test_another_persons_session_does_not_exist(stranger: Client, session: Session, name: str) -> None:
    assert stranger.post(url(session, name), {"args": "{}"}).status_code == 404


def test_the_page_costs_the_same_with_many_roles(
    client: Client, session: Session, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(12):
        session.roles.add(PromptText.objects.create(kind="role", name=f"R{number}", body="{{ name }}"))
    with django_assert_max_num_queries(8):
        shown(client, session)


def test_the_settings_say_what_is_wrong_with_the_texts(client: Client, session: Session) -> None:
    Session.objects.update(purpose="{% broken", background="{{ message.text }}")
    page = client.get(url(session, "session-settings")).content.decode()
    assert "1 text is sent as written: purpose." in page
    assert "1 text breaks the cache: instructions." in page


def test_a_text_that_moves_keeps_settings_that_change_at_the_same_moment(
    client: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def switched_meanwhile(found: Session) -> Any:
        monkeypatch.undo()
        Session.objects.get(pk=found.pk).switch_panel("tree", on=True)
        return read_texts(found)

    monkeypatch.setattr("sessions_app.chat.argument_views.read_texts", switched_meanwhile)
    client.post(url(session, "move-text"), {"source": "purpose", "layer": "dynamic"})
    session.refresh_from_db()
    assert session.options.dynamic_texts == ["purpose"] and session.options.panels == {"tree": True}
