"""The form in which a person makes an assistant."""

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from sessions_app.chat.model_offers import LEVEL_LABELS
from sessions_app.chat.option_fields import option_field
from sessions_app.chat.seen_fields import SeenFieldsForm
from sessions_app.chat.session_form import model_choices, within_limit
from sessions_app.chat.tool_groups import ToolGroup, tool_groups
from sessions_app.context.model_lookup import facts_of
from sessions_app.fields import (
    LinesField,
    RowsField,
    StoredAssistantForm,
    VerbatimTextField,
    checked_schema,
)
from sessions_app.models import Assistant, PromptText
from sessions_app.models.assistant import STARTER_LENGTH, STARTERS_LIMIT, SYMBOLS, validate_icon
from sessions_app.panels import available_tools

ASSISTANTS_LIMIT = 100
"""The most assistants of one person."""

EMOJI_LENGTH = 8
SUMMARY_LENGTH = 200

SYMBOL_LABELS = dict(
    zip(SYMBOLS, ("Idea", "Pen", "Search", "File", "Tool", "Code", "Money", "List"), strict=True)
)


class OwnAssistantForm(SeenFieldsForm, StoredAssistantForm):
    """A person's own assistant. What another page has saved of it meanwhile stays."""

    symbol = forms.ChoiceField(
        choices=list(SYMBOL_LABELS.items()), widget=forms.RadioSelect, required=False, label="Icon"
    )
    emoji = forms.CharField(
        max_length=EMOJI_LENGTH,
        required=False,
        validators=[validate_icon],
        label="Or an emoji",
        help_text="It takes the icon's place.",
    )
    description = forms.CharField(
        max_length=SUMMARY_LENGTH, required=False, label="In one line", help_text="For the list."
    )
    model = forms.ChoiceField(required=False, help_text="It is chosen with the assistant.")
    thinking_level = forms.ChoiceField(
        choices=list(LEVEL_LABELS.items()), required=False, help_text="Of those that the model takes."
    )
    tools = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple)
    provider_tools = option_field("provider_tools")
    answer_schema = option_field("answer_schema")
    examples = option_field("examples")
    variables = option_field("variables")
    starters = LinesField(
        most=STARTERS_LIMIT,
        longest=STARTER_LENGTH,
        help_text=f"First messages that home offers, one a line, at most {STARTERS_LIMIT}.",
    )

    class Meta:
        model = Assistant
        fields = (
            *("name", "description", "instructions", "model", "thinking_level", "tools", "roles"),
            *("procedure", "language", "starters", "provider_tools", "answer_schema"),
            *("examples", "variables"),
        )
        field_classes = {"instructions": VerbatimTextField, "roles": RowsField}
        widgets = {
            "roles": forms.CheckboxSelectMultiple,
            "instructions": forms.Textarea(attrs={"rows": 7}),
        }
        help_texts = {"instructions": "Read before every message.", "language": "Empty: that of the message."}

    def __init__(self, *args: Any, owner: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.instance.owner = owner
        self.initial["symbol"] = self.instance.symbol
        self.initial["emoji"] = "" if self.instance.symbol else self.instance.icon
        self._tools = available_tools(owner.pk)
        self.show_stored(self._tools, standard=self._tools.standard)
        self._set_choices()

    def _set_choices(self) -> None:
        fields: dict[str, Any] = self.fields
        fields["tools"].choices = [(tool.name, tool.title) for tool in self._tools]
        fields["model"].choices = [("", "As the chat chooses"), *model_choices(self.instance.model)]
        for name, kind in (("roles", PromptText.Kind.ROLE), ("procedure", PromptText.Kind.PROCEDURE)):
            fields[name].required = False
            fields[name].queryset = PromptText.objects.filter(kind=kind)
        fields["procedure"].empty_label = "None"

    @property
    def tool_groups(self) -> list[ToolGroup]:
        return tool_groups(self["tools"], self._tools)

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        own = Assistant.objects.own(self.instance.owner)
        if own.filter(name=name).exclude(pk=self.instance.pk).exists():
            raise ValidationError("You have an assistant of this name.", code="unique")
        return name

    def clean_instructions(self) -> str:
        return within_limit(self.cleaned_data["instructions"])

    def clean_tools(self) -> list[str] | None:
        """None for the standard selection, so that tools that become standard later are on."""
        chosen: list[str] = self.cleaned_data["tools"]
        return None if set(chosen) == set(self._tools.standard) else sorted(chosen)

    def clean_answer_schema(self) -> str:
        return checked_schema(self.cleaned_data["answer_schema"])

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        model, level = cleaned.get("model", ""), cleaned.get("thinking_level", "")
        if model and level in LEVEL_LABELS and level not in ("", *facts_of(model).levels):
            self.add_error("thinking_level", "This model does not take it.")
        if (
            self.instance.pk is None
            and Assistant.objects.own(self.instance.owner).count() >= ASSISTANTS_LIMIT
        ):
            raise ValidationError(f"You have {ASSISTANTS_LIMIT} assistants: delete one first.", code="limit")
        return cleaned

    def save(self, commit: bool = True) -> Assistant:
        icons: dict[str, Any] = {**self.initial, **self.cleaned_data}
        self.instance.icon = icons["emoji"] or icons["symbol"]
        made: Assistant = super().save(commit)
        return made
