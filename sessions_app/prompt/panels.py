"""Panels: the sources of the dynamic layer, each with the time of its last change."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

from sessions_app.errors import PromptError
from sessions_app.prompt import wire
from sessions_app.prompt.pages import PAGE_BYTES, page_of
from sessions_app.prompt.tokens import estimate

CLOCK_KEY = "current_datetime"

_TIES = ("file_references", "artifacts", "todos")


@dataclass(frozen=True, slots=True)
class Panel:
    """One key of the dynamic layer. `value` is anything JSON can hold; `changed` is aware."""

    key: str
    title: str
    value: Any
    changed: datetime


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a panel's content was, and since when."""

    sha256: str
    changed: datetime


@dataclass(frozen=True, slots=True)
class Content:
    """A panel's value as it is sent, after paging; `tokens` are estimated."""

    value: Any
    sha256: str
    tokens: int
    page: int = 1
    pages: int = 1


def in_order(panels: Sequence[Panel]) -> tuple[Panel, ...]:
    """Oldest change first, so that a change leaves the bytes before it alone (seed 4).

    Panels that changed together stand as file_references, artifacts, todos, then by key.
    Raises PromptError for two panels of one key and for the key of the clock.
    """
    keys = [panel.key for panel in panels]
    if len(set(keys)) != len(keys):
        raise PromptError("Two panels of the dynamic layer have the same key.")
    if CLOCK_KEY in keys:
        raise PromptError(f"A panel cannot be called {CLOCK_KEY}: that key is the clock.")
    return tuple(sorted(panels, key=lambda panel: (panel.changed, _rank(panel.key), panel.key)))


def restamp(last: Stamp | None, sha256: str, now: datetime) -> Stamp:
    """The stamp of a content: the last one unless its hash differs. The time moves only on change."""
    return last if last is not None and last.sha256 == sha256 else Stamp(sha256, now)


def digest(content: bytes) -> str:
    return sha256(content).hexdigest()


def content_of(value: Any, page: int = 1) -> Content:
    """The value with its hash and size, cut to one page where it is longer than one.

    A text is paged by its lines. Anything else that is too long becomes a text first, an item per
    line, since a piece of JSON is no JSON.
    """
    body = wire.dumps(value)
    if len(body) <= PAGE_BYTES or (shown := page_of(_lines(value, body), page)).count == 1:
        return in_full(value, body)
    body = wire.dumps(shown.shown)
    return Content(shown.shown, digest(body), estimate(body), shown.number, shown.count)


def in_full(value: Any, body: bytes = b"") -> Content:
    """The value as it is, for one whose parts are paged already; `body` is its JSON, if it is known."""
    body = body or wire.dumps(value)
    return Content(value, digest(body), estimate(body))


def _lines(value: Any, body: bytes) -> str:
    if isinstance(value, str):
        return wire.well_formed(value)
    if isinstance(value, list):
        return "\n".join(wire.dumps(item).decode() for item in value)
    return body.decode()


def _rank(key: str) -> int:
    return _TIES.index(key) if key in _TIES else len(_TIES)
