"""What a person has seen of a form, so that saving it keeps what another page has changed meanwhile."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import orjson
from django import forms

from sessions_app.fields import UnchangedTextsForm

SEEN = "seen"
"""The name of the hidden control."""

LISTS = (forms.MultipleChoiceField, forms.ModelMultipleChoiceField)


class SeenFieldsForm(UnchangedTextsForm):
    """Base of a form that several pages may have open: what a person left alone in one is not saved by it.

    After cleaning, `cleaned_data` of a row that was there before has the other fields only.
    """

    @property
    def seen(self) -> str:
        """As JSON a digest of each field as it is shown; of a posted form what came with it."""
        if self.is_bound:
            return str(self.data.get(SEEN, ""))
        digests = {name: _digest(field, self[name].initial) for name, field in self.fields.items()}
        return orjson.dumps(digests).decode()

    def _post_clean(self) -> None:
        if self.instance.pk is not None:
            seen = _restored(self.data.get(SEEN, ""))
            for name in [name for name in self.cleaned_data if self._is_left_alone(name, seen)]:
                del self.cleaned_data[name]
        super()._post_clean()  # type: ignore[misc]  # a hook that the stubs leave out

    def _is_left_alone(self, name: str, seen: Mapping[str, Any]) -> bool:
        """Whether it was posted as it had been shown; False where nothing tells what was shown."""
        return name in seen and seen[name] == _digest(self.fields[name], self[name].data)


def _digest(field: forms.Field, value: Any) -> str:
    """Equal for a value as it is stored and as a browser posts it unchanged."""
    shown = field.prepare_value(value)
    said: object = "" if shown is None else str(shown).replace("\r\n", "\n").replace("\r", "\n")
    if isinstance(field, forms.BooleanField):
        said = bool(shown)
    elif isinstance(field, LISTS):
        said = sorted(map(str, shown or ()))
    return sha256(repr(said or "").encode()).hexdigest()[:16]


def _restored(text: Any) -> Mapping[str, Any]:
    try:
        found = orjson.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
