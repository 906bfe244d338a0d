"""The settings of a session as one form."""

from dataclasses import dataclass
from types import NoneType
from typing import Any, get_args

from django import forms
from django.core.exceptions import ValidationError
from django.db import transaction
from django.forms import BoundField
from django.utils import timezone

from sessions_app.chat.model_notices import ShownNotice, model_label, shown_notices
from sessions_app.chat.option_fields import OPTIONS, option_field
from sessions_app.chat.provider_tools import left_out_notes
from sessions_app.chat.seen_fields import SeenFieldsForm
from sessions_app.chat.time_zone import zone_names
from sessions_app.chat.tool_groups import ToolGroup, tool_groups
from sessions_app.context.arguments import arguments_of
from sessions_app.context.model_lookup import facts_of, model_names
from sessions_app.context.session_texts import read_texts, render_session_texts
from sessions_app.fields import (
    RowsField,
    VerbatimTextField,
    checked_schema,
)
from sessions_app.models import Assistant, PromptText, Session, SessionSettings, ToolGrant
from sessions_app.models.session_settings import GROUP_TITLES, Group
from sessions_app.panels import available_tools
from sessions_app.panels.panel_list import granted_tools
from sessions_app.prompt.arguments import MessageArguments
from sessions_app.wording.remarks import about_texts

TEXT_LIMIT = 200_000
"""Characters of a purpose or of instructions: about 60,000 tokens."""

COLUMN_TABS: dict[str, Group] = {
    **dict.fromkeys(("assistant", "purpose", "background", "roles", "procedure"), "assistant"),
    "model": "model",
}
"""Where the columns of a session stand; options say it themselves."""


@dataclass(frozen=True, slots=True)
class SettingsTab:
    """One tab with its options; `is_open` of exactly one, which `has_focus` where no field has it."""

    key: Group
    title: str
    boxes: list[BoundField]
    fields: list[BoundField]
    is_open: bool
    has_errors: bool
    has_focus: bool

    @property
    def template(self) -> str:
        return f"chat/tab_{self.key}.html"


def option_label(name: str) -> str:
    """The label of an option or a column; empty for an unknown name."""
    if name in OPTIONS:
        return SessionSettings.model_fields[name].title or ""
    field = SessionForm.base_fields.get(name)
    return str(field.label or name.capitalize()) if field else ""


def model_choices(current: str) -> list[tuple[str, str]]:
    """Known models, and the current one if it is unknown."""
    names = model_names()
    extra = () if not current or current in names else (current,)
    return [(name, model_label(name)) for name in (*extra, *names)]


class SessionForm(SeenFieldsForm):
    """The texts of a session (columns) and its options (one JSON column) in one form.

    A field that was not submitted keeps its value; one submitted empty means no limit.
    """

    model = forms.ChoiceField()

    class Meta:
        model = Session
        fields = ("assistant", "purpose", "background", "roles", "procedure", "model")
        field_classes = {"purpose": VerbatimTextField, "background": VerbatimTextField, "roles": RowsField}
        widgets = {"roles": forms.CheckboxSelectMultiple}
        labels = {"background": "Instructions"}
        help_texts = {
            "assistant": "Choosing one fills in this form with what it brings.",
            "background": "Read before every message. From about 1,000 tokens it is worth a cache.",
        }

    _focused = ""
    _is_focused = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields |= {name: option_field(name) for name in OPTIONS}
        stored = self.instance.known_settings
        options = stored.options
        self.show_known(options.model_dump(include=set(OPTIONS)), stored.unknown, self.instance.settings)
        self.initial["assistant"] = self.instance.assistant
        self._tools = available_tools(self.instance.owner_id)
        self.initial["tools"] = self._tools.enabled(options.tools)
        self.fields["tools"].choices = [(tool.name, tool.title) for tool in self._tools]  # type: ignore[attr-defined]
        self.fields["model"].choices = model_choices(self.instance.model)  # type: ignore[attr-defined]
        self._offer_levels()
        assistants = self.fields["assistant"]
        assistants.to_field_name = "public"  # type: ignore[attr-defined]
        assistants.queryset = Assistant.objects.usable_by(self.instance.owner_id)  # type: ignore[attr-defined]
        assistants.required = False
        self.fields["assistant"].empty_label = "None"  # type: ignore[attr-defined]
        self._restrict_texts()

    def _offer_levels(self) -> None:
        """The thinking levels that the model takes, and the one that is set, which may not be sent."""
        model = self.data.get(self.add_prefix("model")) or self.instance.model
        offered = {"", self.initial["thinking_level"], *facts_of(model).levels}
        field = self.fields["thinking_level"]
        field.choices = [one for one in field.choices if one[0] in offered]  # type: ignore[attr-defined]

    def _restrict_texts(self) -> None:
        for name, kind in (("roles", PromptText.Kind.ROLE), ("procedure", PromptText.Kind.PROCEDURE)):
            field = self.fields[name]
            field.required = False
            field.queryset = PromptText.objects.filter(kind=kind)  # type: ignore[attr-defined]
        self.fields["procedure"].empty_label = "None"  # type: ignore[attr-defined]

    def clean_purpose(self) -> str:
        return within_limit(self.cleaned_data["purpose"])

    def clean_background(self) -> str:
        return within_limit(self.cleaned_data["background"])

    def clean_time_zone(self) -> str:
        name: str = self.cleaned_data["time_zone"] or SessionSettings.model_fields["time_zone"].default
        if name not in zone_names():
            raise ValidationError("Use a name like Europe/Lisbon.")
        return name

    def clean_answer_schema(self) -> str:
        return checked_schema(self.cleaned_data["answer_schema"])

    def clean_tools(self) -> list[str] | None:
        """None for the standard selection, so that tools that become standard later are on."""
        chosen: list[str] = self.cleaned_data["tools"]
        if self.instance.pk and set(chosen) == set(self.initial["tools"]):
            # It may name tools that this version does not have.
            kept: list[str] | None = self.instance.options.tools
            return kept
        return None if set(chosen) == set(self._tools.standard) else sorted(chosen)

    @property
    def has_assistants(self) -> bool:
        return bool(self.fields["assistant"].queryset)  # type: ignore[attr-defined]

    def focus(self, name: str) -> None:
        """Focuses the field and opens its tab; without a name the first field with an error, or the tab."""
        self._is_focused = True
        name = name or next(iter(self.errors), "")
        if name in self.fields:
            self._focused = name
            self.fields[name].widget.attrs["autofocus"] = True

    @property
    def model_notices(self) -> tuple[ShownNotice, ...]:
        return shown_notices(self.instance.model)

    @property
    def tabs(self) -> list[SettingsTab]:
        """The first one with an error is open, else that of the focused field, else the first."""
        wrong = {_tab_of(name) for name in self.errors} - {None}
        tried = (*(key for key in GROUP_TITLES if key in wrong), _tab_of(self._focused), "assistant")
        opened = next(key for key in tried if key)
        return [self._tab(key, is_open=key == opened, has_errors=key in wrong) for key in GROUP_TITLES]

    def _tab(self, key: Group, *, is_open: bool, has_errors: bool) -> SettingsTab:
        names = [name for name, option in OPTIONS.items() if option.group == key and name != "tools"]
        boxes = [name for name in names if isinstance(self.fields[name], forms.BooleanField)]
        return SettingsTab(
            key,
            GROUP_TITLES[key],
            [self[name] for name in boxes],
            [self[name] for name in names if name not in boxes],
            is_open=is_open,
            has_errors=has_errors,
            has_focus=is_open and self._is_focused and not self._focused,
        )

    @property
    def tool_groups(self) -> list[ToolGroup]:
        granted = granted_tools(self.instance, self._tools) if self.instance.pk else set()
        return tool_groups(self["tools"], self._tools, granted)

    @property
    def own_tool_notes(self) -> tuple[str, ...]:
        """What requests leave out of the wishes that are stored."""
        options = self.instance.options
        return left_out_notes(self.instance.model, options.provider_tools, options.answer_schema)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Problems of the stored texts."""
        if self.instance.pk is None:
            return ()
        found = arguments_of(self.instance, MessageArguments(), timezone.now())
        texts = render_session_texts(read_texts(self.instance), found, owner=self.instance.owner_id)
        failed = [each.text.title for each in texts if each.rendered.status == "fallback"]
        breaking = [each.text.title for each in texts if each.breakers]
        counts = (("fell_back", failed), ("breaking", breaking))
        return tuple(about_texts(what, titles) for what, titles in counts if titles)

    def save(self, commit: bool = True) -> Session:
        if self.instance.pk is None:
            self.instance.settings = self._stored_options()
            made: Session = super().save(commit)
            return made
        return self._save_changes()

    @transaction.atomic
    def _save_changes(self) -> Session:
        """Updates only the columns of the form: a run may change the head concurrently, and another page
        what was left alone in this one.
        """
        stored = Session.objects.select_for_update(of=("self",)).only("settings").get(pk=self.instance.pk)
        self.instance.settings = {**stored.settings, **self._stored_options()}
        names = self.cleaned_data.keys() & {*self.Meta.fields}
        columns = [field.name for field in Session._meta.concrete_fields if field.name in names]
        changed: Session = super().save(commit=False)
        changed.save(update_fields=[*columns, "settings"])
        self.save_m2m()
        off = set(self.initial["tools"]).difference(self._tools.enabled(changed.options.tools))
        ToolGrant.objects.take_back(changed.pk, off)
        return changed

    def _stored_options(self) -> dict[str, Any]:
        """The submitted options, empty ones as null or default."""
        cleaned = self.cleaned_data
        sent = {name: cleaned[name] for name in OPTIONS if name in cleaned and self._was_sent(name)}
        return {name: _empty_value(name) if value in (None, "") else value for name, value in sent.items()}

    def _was_sent(self, name: str) -> bool:
        """Browsers do not submit unchecked boxes."""
        return name in self.data or isinstance(
            self.fields[name], forms.BooleanField | forms.MultipleChoiceField
        )


def _tab_of(name: str) -> Group | None:
    return OPTIONS[name].group if name in OPTIONS else COLUMN_TABS.get(name)


def _empty_value(name: str) -> Any:
    """Null (no limit) if the setting allows it, else its default."""
    info = SessionSettings.model_fields[name]
    return None if NoneType in get_args(info.annotation) else info.default


def within_limit(text: str) -> str:
    if len(text) > TEXT_LIMIT:
        raise ValidationError(f"At most {TEXT_LIMIT:,} characters; this has {len(text):,}.")
    return text
