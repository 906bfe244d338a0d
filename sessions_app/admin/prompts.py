"""Prompt texts and assistants, with a preview."""

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db import models
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, path
from django.utils import timezone

from sessions_app.admin.base import FilteredAdmin
from sessions_app.context.arguments import arguments_now
from sessions_app.context.model_lookup import model_names
from sessions_app.context.session_texts import SessionText, render_session_texts
from sessions_app.fields import (
    ExamplesField,
    LinesField,
    StoredAssistantForm,
    UnchangedTextsForm,
    VariablesField,
    VerbatimTextField,
    checked_schema,
)
from sessions_app.models import Assistant, PromptText, Session, SessionSettings
from sessions_app.models.assistant import STARTER_LENGTH, STARTERS_LIMIT
from sessions_app.models.known_settings import Unknown
from sessions_app.models.library import divided
from sessions_app.panels import available_tools
from sessions_app.prompt import arguments

OPTIONS = SessionSettings.form_fields()
LEVELS, OWN_TOOLS = OPTIONS["thinking_level"].choices, OPTIONS["provider_tools"].choices

SESSIONS = 20
"""The admin's newest sessions, offered for the preview."""


class PromptTextForm(UnchangedTextsForm):
    variables = VariablesField()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known, unknown = divided(self.instance.variables)
        shown = {"variables": [each.model_dump() for each in known]}
        self.show_known(shown, (Unknown("variables", one) for one in unknown), vars(self.instance))


class AssistantForm(StoredAssistantForm):
    tools = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="A session with this assistant can use these at most.",
    )
    provider_tools = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, choices=list(OWN_TOOLS.items())
    )
    model = forms.ChoiceField(required=False, help_text="Chosen with the assistant.")
    thinking_level = forms.ChoiceField(required=False, choices=list(LEVELS.items()))
    starters = LinesField(
        most=STARTERS_LIMIT, longest=STARTER_LENGTH, help_text="First messages, one a line."
    )
    examples = ExamplesField()
    variables = VariablesField()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["tools"].choices = [(tool.name, tool.title) for tool in available_tools()]  # type: ignore[attr-defined]
        names = dict.fromkeys((self.instance.model, *model_names()))
        self.fields["model"].choices = [("", "As the session chooses"), *((one, one) for one in names if one)]  # type: ignore[attr-defined]
        self.show_stored(available_tools(), standard=available_tools().names)

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if Assistant.objects.installed().filter(name=name).exclude(pk=self.instance.pk).exists():
            raise forms.ValidationError("The installation has an assistant of this name.", code="unique")
        return name

    def clean_tools(self) -> list[str] | None:
        """None when all are chosen, so that tools added later are allowed too."""
        chosen: list[str] = self.cleaned_data["tools"]
        return None if set(chosen) == set(available_tools().names) else sorted(chosen)

    def clean_answer_schema(self) -> str:
        return checked_schema(self.cleaned_data["answer_schema"])


class PreviewAdmin(FilteredAdmin):
    """A form with a live preview of the rendered text."""

    change_form_template = "admin/previewed_form.html"
    formfield_overrides = {models.TextField: {"form_class": VerbatimTextField}}
    show_full_result_count = False

    class Media:
        css = {"all": ["css/admin-preview.css"]}

    def get_urls(self) -> list[URLPattern]:
        name = f"{self.opts.app_label}_{self.opts.model_name}_preview"
        return [path("preview/", self.admin_site.admin_view(self.preview), name=name), *super().get_urls()]

    def preview(self, request: HttpRequest) -> HttpResponse:
        """POST: the text of the form, rendered with sample arguments or with those of one's session."""
        if not (self.has_change_permission(request) or self.has_add_permission(request)):
            raise PermissionDenied
        sample = _arguments(request)
        try:
            texts = [self.typed_text(request)]
            (written,) = render_session_texts(texts, sample, owner=request.user.pk or 0)
        except forms.ValidationError as error:
            return render(request, "admin/text_preview.html", {"problem": error.messages[0]})
        return render(request, "admin/text_preview.html", {"written": written})

    def typed_text(self, request: HttpRequest) -> SessionText:
        raise NotImplementedError

    def render_change_form(
        self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        listed = Session.objects.of(request.user).filter(temporary=False)
        context["own_sessions"] = listed.only("public", "title")[:SESSIONS]
        context["preview_url"] = f"admin:{self.opts.app_label}_{self.opts.model_name}_preview"
        return super().render_change_form(request, context, *args, **kwargs)


@admin.register(PromptText)
class PromptTextAdmin(PreviewAdmin):
    form = PromptTextForm
    list_display = ("name", "kind", "layer", "summary", "updated_at")
    list_filter = ("kind", "layer")
    search_fields = ("name", "summary")
    fields = (("kind", "name", "layer"), "summary", "body", "variables", "updated_at")
    readonly_fields = ("updated_at",)

    def typed_text(self, request: HttpRequest) -> SessionText:
        typed = request.POST
        defaults = {
            each["name"]: each["default"] for each in VariablesField().to_python(typed.get("variables"))
        }
        kind = typed.get("kind") or "text"
        return SessionText(
            source="typed",
            kind=kind,
            name=typed.get("name", ""),
            body=typed.get("body", ""),
            defaults=arguments.parse_json_texts(defaults),
            is_dynamic=typed.get("layer") == PromptText.Layer.DYNAMIC or kind in ("command", "skill"),
        )


@admin.register(Assistant)
class AssistantAdmin(PreviewAdmin):
    """Those of the installation; people's own are theirs."""

    form = AssistantForm
    list_display = ("name", "language", "procedure", "updated_at")
    list_select_related = ("procedure",)
    search_fields = ("name", "description")
    fields = (
        ("name", "icon", "language"),
        "description",
        "instructions",
        ("examples", "variables"),
        ("model", "thinking_level"),
        "starters",
        "roles",
        "procedure",
        "tools",
        ("provider_tools", "answer_schema"),
        "updated_at",
    )
    filter_horizontal = ("roles",)
    readonly_fields = ("updated_at",)

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).filter(owner=None)

    def typed_text(self, request: HttpRequest) -> SessionText:
        return SessionText("typed", "description", "", request.POST.get("description", ""))


def _arguments(request: HttpRequest) -> arguments.Arguments:
    """The arguments of the chosen session, else sample arguments."""
    chosen = request.POST.get("preview_session", "")
    sessions = Session.objects.of(request.user).select_related("assistant")
    # Compared as text, so that an invalid id is ignored.
    session = next((each for each in sessions[:SESSIONS] if str(each.public) == chosen), None)
    if session is not None:
        return arguments_now(session)
    now = timezone.now()
    return arguments.build_arguments(
        now,
        arguments.AssistantArguments("Guide", "1", "English", "Helps with questions."),
        arguments.ConversationArguments(
            "1", "00000000-0000-4000-8000-000000000000", created=now, updated=now
        ),
        arguments.MessageArguments("Where is my order?", "en-GB"),
        {},
    )
