"""The prompt library in the admin: what can be typed, and what the preview says of it."""

from typing import Any

import pytest
from django import forms
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from sessions_app.fields import VariablesField
from sessions_app.models import Assistant, PromptText
from sessions_app.panels import TOOLBOX
from tests import factories
from tests.admin.pages import signed_in

TEXT = {"kind": "role", "name": "Guide", "layer": "static", "summary": "", "body": "Hi {{ tone }}"}


def preview(client: Client, row: str = "prompttext", **fields: Any) -> str:
    return client.post(reverse(f"admin:sessions_app_{row}_preview"), {**TEXT, **fields}).content.decode()


LINES = [
    ("", []),
    ("tone = calm", [{"name": "tone", "default": "calm"}]),
    ("a.b=1\n\n c = x = y ", [{"name": "a.b", "default": "1"}, {"name": "c", "default": "x = y"}]),
    ('list = ["a", 1]', [{"name": "list", "default": ["a", 1]}]),
    ('text = "two\\nlines"', [{"name": "text", "default": "two\nlines"}]),
    ("odd = {broken", [{"name": "odd", "default": "{broken"}]),
    ("empty", [{"name": "empty", "default": ""}]),
]


@pytest.mark.parametrize(("typed", "variables"), LINES)
def test_variables_are_typed_one_a_line(typed: str, variables: list[dict[str, Any]]) -> None:
    assert VariablesField().to_python(typed) == variables


@pytest.mark.parametrize(("typed", "variables"), LINES)
def test_variables_come_back_as_they_can_be_typed(typed: str, variables: list[dict[str, Any]]) -> None:
    field = VariablesField()
    assert field.to_python(field.prepare_value(variables)) == variables
    assert not field.has_changed(variables, field.prepare_value(variables))


@pytest.mark.parametrize("typed", ["fine = 1\ncustomer-name = x", "a\n= x", "ok\n1st = x", "ok\na..b = 1"])
def test_a_line_that_names_nothing_is_refused_by_its_number(typed: str) -> None:
    with pytest.raises(forms.ValidationError, match="Line 2"):
        VariablesField().to_python(typed)


def test_a_text_is_kept_with_its_variables(root: Client) -> None:
    answer = root.post(reverse("admin:sessions_app_prompttext_add"), {**TEXT, "variables": "tone = calm"})
    assert answer.status_code == 302
    assert PromptText.objects.get(name="Guide").defaults == {"tone": "calm"}


def test_the_preview_renders_with_defaults_and_a_sample(root: Client) -> None:
    body = "{{ tone }}, {{ assistant.name }}: <{{ message.text }}>"
    page = preview(root, body=body, variables="tone = Calm")
    assert "Calm, Guide: &lt;Where is my order?&gt;" in page
    assert "Line 1 uses <code>message.text</code>" in page


def test_the_preview_says_why_a_text_would_be_sent_as_written(root: Client) -> None:
    assert "Line 2: unexpected" in preview(root, body="x\n{{ ) }}")
    assert "Line 1: “a-b” is no name" in preview(root, variables="a-b = 1")


def test_the_preview_lists_what_has_no_value(root: Client) -> None:
    assert "<code>tone</code>" in preview(root)


def test_a_dynamic_text_and_a_command_break_no_cache(root: Client) -> None:
    clock = "{{ system.current_time }}"
    assert "breaks" in preview(root, body=clock)
    assert "breaks" not in preview(root, body=clock, layer="dynamic")
    assert "breaks" not in preview(root, body=clock, kind="command")


def test_the_preview_can_use_an_own_session_and_no_other(root: Client, alice: User) -> None:
    own = factories.make_session(User.objects.get(username="root"), args={"tone": "mine"})
    other = factories.make_session(alice, args={"tone": "theirs"})
    assert "Hi mine" in preview(root, preview_session=own.public)
    for session in (other.public, "nonsense"):
        assert "theirs" not in preview(root, preview_session=session)


def test_an_assistant_is_kept_and_all_tools_mean_later_ones_too(root: Client) -> None:
    fields = {"name": "Guide", "language": "Greek", "description": "x", "tools": list(TOOLBOX.names)}
    assert root.post(reverse("admin:sessions_app_assistant_add"), fields).status_code == 302
    guide = Assistant.objects.get()
    assert (guide.language, guide.tools) == ("Greek", None)
    root.post(
        reverse("admin:sessions_app_assistant_change", args=[guide.pk]), {**fields, "tools": ["calculate"]}
    )
    guide.refresh_from_db()
    assert guide.tools == ["calculate"]


@pytest.mark.parametrize(
    ("field", "typed"),
    [
        ("provider_tools", "99999"),
        ("provider_tools", '["nope"]'),
        ("answer_schema", "{bad"),
        ("answer_schema", "[1, 2]"),
    ],
)
def test_an_assistant_with_which_no_chat_could_begin_is_refused(root: Client, field: str, typed: str) -> None:
    answer = root.post(reverse("admin:sessions_app_assistant_add"), {"name": "Guide", field: typed})
    assert field in answer.context["adminform"].form.errors
    assert not Assistant.objects.exists()


def test_an_assistant_keeps_the_tools_of_the_provider_that_were_ticked(root: Client) -> None:
    fields = {"name": "Guide", "provider_tools": ["google_search", "url_context"]}
    assert root.post(reverse("admin:sessions_app_assistant_add"), fields).status_code == 302
    assert Assistant.objects.get().provider_tools == ["google_search", "url_context"]


def test_an_assistants_description_is_previewed(root: Client) -> None:
    assert "For Guide" in preview(root, "assistant", description="For {{ assistant.name }}")


def test_who_may_not_edit_gets_no_preview(db: None) -> None:
    steward = User.objects.create_user("steward", is_staff=True)
    steward.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    client = signed_in(steward)
    assert client.post(reverse("admin:sessions_app_prompttext_preview"), TEXT).status_code == 403
    row = PromptText.objects.create(**TEXT)
    page = client.get(reverse("admin:sessions_app_prompttext_change", args=[row.pk])).content.decode()
    assert "data-preview" not in page


def test_the_form_offers_the_preview(root: Client) -> None:
    factories.make_session(User.objects.get(username="root"), title="Trip")
    page = root.get(reverse("admin:sessions_app_prompttext_add")).content.decode()
    assert 'data-preview="/admin/sessions_app/prompttext/preview/"' in page and "Trip" in page
