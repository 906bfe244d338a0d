"""Markdown that is still being written: blocks become HTML as soon as nothing can change them.

The pieces of HTML, one after the other, are what `render` makes of the whole text, with one
exception: a link whose definition comes later (`[name]: address`) stays text here.

A block is closed when a later block has begun, or when its kind cannot go on: a heading, a rule
or a finished fence at once; a paragraph, a table or a quotation at the next blank line. A list
and indented code may go on after a blank line, so they wait for what follows. Only complete
lines are looked at, since `---` may still turn a paragraph into a heading.

The work is proportional to the text. An open fence is only searched for its end, and a long
open block is parsed again when it has grown by an eighth.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from markdown_it.token import Token
from markdown_it.utils import EnvType

from sessions_app.markup.rendering import PARSER, render_with
from sessions_app.markup.sanitising import well_formed

LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r(?!\Z))")
"""A complete line. A final CR may be the first half of a CR LF that is not here yet."""

CLOSED_AT_ONCE = {"heading_open", "hr", "fence", "math_block"}
CLOSED_BY_BLANK_LINE = {"paragraph_open", "table_open", "blockquote_open", "math_block_open_end"}

PATIENCE = 2_000
"""Characters of an open block that may be parsed again at every line."""

GROWTH = 8
"""A longer open block is parsed again when it has grown by one part in GROWTH."""


@dataclass(frozen=True, slots=True)
class Closed:
    """`html` replaces the first `chars` characters of the open text.

    Characters are code points; a browser's `text.length` counts UTF-16 units instead.
    """

    html: str
    chars: int


class Blocks:
    """Feed it the text as it comes; `tail` is what is still open, to be shown as plain text."""

    def __init__(self) -> None:
        self.tail = ""
        self._definitions: EnvType = {}
        self._searched = 0
        self._parsed = 0
        self._fence_end: re.Pattern[str] | None = None

    def feed(self, delta: str) -> list[Closed]:
        """Add text; returns what it has closed, mostly nothing, in order."""
        self.tail += well_formed(delta)
        if not self._may_have_closed():
            return []
        lines = LINE.findall(self.tail)
        self._parsed = len(self.tail)
        return self._cut(sum(map(len, lines[: self._count_closed(lines)])))

    def close(self) -> list[Closed]:
        """Close everything: the text has ended. Trailing blank lines have no HTML and stay in `tail`."""
        return self._cut(0 if _is_blank(self.tail) else len(self.tail))

    def _may_have_closed(self) -> bool:
        start, self._searched = self._searched, self._end_of_lines()
        if self._searched <= start:
            return False
        if self._fence_end is not None:
            return any(map(self._fence_end.match, LINE.findall(self.tail, start)))
        return len(self.tail) < PATIENCE or (len(self.tail) - self._parsed) * GROWTH >= len(self.tail)

    def _end_of_lines(self) -> int:
        """Where the complete lines end."""
        start = self._searched
        return max(start - 1, self.tail.rfind("\n", start), self.tail.rfind("\r", start, -1)) + 1

    def _count_closed(self, lines: Sequence[str]) -> int:
        """How many of the lines belong to closed blocks; notes the end of a fence that is open."""
        last = _last_block("".join(lines))
        self._fence_end = None
        if last is None:
            return 0
        start, end = last.lines
        blank = sum(1 for _ in takewhile(_is_blank, lines[end:]))
        if last.fence and not (end - start > 1 and last.fence.match(lines[end - 1])):
            self._fence_end = last.fence
        elif last.kind in CLOSED_AT_ONCE or (last.kind in CLOSED_BY_BLANK_LINE and blank):
            return end + blank
        return start

    def _cut(self, chars: int) -> list[Closed]:
        """Take this many characters off the tail, as HTML."""
        if not chars:
            return []
        text, self.tail = self.tail[:chars], self.tail[chars:]
        self._searched = max(0, self._searched - chars)
        self._parsed = max(0, self._parsed - chars)
        return [Closed(render_with(text, self._definitions), chars)]


@dataclass(frozen=True, slots=True)
class OuterBlock:
    """A block of the outermost level. `lines` is its first line and the one after its last.

    `fence` matches the line that ends it, when the block is a fence.
    """

    kind: str
    lines: tuple[int, int]
    fence: re.Pattern[str] | None


def _last_block(text: str) -> OuterBlock | None:
    tokens: list[Token] = []
    PARSER.block.parse(text.replace("\r\n", "\n").replace("\r", "\n"), PARSER, {}, tokens)
    for token in reversed(tokens):
        if token.level == 0 and token.nesting >= 0 and token.map:
            start, end = token.map
            return OuterBlock(token.type, (start, end), _fence_end(token))
    return None


def _fence_end(token: Token) -> re.Pattern[str] | None:
    if token.type != "fence":
        return None
    return re.compile(rf" {{0,3}}{re.escape(token.markup[0])}{{{len(token.markup)},}}[ \t]*[\r\n]")


def _is_blank(line: str) -> bool:
    return not line.strip(" \t\r\n")
