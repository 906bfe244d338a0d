"""The form fields of a session's options, from their declarations in `SessionSettings`."""

from typing import Any, Literal, get_args, get_origin

from annotated_types import Ge, Gt, Le
from django import forms
from pydantic.fields import FieldInfo

from sessions_app.fields import ExamplesField, VariablesField
from sessions_app.models import SessionSettings
from sessions_app.models.library import Variable
from sessions_app.prompt.examples import ExampleMessage

EXCLUSIVE_STEP = 0.0001
"""Added to an exclusive lower bound, because the `min` of HTML is inclusive."""

OPTIONS = SessionSettings.form_fields()


def option_field(name: str) -> forms.Field:
    """Creates the form field of an option from its declaration in `SessionSettings`."""
    info, shown = SessionSettings.model_fields[name], OPTIONS[name]
    common: dict[str, Any] = {"required": False, "label": info.title, "help_text": info.description or ""}
    kinds = {info.annotation, *get_args(info.annotation)}
    for kind, lines in ((ExampleMessage, ExamplesField), (Variable, VariablesField)):
        if kind in kinds:
            return lines(**common)
    if bool in kinds:
        return forms.BooleanField(**common)
    if get_origin(info.annotation) is Literal:
        choices = [(value, shown.choices[value]) for value in get_args(info.annotation)]
        return forms.ChoiceField(choices=choices, **common)
    if kinds & {int, float}:
        widget = forms.NumberInput(attrs={"step": shown.step, "placeholder": shown.placeholder})
        number = forms.FloatField if float in kinds else forms.IntegerField
        return number(widget=widget, **_bounds(info), **common)
    if str in kinds:
        if shown.lines > 1:
            attributes = {"rows": shown.lines, "placeholder": shown.placeholder, "spellcheck": "false"}
            common["widget"] = forms.Textarea(attrs=attributes)
        return forms.CharField(max_length=shown.max_length, **common)
    choices = list(shown.choices.items())
    return forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple, choices=choices, **common)


def _bounds(info: FieldInfo) -> dict[str, Any]:
    bounds: dict[str, Any] = {}
    for mark in info.metadata:
        match mark:
            case Ge(ge=least):
                bounds["min_value"] = least
            case Gt(gt=limit):
                bounds["min_value"] = float(str(limit)) + EXCLUSIVE_STEP
            case Le(le=most):
                bounds["max_value"] = most
    return bounds
