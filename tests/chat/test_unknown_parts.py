"""Assistants and chats that hold what this version does not know, as a newer version would write it."""

from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from sessions_app.models import Assistant, PromptText, Session
from tests.browser_forms import posted_unchanged
from tests.factories import make_session

USER, CRITIC = {"role": "user", "text": "Hi"}, {"role": "critic", "text": "No"}
NAME = {"name": "tone", "default": "calm"}

PARTS: dict[str, tuple[Any, Any, str]] = {
    "provider_tools": (["google_search", "tomorrow"], ["google_search"], "“tomorrow”"),
    "tools": (["calculate", 7], ["calculate"], "“7”"),
    "thinking_level": ("ULTRA", "", "“ULTRA”"),
    "examples": ([USER, CRITIC], [USER], '“{"role": "critic", "text": "No"}”'),
    "variables": ([NAME, "a"], [NAME], "“a”"),
}
"""Setting → what is stored, what of it is known, and how the rest is named."""

EACH_PART = pytest.mark.parametrize("name", PARTS)


@pytest.fixture(params=["own", "installed"])
def owner(request: pytest.FixtureRequest, alice: User) -> User | None:
    return alice if request.param == "own" else None


def made(owner: User | None, **fields: Any) -> Assistant:
    return Assistant.objects.create(owner=owner, name="Baker", instructions="In grams.", **fields)


def posted(page: bytes, field: str) -> dict[str, Any]:
    """The form of the page; the forms of the ribbon have no such field."""
    found = posted_unchanged(page.decode())
    assert field in found
    return found


@EACH_PART
def test_a_chat_begins_with_what_is_known(client: Client, owner: User | None, name: str) -> None:
    stored, known, _ = PARTS[name]
    assistant = made(owner, **{name: stored})
    typed = {"quick": "1", "assistant": assistant.public, "model": "gemini-3.6-flash", "tools_of": ""}
    assert client.post(reverse("new-session"), typed).status_code == 302
    session = Session.objects.get()
    assert (session.background, session.settings[name]) == ("In grams.", known)
    assert client.get(session.get_absolute_url()).status_code == 200
    again = {"assistant": str(assistant.public)}
    assert client.get(reverse("session-settings", args=[session.public]), again).status_code == 200
    assert client.get(reverse("new-session"), again).status_code == 200
    assistant.refresh_from_db()
    assert getattr(assistant, name) == stored


@pytest.mark.parametrize("starters", [["Scale a loaf", 7], {"a": 2}, 5])
def test_home_offers_the_first_messages_that_are_texts(client: Client, alice: User, starters: Any) -> None:
    assistant = made(alice, starters=starters)
    pages = [client.get(reverse(route), {"assistant": str(assistant.public)}) for route in HOME]
    assert [page.status_code for page in pages] == [200, 200]
    assert ("Scale a loaf" in pages[0].content.decode()) == isinstance(starters, list)


HOME = ("home", "assistant-choices")


@EACH_PART
def test_saving_a_form_keeps_what_is_not_known(client: Client, alice: User, name: str) -> None:
    stored, _, told = PARTS[name]
    assistant = made(alice, **{name: stored})
    address = reverse("edit-assistant", args=[assistant.public])
    page = client.get(address)
    assert told in unescape(page.content.decode())
    assert client.post(address, posted(page.content, "instructions") | {"name": "Cook"}).status_code == 302
    assistant.refresh_from_db()
    assert (assistant.name, getattr(assistant, name)) == ("Cook", stored)


def test_a_tool_that_is_not_here_stays_stored(client: Client, alice: User) -> None:
    assistant = made(alice, tools=["calculate", "tool_of_tomorrow"])
    address = reverse("edit-assistant", args=[assistant.public])
    page = client.get(address)
    assert "“tool_of_tomorrow”" in unescape(page.content.decode())
    client.post(address, posted(page.content, "instructions") | {"name": "Cook"})
    assistant.refresh_from_db()
    assert (assistant.name, assistant.tools) == ("Cook", ["calculate", "tool_of_tomorrow"])


def test_a_changed_field_holds_what_was_typed(client: Client, alice: User) -> None:
    assistant = made(alice, thinking_level="ULTRA", examples=[USER, CRITIC])
    address = reverse("edit-assistant", args=[assistant.public])
    typed = posted(client.get(address).content, "instructions")
    changed = typed | {"thinking_level": "LOW", "model": "gemini-3.6-flash", "examples": "user: Bye"}
    assert client.post(address, changed).status_code == 302
    assistant.refresh_from_db()
    assert (assistant.thinking_level, assistant.examples) == ("LOW", [{"role": "user", "text": "Bye"}])


@EACH_PART
def test_a_copy_has_it_too(client: Client, alice: User, name: str) -> None:
    stored, _, told = PARTS[name]
    original = made(None, **{name: stored})
    opened = client.post(reverse("duplicate-assistant", args=[original.public]), follow=True)
    assert told in unescape(opened.content.decode())
    assert getattr(Assistant.objects.own(alice).get(), name) == stored


@EACH_PART
def test_the_admin_shows_and_keeps_it(admin_client: Client, name: str) -> None:
    stored, _, told = PARTS[name]
    assistant = made(None, **{name: stored})
    address = reverse("admin:sessions_app_assistant_change", args=[assistant.pk])
    page = admin_client.get(address)
    assert told in unescape(page.content.decode())
    typed = posted(page.content, "instructions") | {"name": "Cook"}
    assert admin_client.post(address, typed).status_code == 302
    assistant.refresh_from_db()
    assert (assistant.name, getattr(assistant, name)) == ("Cook", stored)


def test_the_admin_shows_and_keeps_damaged_variables_of_a_text(admin_client: Client) -> None:
    text = PromptText.objects.create(kind="role", name="Guide", body="Hi", variables=[NAME, "a"])
    address = reverse("admin:sessions_app_prompttext_change", args=[text.pk])
    page = admin_client.get(address)
    assert "“a”" in unescape(page.content.decode())
    admin_client.post(address, posted(page.content, "body") | {"name": "Pilot"})
    text.refresh_from_db()
    assert (text.name, text.variables) == ("Pilot", [NAME, "a"])


@EACH_PART
def test_a_chat_of_a_newer_version_opens_and_keeps_its_settings(
    client: Client, alice: User, name: str
) -> None:
    stored, _, told = PARTS[name]
    session = make_session(alice, settings={name: stored, "budget_usd": 5})
    assert client.get(session.get_absolute_url()).status_code == 200
    address = reverse("session-settings", args=[session.public])
    page = client.get(address)
    assert told in unescape(page.content.decode())
    client.post(address, posted(page.content, "purpose") | {"purpose": "Bake."})
    session.refresh_from_db()
    assert (session.purpose, session.settings[name]) == ("Bake.", stored)


def test_switching_a_tool_of_the_provider_keeps_one_that_is_not_known(alice: User) -> None:
    session = make_session(alice, settings={"provider_tools": ["google_search", "tomorrow"]})
    session.switch("provider_tools", "url_context", on=True)
    session.refresh_from_db()
    assert session.settings["provider_tools"] == ["google_search", "url_context", "tomorrow"]


def test_an_installed_assistant_whose_tools_cannot_be_read_allows_none(client: Client, alice: User) -> None:
    session = make_session(alice, assistant=made(None, tools={"calculate": True}))
    assert session.chosen_tools == []
    assert client.get(reverse("details", args=[session.public])).status_code == 200
