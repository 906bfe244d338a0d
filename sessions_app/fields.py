"""Form fields shared by chat and admin."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from pydantic import TypeAdapter
from pydantic import ValidationError as PydanticError

from sessions_app.models import Assistant
from sessions_app.models.assistant import BROUGHT
from sessions_app.models.known_settings import Unknown
from sessions_app.models.library import VARIABLES, VARIABLES_HELP
from sessions_app.models.session_settings import EXAMPLES_HELP
from sessions_app.prompt.answer_schema import fault_of
from sessions_app.prompt.examples import MOST, ExampleMessage, parse_examples, written
from sessions_app.tools import Toolbox
from sessions_app.wording.answer_schemas import schema_fault
from sessions_app.wording.unknown_parts import unknown_part

STORED = TypeAdapter(list[ExampleMessage])

KEY_DIGITS = 18
"""The most digits of a primary key: a longer one has more than 64 bits."""


class RowsField(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]  # takes no argument at run time
    """Rows by their keys. A key that no column can hold names no row."""

    def clean(self, value: Any) -> Any:
        for key in value or ():
            if len(str(key)) > KEY_DIGITS:
                message = self.error_messages["invalid_pk_value"]
                raise ValidationError(message, code="invalid_pk_value", params={"pk": f"{key:.20}…"})
        return super().clean(value)


class FocusedRadioSelect(forms.RadioSelect):
    """The first field of a dialog: its checked option has the focus, or else the first one."""

    def optgroups(self, *args: Any, **kwargs: Any) -> Any:
        groups = super().optgroups(*args, **kwargs)
        options = [option for _, members, _ in groups for option in members]
        focused = next((one for one in options if one["selected"]), options[0] if options else None)
        if focused is not None:
            focused["attrs"]["autofocus"] = True
        return groups


class VerbatimTextField(forms.CharField):
    """A text whose white space is significant: the model reads it and cached prefixes depend on it.

    Nothing is stripped; line ends become `\\n`. White space alone counts as missing.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"strip": False, **kwargs})

    def widget_attrs(self, widget: forms.Widget) -> dict[str, Any]:
        """Without `maxlength`, with which a browser cuts a long paste and says nothing."""
        return {name: value for name, value in super().widget_attrs(widget).items() if name != "maxlength"}

    def to_python(self, value: Any) -> str:
        text = super().to_python(value) or ""
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def validate(self, value: Any) -> None:
        super().validate(value)
        if self.required and not value.strip():
            raise ValidationError(self.error_messages["required"], code="required")


class LinesField(forms.CharField):
    """A list of texts, one a line; empty lines are none."""

    def __init__(self, *, most: int, longest: int, **kwargs: Any) -> None:
        super().__init__(**{"widget": forms.Textarea(attrs={"rows": 4}), "required": False, **kwargs})
        self.most, self.longest = most, longest

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        lines = value if isinstance(value, list) else str(value or "").splitlines()
        return [line.strip() for line in lines if line.strip()]

    def validate(self, value: list[str]) -> None:
        if len(value) > self.most:
            raise ValidationError(f"At most {self.most} lines; these are {len(value)}.", code="max_lines")
        if any(len(line) > self.longest for line in value):
            raise ValidationError(f"At most {self.longest} characters a line.", code="max_length")

    def run_validators(self, value: Any) -> None:
        for line in value:
            super().run_validators(line)


class VariablesField(forms.CharField):
    """Variables with defaults, one per line: `name = default`. A default may be JSON."""

    def __init__(self, **kwargs: Any) -> None:
        given = {"widget": forms.Textarea(attrs={"rows": 4}), "required": False, "help_text": VARIABLES_HELP}
        super().__init__(**{**given, **kwargs})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(map(_line_of, value)) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        """Raises ValidationError with the number of an invalid line."""
        found = []
        for number, line in enumerate(str(value or "").splitlines(), 1):
            name, _, default = (piece.strip() for piece in line.partition("="))
            if name or default:
                found.append(_variable(number, name, default))
        return found


EXAMPLES_LIMIT = 100_000
"""Characters of all together."""


class ExamplesField(VerbatimTextField):
    """Messages with their roles, as `prompt.examples` reads them; the value is a list of objects."""

    def __init__(self, **kwargs: Any) -> None:
        rows = forms.Textarea(attrs={"rows": 4, "placeholder": "user: …\nassistant: …"})
        super().__init__(**{"widget": rows, "required": False, "help_text": EXAMPLES_HELP, **kwargs})

    def prepare_value(self, value: Any) -> Any:
        return written(STORED.validate_python(value)) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        if len(text) > EXAMPLES_LIMIT:
            raise ValidationError(f"At most {EXAMPLES_LIMIT:,} characters.", code="max_length")
        try:
            found = parse_examples(text)
        except ValueError as error:
            raise ValidationError(
                "Begin each message with user: or assistant: and its text.", code="invalid"
            ) from error
        if len(found) > MOST:
            raise ValidationError(f"At most {MOST} messages; these are {len(found)}.", code="max_lines")
        return [one.model_dump() for one in found]


class UnchangedTextsForm(forms.ModelForm):  # type: ignore[type-arg]  # takes no argument at run time
    """Base of a form whose texts stay as they are stored unless a person changes them.

    A browser rewrites line ends, and fields of names lose white space: saving would change the prompt.
    So does a field with a value, or an item, that this version does not know and the field cannot show.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._unknown: dict[str, list[Any]] = {}
        self._partly_known: dict[str, Any] = {}

    def show_known(
        self, known: Mapping[str, Any], unknown: Iterable[Unknown], stored: Mapping[str, Any]
    ) -> None:
        """Shows the `known` values; a field with an `unknown` one keeps what is `stored` until it changes."""
        self.initial.update(known)
        for one in unknown:
            if one.name in self.fields:
                self._unknown.setdefault(one.name, []).append(one.value)
                self._partly_known[one.name] = stored[one.name]

    @property
    def unknown_parts(self) -> list[str]:
        """A line for each field that holds what this version does not know."""
        return [unknown_part(str(self[name].label), values) for name, values in self._unknown.items()]

    def _is_as_shown(self, name: str) -> bool:
        field, bound = self.fields[name], self[name]
        if isinstance(field, forms.MultipleChoiceField):
            return not field.has_changed(bound.initial, bound.data)
        return _lines(bound.data) == _lines(field.prepare_value(bound.initial))

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        kept = {name for name in self._partly_known if name in cleaned and self._is_as_shown(name)}
        cleaned |= {name: self._partly_known[name] for name in kept}
        for name in cleaned.keys() & self.fields.keys() - kept:
            stored = self.initial.get(name)
            if isinstance(stored, str) and cleaned[name] == self.fields[name].to_python(stored):
                cleaned[name] = stored
        return cleaned


class StoredAssistantForm(UnchangedTextsForm):
    """Base of the forms of assistants, whose columns may hold what this version does not know."""

    def show_stored(self, tools: Toolbox, *, standard: Iterable[str]) -> None:
        """Shows what is known of the row, and those of its tools that are here; `standard` ones for none."""
        row: Assistant = self.instance
        chosen = row.known_tools
        known = row.known.options.model_dump(include=set(BROUGHT)) | {
            "tools": list(standard) if chosen is None else tools.enabled(chosen),
            "starters": row.known_starters,
        }
        absent = (Unknown("tools", name) for name in chosen or () if name not in tools.names)
        self.show_known(known, (*row.unknown, *absent), vars(row))


def checked_schema(text: str) -> str:
    """The JSON schema of answers; raises ValidationError for one that the provider does not take."""
    if text and (fault := fault_of(text)):
        raise ValidationError(schema_fault(fault), code=fault.problem.value)
    return text


def _lines(text: Any) -> list[str]:
    return [] if text is None else str(text).splitlines()


def _line_of(variable: Any) -> str:
    default = variable.get("default", "")
    is_plain = isinstance(default, str) and default == default.strip() and "\n" not in default
    return f"{variable.get('name', '')} = {default if is_plain else json.dumps(default, ensure_ascii=False)}"


def _variable(number: int, name: str, default: str) -> dict[str, Any]:
    value: Any = default
    if default[:1] in ("[", "{", '"'):
        try:
            value = json.loads(default)
        except ValueError:
            value = default
    try:
        return VARIABLES.validate_python([{"name": name, "default": value}])[0].model_dump()
    except PydanticError as error:
        raise ValidationError(
            f"Line {number}: “{name}” is no name; use letters, digits, _ and dots, as in customer.city."
        ) from error
