"""The pages of assistants: the list, the form, home, and Customise."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.urls import reverse

from sessions_app.chat.assistant_form import ASSISTANTS_LIMIT, OwnAssistantForm
from sessions_app.models import Assistant, PromptText, Session
from sessions_app.panels import TOOLBOX
from tests.beside import beside
from tests.browser_forms import posted_unchanged
from tests.factories import make_session


@pytest.fixture
def baker(alice: User) -> Assistant:
    return Assistant.objects.create(
        owner=alice,
        name="Baker",
        instructions="In grams.",
        model="gemini-3.6-flash",
        thinking_level="LOW",
        starters=["Scale a loaf"],
    )


def form_for(alice: User, **typed: Any) -> OwnAssistantForm:
    data = {"name": "Clerk", "tools": list(TOOLBOX.standard), "symbol": "edit", **typed}
    return OwnAssistantForm(data, instance=Assistant(owner=alice), owner=alice)


def test_an_assistant_is_made_with_all_that_was_typed(client: Client, alice: User) -> None:
    role = PromptText.objects.create(kind="role", name="Pilot", body="Fly.")
    typed = {
        "name": "Clerk",
        "emoji": "🗂",
        "description": "Files",
        "instructions": "Be brief.",
        "model": "gemini-3.6-flash",
        "thinking_level": "LOW",
        "tools": ["calculate"],
        "roles": [role.pk],
        "starters": "One\n\n  Two ",
        "examples": "user: Two loaves?\nassistant: {{ grams }} g of flour.",
        "variables": "grams = 1000",
    }
    assert client.post(reverse("new-assistant"), typed).status_code == 302
    made = Assistant.objects.own(alice).get()
    assert (made.icon, made.description, made.instructions) == ("🗂", "Files", "Be brief.")
    assert (made.model, made.thinking_level, made.tools) == ("gemini-3.6-flash", "LOW", ["calculate"])
    assert (made.starters, list(made.roles.all())) == (["One", "Two"], [role])
    assert made.examples == [
        {"role": "user", "text": "Two loaves?"},
        {"role": "assistant", "text": "{{ grams }} g of flour."},
    ]
    assert made.variables == [{"name": "grams", "default": "1000"}]


def test_what_another_page_has_saved_meanwhile_stays(client: Client, baker: Assistant) -> None:
    url = reverse("edit-assistant", args=[baker.public])
    ours, theirs = (posted_unchanged(client.get(url).content.decode()) for _ in range(2))
    chosen = {"name": "Miller", "emoji": "\N{CROISSANT}", "tools": ["calculate"]}
    assert client.post(url, theirs | chosen).status_code == 302
    client.post(url, ours | {"description": "Grinds."})
    found = Assistant.objects.get(pk=baker.pk)
    assert (found.name, found.icon, found.tools) == ("Miller", "\N{CROISSANT}", ["calculate"])
    assert (found.description, found.instructions) == ("Grinds.", baker.instructions)


def test_the_standard_tools_mean_later_ones_too(alice: User) -> None:
    form = form_for(alice)
    assert form.is_valid(), form.errors
    assert form.save().tools is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("emoji", "abc"),
        ("emoji", "<b>"),
        ("emoji", "🥐 🥐"),
        ("model", "gpt-9"),
        ("tools", ["rm"]),
        ("symbol", "skull"),
        ("starters", "\n".join("abcdefg")),
        ("starters", "x" * 301),
        ("examples", "Two loaves?"),
        ("examples", "user: a\n" * 41),
        ("examples", "user: " + "x" * 100_001),
        ("variables", "no name = 1"),
        ("instructions", "x" * 200_001),
    ],
)
def test_wrong_values_are_refused(alice: User, field: str, value: object) -> None:
    assert field in form_for(alice, **{field: value}).errors


def test_a_level_that_the_model_does_not_take_is_refused(alice: User) -> None:
    form = form_for(alice, model="gemini-3.8-flash", thinking_level="MINIMAL")
    assert "thinking_level" in form.errors


def test_a_name_is_used_once_by_a_person(alice: User, bob: User, baker: Assistant) -> None:
    Assistant.objects.create(owner=bob, name="Clerk")
    assert form_for(alice).is_valid()
    assert "name" in form_for(alice, name="Baker").errors
    same = OwnAssistantForm({"name": "Baker", "tools": []}, instance=baker, owner=alice)
    assert same.is_valid(), same.errors


def test_a_person_has_a_limited_number(alice: User) -> None:
    Assistant.objects.bulk_create(
        Assistant(owner=alice, name=f"A {number}") for number in range(ASSISTANTS_LIMIT)
    )
    assert form_for(alice).non_field_errors()


@pytest.mark.parametrize("route", ["edit-assistant", "duplicate-assistant", "delete-assistant"])
def test_another_persons_assistant_is_not_there(stranger: Client, baker: Assistant, route: str) -> None:
    address = reverse(route, args=[baker.public])
    assert stranger.post(address).status_code == 404
    assert Assistant.objects.get() == baker


def test_another_persons_assistant_begins_no_chat(stranger: Client, baker: Assistant) -> None:
    public = str(baker.public)
    assert stranger.get(reverse("home"), {"assistant": public}).status_code == 404
    assert stranger.get(reverse("new-session"), {"assistant": public}).status_code == 404
    assert stranger.post(reverse("new-session"), {"quick": "1", "assistant": public}).status_code == 404
    assert "Baker" not in stranger.get(reverse("assistants")).content.decode()
    assert "Baker" not in stranger.get(reverse("assistant-choices")).content.decode()
    stranger.post(reverse("new-session"), {"model": "gemini-3.6-flash", "assistant": public})
    assert not Session.objects.exists()


def test_the_installations_is_copied_but_not_changed(client: Client, alice: User) -> None:
    guide = Assistant.objects.create(name="Guide")
    for route in ("edit-assistant", "delete-assistant"):
        assert client.post(reverse(route, args=[guide.public])).status_code == 404
    assert client.post(reverse("duplicate-assistant", args=[guide.public])).status_code == 302
    assert Assistant.objects.own(alice).get().name == "Guide"


def test_home_shows_what_a_named_assistant_brings(client: Client, baker: Assistant) -> None:
    page = client.get(reverse("home"), {"assistant": str(baker.public)}).content.decode()
    assert page.count("data-starter=") == 1 and "Scale a loaf" in page
    assert 'name="model" autocomplete="off" value="gemini-3.6-flash"' in page
    assert 'name="thinking_level" autocomplete="off" value="LOW"' in page


def test_a_quick_chat_has_a_copy_and_the_model_that_was_picked(
    client: Client, alice: User, baker: Assistant
) -> None:
    baker.examples, baker.variables = [{"role": "user", "text": "Two?"}], [{"name": "grams", "default": "9"}]
    baker.save()
    typed = {"quick": "1", "assistant": str(baker.public), "model": "gemini-3.8-flash"}
    client.post(reverse("new-session"), typed)
    made = Session.objects.get(owner=alice)
    assert (made.assistant, made.background, made.model) == (baker, "In grams.", "gemini-3.8-flash")
    assert [one.text for one in made.options.examples] == ["Two?"]
    assert [(one.name, one.default) for one in made.options.variables] == [("grams", "9")]
    client.post(reverse("delete-assistant", args=[baker.public]))
    made.refresh_from_db()
    assert (made.assistant, made.background) == (None, "In grams.")


def test_the_settings_show_what_another_assistant_brings_and_save_nothing(
    client: Client, alice: User, baker: Assistant
) -> None:
    session = make_session(alice, background="Earlier.")
    address = reverse("session-settings", args=[session.public])
    form = client.get(address, {"assistant": str(baker.public)}).context["form"]
    assert (form["background"].value(), form["model"].value()) == ("In grams.", "gemini-3.6-flash")
    assert client.get(address).context["form"]["background"].value() == "Earlier."
    session.refresh_from_db()
    assert (session.background, session.assistant) == ("Earlier.", None)


def test_the_admin_sees_only_the_installations(admin_client: Client, baker: Assistant) -> None:
    Assistant.objects.create(name="Guide")
    page = admin_client.get(reverse("admin:sessions_app_assistant_changelist")).content.decode()
    assert "Guide" in page and "Baker" not in page
    change = reverse("admin:sessions_app_assistant_change", args=[baker.pk])
    assert admin_client.get(change).status_code == 302


def test_the_admin_refuses_a_second_one_of_a_name(admin_client: Client, baker: Assistant) -> None:
    add = reverse("admin:sessions_app_assistant_add")
    assert admin_client.post(add, {"name": "Baker"}).status_code == 302
    again = admin_client.post(add, {"name": "Baker"})
    assert "The installation has an assistant of this name." in again.content.decode()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", ["new-assistant", "duplicate-assistant"])
def test_of_two_with_one_name_at_once_neither_fails(client: Client, baker: Assistant, name: str) -> None:
    address = reverse(name, args=[baker.public] if name == "duplicate-assistant" else [])
    form = {"name": "Clerk", "tools": list(TOOLBOX.standard), "symbol": "edit"}
    with beside() as begin:
        with transaction.atomic():
            first = client.post(address, form)
            second = begin(lambda: client.post(address, form))
        answers = [first.status_code, second.result(60).status_code]
    assert answers == ([302, 302] if name == "duplicate-assistant" else [302, 200])
