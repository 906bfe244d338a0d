"""The settings of a session as one form."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from sessions_app.chat.zone import zones
from sessions_app.context.arguments import arguments_of
from sessions_app.context.capabilities import facts_of, model_names
from sessions_app.context.remarks import summary
from sessions_app.context.static import read_texts, write_texts
from sessions_app.models import PromptText, Session, SessionSettings
from sessions_app.prompt.arguments import Message
from sessions_app.tools import TOOLBOX

TEXT_LIMIT = 200_000
"""Characters of a purpose or a background: about 60,000 tokens."""

LEVELS = [("", "The model decides"), ("LOW", "Low"), ("MEDIUM", "Medium"), ("HIGH", "High")]
TITLES = [("words", "From the first words"), ("model", "Written by the model")]
HISTORIES = [("repair", "Mend it and show what was mended"), ("strict", "Send nothing and say why")]
POLICIES = [
    ("adaptive", "Adaptive: when it saves the most money"),
    ("seed", "Seed: its four fixed thresholds"),
]
MODES = [
    ("auto", "Automatic: by what it costs"),
    ("explicit", "Explicit: a cache with a name"),
    ("implicit", "Implicit: an unchanged beginning"),
]

NO_LIMIT = forms.NumberInput(attrs={"placeholder": "No limit", "step": "any"})


def model_choices(current: str) -> list[tuple[str, str]]:
    """Known models, and the session's own if it is none of them."""
    names = model_names()
    extra = () if not current or current in names else (current,)
    return [(name, _model_words(name)) for name in (*extra, *names)]


def _model_words(name: str) -> str:
    facts = facts_of(name)
    if not facts.known:
        return f"{name} (not in the capability table)"
    return name if facts.has_explicit_caches else f"{name} (no explicit caches)"


class SessionForm(forms.ModelForm):  # type: ignore[type-arg]  # takes no argument at run time
    """A session's texts are columns, its options one JSON column; the person sees one form.

    A field that was not sent at all keeps what the session has; one that was sent empty has no limit.
    """

    model = forms.ChoiceField()
    temperature = forms.FloatField(
        required=False,
        min_value=0,
        max_value=2,
        widget=forms.NumberInput(attrs={"step": "0.1", "placeholder": "Model's default"}),
    )
    thinking_level = forms.ChoiceField(required=False, choices=LEVELS)
    thinking_budget = forms.IntegerField(required=False, min_value=-1, max_value=65_536)
    include_thoughts = forms.BooleanField(required=False)
    language = forms.CharField(required=False, max_length=60)
    message_language = forms.CharField(required=False, max_length=40)
    time_zone = forms.CharField(required=False, max_length=60)
    clock_minutes = forms.IntegerField(required=False, min_value=1, max_value=1440)
    auto_title = forms.ChoiceField(required=False, choices=TITLES)
    tools = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple)
    history_policy = forms.ChoiceField(required=False, choices=HISTORIES)
    cache_policy = forms.ChoiceField(required=False, choices=POLICIES)
    cache_mode = forms.ChoiceField(required=False, choices=MODES)
    continue_cut = forms.BooleanField(required=False)
    continue_todos = forms.BooleanField(required=False)
    max_rounds = forms.IntegerField(required=False, min_value=1, max_value=100)
    max_continuations = forms.IntegerField(required=False, min_value=0, max_value=100)
    max_tokens = forms.IntegerField(required=False, min_value=1, widget=NO_LIMIT)
    max_seconds = forms.IntegerField(required=False, min_value=1, widget=NO_LIMIT)
    max_usd = forms.FloatField(required=False, min_value=0.0001, widget=NO_LIMIT)
    budget_usd = forms.FloatField(required=False, min_value=0.0001, widget=NO_LIMIT)

    class Meta:
        model = Session
        fields = ("assistant", "purpose", "background", "roles", "procedure", "model")
        widgets = {"roles": forms.CheckboxSelectMultiple}

    ANSWER = (
        *("temperature", "thinking_level", "thinking_budget", "include_thoughts", "tools"),
        *("language", "message_language", "time_zone", "clock_minutes", "auto_title"),
    )
    PROMPT = ("history_policy", "cache_policy", "cache_mode")
    LIMITS = (
        *("continue_cut", "continue_todos", "max_rounds", "max_continuations"),
        *("max_tokens", "max_seconds", "max_usd", "budget_usd"),
    )
    OPTIONS = (*ANSWER, *PROMPT, *LIMITS)

    _asked_for = ""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        options = self.instance.options
        self.initial |= options.model_dump(include=set(self.OPTIONS))
        self.initial["tools"] = TOOLBOX.enabled(options.tools)
        self.fields["tools"].choices = [(tool.name, tool.title) for tool in TOOLBOX]  # type: ignore[attr-defined]
        self.fields["model"].choices = model_choices(self.instance.model)  # type: ignore[attr-defined]
        self.fields["assistant"].required = False
        self.fields["assistant"].empty_label = "None"  # type: ignore[attr-defined]
        self._restrict_texts()

    def _restrict_texts(self) -> None:
        for name, kind in (("roles", PromptText.Kind.ROLE), ("procedure", PromptText.Kind.PROCEDURE)):
            field = self.fields[name]
            field.required = False
            field.queryset = PromptText.objects.filter(kind=kind)  # type: ignore[attr-defined]
        self.fields["procedure"].empty_label = "None"  # type: ignore[attr-defined]

    def clean_purpose(self) -> str:
        return _within_limit(self.cleaned_data["purpose"])

    def clean_background(self) -> str:
        return _within_limit(self.cleaned_data["background"])

    def clean_time_zone(self) -> str:
        name: str = self.cleaned_data["time_zone"] or "UTC"
        if name not in zones():
            raise ValidationError("Use a name like Europe/Lisbon.")
        return name

    def clean_tools(self) -> list[str] | None:
        """None when the standard ones are chosen, so that one that becomes standard later is on."""
        chosen: list[str] = self.cleaned_data["tools"]
        return None if set(chosen) == set(TOOLBOX.standard) else sorted(chosen)

    @property
    def has_assistants(self) -> bool:
        return bool(self.fields["assistant"].queryset)  # type: ignore[attr-defined]

    def open_at(self, name: str) -> None:
        """The field that the person came for: it gets the focus, and its group stands open."""
        if name in self.fields:
            self._asked_for = name
            self.fields[name].widget.attrs["autofocus"] = True

    @property
    def open_groups(self) -> set[str]:
        """Which folded groups of fields hold an error or what was asked for, and so have to be open."""
        groups = {"answer": self.ANSWER, "prompt": self.PROMPT, "limits": self.LIMITS}
        wanted = {*self.errors, self._asked_for}
        return {name for name, fields in groups.items() if not wanted.isdisjoint(fields)}

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is wrong with the texts that the session has now."""
        if self.instance.pk is None:
            return ()
        values = arguments_of(self.instance, Message(), timezone.now()).values
        return summary(write_texts(read_texts(self.instance), values))

    def save(self, commit: bool = True) -> Session:
        if self.instance.pk is None:
            self.instance.settings = self._kept()
            made: Session = super().save(commit)
            return made
        return self._change()

    @transaction.atomic
    def _change(self) -> Session:
        """Writes what the form shows and nothing else: a run may be moving the session's head meanwhile."""
        stored = Session.objects.select_for_update(of=("self",)).only("settings").get(pk=self.instance.pk)
        self.instance.settings = {**stored.settings, **self._kept()}
        columns = [field.name for field in Session._meta.concrete_fields if field.name in self.Meta.fields]
        changed: Session = super().save(commit=False)
        changed.save(update_fields=[*columns, "settings"])
        self.save_m2m()
        return changed

    def _kept(self) -> dict[str, Any]:
        """The options to store. An emptied field that must have a value goes back to its default."""
        sent = {name: self.cleaned_data[name] for name in self.OPTIONS if self._was_sent(name)}
        defaults = SessionSettings()
        return {
            name: getattr(defaults, name) if value in (None, "") and not _may_be_none(name) else value
            for name, value in sent.items()
        }

    def _was_sent(self, name: str) -> bool:
        """A browser leaves out a box that is not ticked, and nothing else."""
        return name in self.data or isinstance(
            self.fields[name], forms.BooleanField | forms.MultipleChoiceField
        )


def _may_be_none(name: str) -> bool:
    return SessionSettings.model_fields[name].default is None or name in (
        "max_tokens",
        "max_seconds",
        "max_usd",
    )


def _within_limit(text: str) -> str:
    if len(text) > TEXT_LIMIT:
        raise ValidationError(f"At most {TEXT_LIMIT:,} characters; this has {len(text):,}.")
    return text
