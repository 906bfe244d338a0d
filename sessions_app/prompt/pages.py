"""Long content in pages: what is longer than a page is shown one page at a time."""

from dataclasses import dataclass

from sessions_app.prompt.tokens import estimate

PAGE_TOKENS = 25_000

PAGE_BYTES = 82_500
"""The same length in bytes of UTF-8: 3.3 to a token."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a text; `number` counts from 1. The text of a single page is the whole text."""

    text: str
    number: int
    count: int

    @property
    def shown(self) -> str:
        """The text under one line that says which page it is; the whole text stands alone."""
        return self.text if self.count == 1 else f"[page {self.number} of {self.count}]\n{self.text}"


def page_count(tokens: int) -> int:
    """Pages of a text of that many estimated tokens; an empty text has one."""
    return max(1, -(-tokens // PAGE_TOKENS))


def page_of(text: str, number: int) -> Page:
    """The page with this number, or the nearest there is. The pages together are the text.

    Both ends move to after the next newline, so that a line stands on one page only. A line that goes
    on for more than a page is cut: one line of megabytes must not pass for one page.
    """
    count = page_count(estimate(text))
    if count == 1:
        return Page(text, 1, 1)
    data = text.encode(errors="replace")
    number = min(max(1, number), count)
    start, end = _cut(data, number - 1), _cut(data, number) if number < count else len(data)
    return Page(data[start:end].decode(), number, count)


def _cut(data: bytes, pages: int) -> int:
    """Where the page after so many pages begins."""
    position = pages * PAGE_BYTES
    if position == 0:
        return 0
    newline = data.find(b"\n", position, position + PAGE_BYTES)
    if newline >= 0:
        return newline + 1
    while position < len(data) and data[position] & 0xC0 == 0x80:
        position += 1  # inside a character
    return position
