"""What this version knows of stored settings: a newer version, an import or an edit may have written more."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from sessions_app.models.session_settings import SessionSettings

UNREADABLE: Mapping[str, Any] = {"tools": []}
"""What a setting of which nothing can be read counts as, where its default would allow more."""

NEVER_LEFT_OUT = frozenset({"budget_usd"})
"""Its default is no limit: what cannot be read must not lift it."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A stored value, or an item of a stored list, that this version does not take."""

    name: str
    value: Any


@dataclass(frozen=True, slots=True)
class KnownSettings:
    """The settings without what is unknown, which stays stored."""

    options: SessionSettings
    unknown: tuple[Unknown, ...] = ()

    @classmethod
    def of(cls, stored: Any) -> "KnownSettings":
        """Raises pydantic's ValidationError for a value that is not an object, and for a damaged budget."""
        try:
            return cls(SessionSettings.model_validate(stored))
        except ValidationError as error:
            known, unknown = _divided(stored, error)
        return cls(SessionSettings.model_validate(known), unknown)


def _divided(stored: Any, error: ValidationError) -> tuple[dict[str, Any], tuple[Unknown, ...]]:
    """What is known of the settings, and the rest. Raises the error where nothing may be left out."""
    places: dict[str, set[Any]] = {}
    for one in error.errors(include_url=False, include_input=False):
        name, *inside = one["loc"] or ("",)
        if not name or name in NEVER_LEFT_OUT:
            raise error
        places.setdefault(str(name), set()).add(inside[0] if inside else None)
    known, unknown = dict(stored), []
    for name, wrong in places.items():
        value = known.pop(name)
        if None in wrong:
            unknown.append(Unknown(name, value))
            if name in UNREADABLE:
                known[name] = UNREADABLE[name]
            continue
        items = enumerate(value) if isinstance(value, list) else value.items()
        unknown += [Unknown(name, value[key]) for key in sorted(wrong)]
        kept = [(key, item) for key, item in items if key not in wrong]
        known[name] = [item for _, item in kept] if isinstance(value, list) else dict(kept)
    return known, tuple(unknown)
