"""What people type into the panels, with the same limits as the rows behind them."""

from django import forms

from sessions_app.models import Memory
from sessions_app.models.notes import LINE_LIMIT, MEMORY_LIMIT, NOTE_LIMIT
from sessions_app.models.resources import TITLE_LIMIT

LONGEST_LIFE = 1_000
"""Messages that a file may be open for; longer is for ever."""


class NoForm(forms.Form):
    """An act that needs to know nothing more."""


class SwitchForm(forms.Form):
    """A box: a browser sends it when it is ticked, and nothing when it is not."""

    on = forms.BooleanField(required=False)


class PageForm(forms.Form):
    page = forms.IntegerField(min_value=1, max_value=1_000_000)


class LifeForm(forms.Form):
    """How many more messages a file stays open for; empty: for ever."""

    ttl = forms.IntegerField(required=False, min_value=1, max_value=LONGEST_LIFE)


class TodoForm(forms.Form):
    title = forms.CharField(max_length=TITLE_LIMIT, error_messages={"required": "Write what is to be done."})


class MemoryForm(forms.Form):
    text = forms.CharField(max_length=MEMORY_LIMIT, error_messages={"required": "Write what to remember."})
    importance = forms.ChoiceField(choices=Memory.Importance.choices)


class NoteForm(forms.Form):
    title = forms.CharField(required=False, max_length=120)
    text = forms.CharField(
        max_length=NOTE_LIMIT, strip=False, error_messages={"required": "Write something first."}
    )


class LogForm(forms.Form):
    text = forms.CharField(max_length=LINE_LIMIT, error_messages={"required": "Write what was done."})
