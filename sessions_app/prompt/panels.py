"""Panels, the sources of the dynamic layer: order, change times, paging."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

from sessions_app.error_codes import RefusalCode
from sessions_app.errors import PromptError
from sessions_app.prompt import wire
from sessions_app.prompt.tokens import estimate

CLOCK_KEY = "current_datetime"

PAGE_TOKENS = 25_000

PAGE_BYTES = 82_500
"""The same in UTF-8, at 3.3 bytes per token."""

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
    """The hash of a panel's content, and since when it has it."""

    sha256: str
    changed: datetime


@dataclass(frozen=True, slots=True)
class PanelContent:
    """A panel's value after paging; `tokens` are estimated."""

    value: Any
    sha256: str
    tokens: int
    page: int = 1
    pages: int = 1


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a text; `number` counts from 1."""

    text: str
    number: int
    count: int

    @property
    def shown(self) -> str:
        """The text after a line with its page number, if there are several pages."""
        return self.text if self.count == 1 else f"[page {self.number} of {self.count}]\n{self.text}"


def sorted_panels(panels: Sequence[Panel]) -> tuple[Panel, ...]:
    """Oldest change first, so that a change keeps the bytes before it (seed 4).

    Panels that changed together are sorted as file_references, artifacts, todos, then by key.
    Raises PromptError for two panels of one key and for the key of the clock.
    """
    keys = [panel.key for panel in panels]
    if len(set(keys)) != len(keys):
        raise PromptError(
            RefusalCode.REPEATED_KEYS, what="panel", keys=sorted({key for key in keys if keys.count(key) > 1})
        )
    if CLOCK_KEY in keys:
        raise PromptError(RefusalCode.PANEL_KEY_RESERVED, key=CLOCK_KEY)
    return tuple(sorted(panels, key=lambda panel: (panel.changed, _rank(panel.key), panel.key)))


def restamp(last: Stamp | None, sha256: str, now: datetime) -> Stamp:
    """The last stamp, or a new one if the hash differs."""
    return last if last is not None and last.sha256 == sha256 else Stamp(sha256, now)


def digest(content: bytes) -> str:
    return sha256(content).hexdigest()


def content_of(value: Any, page: int = 1) -> PanelContent:
    """The value with hash and size, or one page of it if it is longer.

    A text is paged by lines. Any other long value becomes a text first, with an item per line.
    """
    body = wire.dumps(value)
    if len(body) <= PAGE_BYTES or (shown := page_of(_lines(value, body), page)).count == 1:
        return full_content(value, body)
    body = wire.dumps(shown.shown)
    return PanelContent(shown.shown, digest(body), estimate(body), shown.number, shown.count)


def full_content(value: Any, body: bytes = b"") -> PanelContent:
    """The value without paging; `body` is its JSON, if known."""
    body = body or wire.dumps(value)
    return PanelContent(value, digest(body), estimate(body))


def page_count(tokens: int) -> int:
    """Pages of a text of that many estimated tokens, at most; an empty text has one."""
    return max(1, -(-tokens // PAGE_TOKENS))


def page_of(text: str, number: int) -> Page:
    """The page with this number, or the nearest one. The pages together are the text.

    Both ends move to after the next newline, and what has nothing left by that is no page. A line longer than
    a page is cut.
    """
    most = page_count(estimate(text))
    if most == 1:
        return Page(text, 1, 1)
    data = text.encode(errors="replace")
    starts = sorted({_cut(data, pages) for pages in range(most)} - {len(data)})
    number = min(max(1, number), len(starts))
    start, end = (*starts, len(data))[number - 1 : number + 1]
    return Page(data[start:end].decode(), number, len(starts))


def _lines(value: Any, body: bytes) -> str:
    if isinstance(value, str):
        return wire.well_formed(value)
    if isinstance(value, list):
        return "\n".join(wire.dumps(item).decode() for item in value)
    return body.decode()


def _rank(key: str) -> int:
    kind = key.partition("/")[0]
    return _TIES.index(kind) if kind in _TIES else len(_TIES)


def _cut(data: bytes, pages: int) -> int:
    """The offset at which the page after so many pages begins."""
    position = pages * PAGE_BYTES
    if position == 0:
        return 0
    newline = data.find(b"\n", position, position + PAGE_BYTES)
    if newline >= 0:
        return newline + 1
    while position < len(data) and data[position] & 0xC0 == 0x80:
        position += 1  # inside a character
    return position
