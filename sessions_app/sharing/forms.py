"""What a person chooses when sharing a conversation."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.template.defaultfilters import filesizeformat
from django.utils import timezone

from sessions_app.fields import FocusedRadioSelect
from sessions_app.media import kind_label
from sessions_app.sharing.building import Candidate

LIFETIMES = {"1": "1 day", "7": "7 days", "30": "30 days", "": "Never"}
"""Days until a link ends, with their labels."""


class ShareForm(forms.Form):
    content = forms.ChoiceField(
        label="What is shared",
        choices=[("text", "Text only"), ("full", "With tools and thoughts")],
        initial="text",
        widget=FocusedRadioSelect,
    )
    chosen_files = forms.TypedMultipleChoiceField(
        label="Files", coerce=int, required=False, widget=forms.CheckboxSelectMultiple
    )
    lifetime = forms.ChoiceField(
        label="The link ends after", choices=list(LIFETIMES.items()), initial="30", required=False
    )

    def __init__(self, data: Any = None, *, candidates: Sequence[Candidate]) -> None:
        super().__init__(data)
        choices = [(place, _label(file)) for place, file in enumerate(candidates)]
        field = self.fields["chosen_files"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices

    @property
    def has_details(self) -> bool:
        return bool(self.cleaned_data["content"] == "full")

    @property
    def chosen(self) -> set[int]:
        return set(self.cleaned_data["chosen_files"])

    @property
    def expires_at(self) -> datetime | None:
        days = self.cleaned_data["lifetime"]
        return timezone.now() + timedelta(days=int(days)) if days else None


def _label(file: Candidate) -> str:
    size = f", {filesizeformat(file.size)}" if file.size else ""
    return f"{file.name or kind_label(file.data.mime)}{size}"
