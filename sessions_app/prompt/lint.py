"""Variables that break a cache: values that change by themselves, named by a text that should not change."""

from collections.abc import Iterable
from dataclasses import dataclass

from sessions_app.prompt.syntax import Use

_DAILY = "once a day"
_ALWAYS = "with every message"

VOLATILE = {
    "system": _ALWAYS,
    "system.current_date": _DAILY,
    "system.day_of_week": _DAILY,
    "message": _ALWAYS,
    "conversation": _ALWAYS,
    "conversation.duration": _ALWAYS,
    "conversation.updated_date": _ALWAYS,
}
"""How often a value changes. A namespace stands for whatever of it is not named here itself."""

_STABLE = {
    "conversation.id",
    "conversation.identifier",
    "conversation.source",
    "conversation.direction",
    "conversation.created_date",
}


@dataclass(frozen=True, slots=True)
class Breaker:
    """A volatile variable, its line, and how often it changes."""

    path: str
    line: int
    how_often: str


def breakers(uses: Iterable[Use]) -> tuple[Breaker, ...]:
    """The uses that change between requests, each variable once, in the order of the text."""
    found: dict[str, Breaker] = {}
    for use in uses:
        how_often = _how_often(use.path)
        if how_often:
            found.setdefault(use.path, Breaker(use.path, use.line, how_often))
    return tuple(found.values())


def _how_often(path: str) -> str:
    """Empty for what stays the same."""
    root, _, rest = path.partition(".")
    named = f"{root}.{rest.partition('.')[0]}" if rest else root
    return "" if named in _STABLE else VOLATILE.get(named) or VOLATILE.get(root, "")
