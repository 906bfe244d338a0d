"""What people type into small forms: a title, a file, other words, an act on several sessions."""

from typing import Any
from uuid import UUID

from django import forms
from django.core.exceptions import ValidationError

from sessions_app.chat.session_form import TEXT_LIMIT
from sessions_app.models.session import ACTS, TITLE_LENGTH

IMPORT_LIMIT = 50 * 2**20
"""Bytes of a file that is imported: it is checked as a whole, in memory."""


def first_error(form: forms.Form) -> str:
    """What is wrong, in one sentence."""
    return str(next(error for errors in form.errors.values() for error in errors))


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


class ImportForm(forms.Form):
    file = forms.FileField()

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > IMPORT_LIMIT:
            raise ValidationError(f"At most {IMPORT_LIMIT // 2**20} MB; this has {file.size / 2**20:.0f}.")
        return file


class WordingForm(forms.Form):
    """Other words for an answer of the model, as Markdown."""

    text = forms.CharField(
        max_length=TEXT_LIMIT, strip=False, error_messages={"required": "An answer cannot be empty."}
    )

    def clean_text(self) -> str:
        text: str = self.cleaned_data["text"]
        if not text.strip():
            raise ValidationError("An answer cannot be empty.")
        return text


class ActForm(forms.Form):
    """One act of `models.session.ACTS` on the sessions that are named."""

    act = forms.ChoiceField(choices=[(act, act) for act in ACTS])
    session = forms.TypedMultipleChoiceField(coerce=UUID)

    def __init__(self, data: Any) -> None:
        super().__init__(data)
        named = data.getlist("session")
        self.fields["session"].choices = [(public, public) for public in named if _is_uuid(public)]  # type: ignore[attr-defined]


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
