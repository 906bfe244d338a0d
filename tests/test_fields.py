"""Which form fields keep white space: every text that is sent to the model as it was typed."""

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

import pytest
from django import forms
from django.contrib import admin
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.test import Client, RequestFactory
from django.urls import reverse

import sessions_app
from sessions_app.chat.option_fields import OPTIONS, option_field
from sessions_app.fields import FocusedRadioSelect, VerbatimTextField
from sessions_app.models import PromptText, Session
from tests.factories import make_session

TRIMMED = {
    "TitleForm.title": "a title",
    "NameForm.name": "a name",
    "ErasureForm.name": "a name",
    "MoveForm.folder": "an identifier",
    "MoveForm.name": "a name",
    "AddressForm.name": "a name",
    "WebPageForm.url": "an address",
    "ReasonForm.reason": "why staff read somebody's content; not sent",
    "KeyForm.key": "pasted; no key has white space",
    "SessionForm.answer_schema": "JSON",
    "OwnAssistantForm.answer_schema": "JSON",
    "ModelFacts admin.own_tools": "JSON",
    "SessionForm.variables": "one variable a line; a default in JSON quotes keeps its white space",
    "OwnAssistantForm.variables": "one variable a line; a default in JSON quotes keeps its white space",
    "AssistantForm.variables": "one variable a line; a default in JSON quotes keeps its white space",
    "SessionForm.language": "a name",
    "SessionForm.message_language": "a name",
    "SessionForm.time_zone": "a name",
    "SignInForm.username": "a name",
    "FilterForm.q": "a search",
    "FilterForm.model": "a name",
    "PromptTextForm.name": "a name",
    "PromptTextForm.summary": "one line for the person who chooses; not sent",
    "PromptTextForm.variables": "one variable a line; a default in JSON quotes keeps its white space",
    "AssistantForm.name": "a name",
    "AssistantForm.language": "a name",
    "AllowedCommand admin.name": "a name",
    "AllowedCommand admin.argv": "JSON",
    "ModelFacts admin.model": "a name",
    "ModelFacts admin.served_by": "a name",
    "AssistantForm.icon": "an emoji or a name",
    "AssistantForm.starters": "one message a line",
    "OwnAssistantForm.name": "a name",
    "OwnAssistantForm.description": "one line, not sent",
    "OwnAssistantForm.emoji": "an emoji",
    "OwnAssistantForm.language": "a name",
    "OwnAssistantForm.starters": "one message a line",
    "ModelFacts admin.summary": "one line, not sent",
    "ModelFacts admin.note": "one line, not sent",
    "ModelFacts admin.levels": "JSON",
    "ModelLifecycle admin.model": "a name",
    "ModelLifecycle admin.served_by": "a name",
    "ModelLifecycle admin.successor": "a name",
    "ModelLifecycle admin.source": "one line, not sent",
    "McpServerForm.name": "a name",
    "McpServerForm.title": "a name",
    "McpServerForm.url": "an address",
    "Group admin.name": "a name",
    "Price admin.model": "a name",
    "Price admin.source": "one line, not sent",
    "SearchPrice admin.model": "a name",
    "SearchPrice admin.source": "one line, not sent",
}
"""Form and field → why it may lose white space at both ends."""


FORMS_OF = {"accounts", "admin", "capture", "chat", "health", "inspector", "panels", "sharing"}
"""Packages that may hold forms."""

OF_A_TEAM = ("sessions_app.accounts.team", "sessions_app.admin.team_users")
"""Imported with the sign-in of a team only; none of its forms holds what is sent."""


def own_forms() -> Iterator[tuple[str, forms.Field]]:
    """Every field of every form class in the product, and of the forms that the admin makes."""
    for module in pkgutil.walk_packages(sessions_app.__path__, "sessions_app."):
        if module.name.split(".")[1] in FORMS_OF and not module.name.startswith(OF_A_TEAM):
            importlib.import_module(module.name)
    for form in subclasses(forms.BaseForm):
        if form.__module__.startswith("sessions_app"):
            yield from ((f"{form.__qualname__}.{name}", field) for name, field in form.base_fields.items())
    yield from ((f"SessionForm.{name}", option_field(name)) for name in OPTIONS)


def admin_forms() -> Iterator[tuple[str, forms.Field]]:
    request = RequestFactory().get("/")
    request.user = User(is_superuser=True, is_active=True)
    for model, page in admin.site._registry.items():
        own = type(page).__module__.startswith("sessions_app") and model is not User
        if own and page.has_change_permission(request):
            form = page.get_form(request)
            bare = page.form is forms.ModelForm
            title = f"{model.__name__} admin" if bare else page.form.__qualname__
            yield from ((f"{title}.{name}", field) for name, field in form.base_fields.items())


def subclasses(form: Any) -> set[Any]:
    return {form}.union(*map(subclasses, form.__subclasses__()))


@pytest.mark.django_db
def test_every_text_keeps_its_white_space_but_for_those_with_a_reason() -> None:
    # The classes first: the admin's own subclasses of them would come under the same name.
    fields = dict([*own_forms(), *admin_forms()])
    trimmed = {name for name, field in fields.items() if isinstance(field, forms.CharField) and field.strip}
    assert trimmed == TRIMMED.keys()
    verbatim = {name for name, field in fields.items() if isinstance(field, VerbatimTextField)}
    assert verbatim == {
        *("SessionForm.purpose", "SessionForm.background", "CorrectionForm.text"),
        *("PromptTextForm.body", "AssistantForm.description", "AssistantForm.instructions"),
        "AssistantForm.answer_schema",
        "OwnAssistantForm.instructions",
        *("SessionForm.examples", "AssistantForm.examples", "OwnAssistantForm.examples"),
    }


@pytest.mark.parametrize(("typed", "kept"), [(" a \r\nb\r\n\r\n", " a \nb\n\n"), ("\na", "\na"), (None, "")])
def test_nothing_is_lost_and_line_ends_are_one(typed: str | None, kept: str) -> None:
    assert VerbatimTextField(required=False).clean(typed) == kept


@pytest.mark.parametrize("typed", ["", " \n\t"])
def test_white_space_alone_is_no_text(typed: str) -> None:
    with pytest.raises(ValidationError):
        VerbatimTextField().clean(typed)


def test_saving_the_settings_of_a_session_untouched_changes_no_text(client: Client, alice: User) -> None:
    text = "\n  Be brief.\n\n\tAnd kind. \n"
    session = make_session(alice, purpose=text, background=text)
    page = client.get(reverse("session-settings", args=[session.public]))
    sent = {field.html_name: field.value() for field in page.context["form"] if field.value() is not None}
    assert f">\n{text}</textarea>" in page.content.decode()
    client.post(
        reverse("session-settings", args=[session.public]), sent | {"purpose": text.replace("\n", "\r\n")}
    )
    kept = Session.objects.get()
    assert (kept.purpose, kept.background) == (text, text)


def test_a_text_of_the_library_is_kept_as_it_was_typed(client: Client, alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(is_staff=True, is_superuser=True)
    body = "  indented\r\nand ended\r\n"
    data = {"kind": "role", "name": " Clerk ", "layer": "static", "body": body}
    assert client.post(reverse("admin:sessions_app_prompttext_add"), data).status_code == 302
    assert PromptText.objects.get(name="Clerk").body == "  indented\nand ended\n"


@pytest.mark.parametrize(("chosen", "focused"), [("b", "b"), ("", "a"), (None, "a")])
def test_one_of_the_options_has_the_focus(chosen: str | None, focused: str) -> None:
    shown = FocusedRadioSelect(choices=[("a", "A"), ("b", "B")]).render("field", chosen)
    options = [one for one in shown.split("<input")[1:] if "autofocus" in one]
    assert len(options) == 1 and f'value="{focused}"' in options[0]
