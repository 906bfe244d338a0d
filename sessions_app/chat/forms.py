"""What people type into forms: a session's settings, a title, a file."""

from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.core.exceptions import ValidationError

from sessions_app.gemini.capabilities import capabilities_of, known_models
from sessions_app.models import PromptText, Session
from sessions_app.models.session import TITLE_LENGTH
from sessions_app.tools import TOOLBOX

TEXT_LIMIT = 200_000
"""Characters of a purpose or a background: about 60,000 tokens."""

LEVELS = [("", "The model decides"), ("LOW", "Low"), ("MEDIUM", "Medium"), ("HIGH", "High")]


def model_choices(current: str) -> list[tuple[str, str]]:
    """Known models, and the session's own if it is none of them."""
    names = known_models()
    extra = () if not current or current in names else (current,)
    return [(name, _model_words(name)) for name in (*extra, *names)]


def _model_words(name: str) -> str:
    return name if capabilities_of(name).has_explicit_caches else f"{name} (no explicit caches)"


class SessionForm(forms.ModelForm):  # type: ignore[type-arg]  # takes no argument at run time
    """A session's texts are columns, its options one JSON column; the person sees one form."""

    model = forms.ChoiceField()
    temperature = forms.FloatField(required=False, min_value=0, max_value=2)
    thinking_level = forms.ChoiceField(required=False, choices=LEVELS)
    include_thoughts = forms.BooleanField(required=False, label="Show thoughts")
    language = forms.CharField(required=False, max_length=60)
    time_zone = forms.CharField(required=False, max_length=60)
    tools = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple)

    OPTIONS = ("temperature", "thinking_level", "include_thoughts", "language", "time_zone", "tools")

    class Meta:
        model = Session
        fields = ("purpose", "background", "roles", "procedure", "model")
        widgets = {"roles": forms.CheckboxSelectMultiple}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        options = self.instance.options
        self.initial |= options.model_dump(include=set(self.OPTIONS))
        self.initial["tools"] = options.tools if options.tools is not None else list(TOOLBOX.names)
        self.fields["tools"].choices = [(tool.name, tool.title) for tool in TOOLBOX]  # type: ignore[attr-defined]
        self.fields["model"].choices = model_choices(self.instance.model)  # type: ignore[attr-defined]
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
        if name not in available_timezones():
            raise ValidationError("Use a name like Europe/Lisbon.")
        return name

    def clean_tools(self) -> list[str] | None:
        """None when all are chosen, so that a tool that is added later is on."""
        chosen: list[str] = self.cleaned_data["tools"]
        return None if set(chosen) == set(TOOLBOX.names) else sorted(chosen)

    def save(self, commit: bool = True) -> Session:
        kept = {name: self.cleaned_data[name] for name in self.OPTIONS}
        self.instance.settings = {**self.instance.settings, **kept}
        saved: Session = super().save(commit)
        return saved


def _within_limit(text: str) -> str:
    if len(text) > TEXT_LIMIT:
        raise ValidationError(f"At most {TEXT_LIMIT:,} characters; this has {len(text):,}.")
    return text


class TitleForm(forms.Form):
    title = forms.CharField(max_length=TITLE_LENGTH)


class FileForm(forms.Form):
    """A new file, or the path of one that lies in the workspace already."""

    file = forms.FileField(required=False, allow_empty_file=True)
    path = forms.CharField(required=False, max_length=400)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if not data.get("file") and not data.get("path"):
            raise ValidationError("Choose a file.")
        return data
