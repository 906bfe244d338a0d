"""Finds where blocks of Markdown end while the text comes in, and where it becomes too much to be formatted.

A heading, a rule or a finished fence closes at once; a paragraph, a table or a quotation at the next blank
line; a list or indented code, which may continue after a blank line, when another block begins. Only complete
lines are parsed, since `---` may still turn a paragraph into a heading.

The work is proportional to the text: an open fence is only searched for its end, and a long open block is
parsed again when it has grown by an eighth. The parser never gets more than the limits of `weights`.

A text is too long from the beginning of the block that is open before the line with which that block, or all
text so far, exceeds its limit. That depends on the text alone, not on the pieces in which it came.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from markdown_it.token import Token

from sessions_app.markup.prose import is_closed_paragraph, paragraph_of
from sessions_app.markup.rendering import PARSER
from sessions_app.markup.weights import BLOCK_LIMIT, TEXT_LIMIT, code_weight, weight

LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)")
PART = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")

CLOSED_AT_ONCE = {"heading_open", "hr", "fence", "math_block"}
CLOSED_BY_BLANK_LINE = {"paragraph_open", "table_open", "blockquote_open", "math_block_open_end"}

REPARSE_LIMIT = 2_000
"""Weight up to which an open block is parsed again at every piece that completes a line."""

UNWEIGHED = 400
"""Characters of an open line that may come in before they are weighed."""

GROWTH = 8
"""A heavier open block is parsed again when it has grown by 1/GROWTH."""


@dataclass(frozen=True, slots=True)
class OuterBlock:
    """A top-level block with its line range; `fence` matches the end of a fence."""

    kind: str
    lines: tuple[int, int]
    fence: re.Pattern[str] | None


class Scanner:
    """Takes Markdown in pieces. `tail` is the text of the open block, or all that is too long."""

    def __init__(self) -> None:
        self.tail = ""
        self.is_too_long = False
        self._line = 0
        self._end = 0
        self._weight = 0
        self._parsed = 0
        self._closed = 0
        self._fence_end: re.Pattern[str] | None = None

    def feed(self, text: str) -> str:
        """Adds well-formed text; returns the text of the blocks that it closed."""
        if self._extends_line(text):
            return ""
        return self._scan(text)

    def close(self) -> str:
        """Closes the open block at the end of the text. Blank lines and what is too long stay in `tail`."""
        closed = self._scan("")
        is_kept = self.is_too_long or _is_blank(self.tail)
        return closed if is_kept else closed + self.take(len(self.tail))

    def take(self, chars: int) -> str:
        """Removes the beginning of the tail."""
        taken, self.tail = self.tail[:chars], self.tail[chars:]
        self._line, self._end = max(0, self._line - chars), max(0, self._end - chars)
        return taken

    def _extends_line(self, text: str) -> bool:
        """Adds text that ends no line, as most pieces do, to be weighed later; else returns False."""
        if self.is_too_long or "\n" in text or "\r" in text or self.tail.endswith("\r"):
            return False
        if len(self.tail) + len(text) - self._end > UNWEIGHED:
            return False
        self.tail += text
        return True

    def _scan(self, text: str) -> str:
        """Adds text and weighs what has not been weighed; returns the text of the blocks that closed."""
        closed: list[str] = []
        has_line = self.tail.endswith("\r") and bool(text) and not text.startswith("\n")
        self.tail += text
        if has_line:
            self._end_line(closed)
        while not self.is_too_long and (part := PART.match(self.tail, self._end)):
            has_line = self._add(part, closed) or has_line
        if has_line and not self.is_too_long and self._is_due():
            closed.append(self._close_blocks())
        return "".join(closed)

    def _add(self, part: re.Match[str], closed: list[str]) -> bool:
        """Weighs a line or a piece of one; returns whether it completes a line."""
        self._weight += self._weigh(part[0])
        self._end = part.end()
        if self._is_too_heavy():
            closed.append(self._close_blocks() + self._close_blank_lines())
            self.is_too_long = self._is_too_heavy()
        if self.is_too_long or not self._ends_line():
            return False
        self._end_line(closed)
        return True

    def _end_line(self, closed: list[str]) -> None:
        start, self._line = self._line, self._end
        if self._fence_end is not None and self._fence_end.match(self.tail, start):
            closed.append(self._close_blocks())

    def _ends_line(self) -> bool:
        """Whether a line ends here. A final CR may be the first half of a CR LF."""
        last = self.tail[self._end - 1]
        return last == "\n" or (last == "\r" and self._end < len(self.tail))

    def _weigh(self, text: str) -> int:
        return weight(text) if self._fence_end is None else code_weight(text)

    def _is_too_heavy(self) -> bool:
        """Whether the weight exceeds a limit. Exact after `_close_blocks`, otherwise never too low."""
        limit = BLOCK_LIMIT if self._fence_end is None else TEXT_LIMIT
        return self._weight > limit or self._closed + self._weight > TEXT_LIMIT

    def _is_due(self) -> bool:
        if self._fence_end is not None:
            return False
        return self._weight < REPARSE_LIMIT or (self._weight - self._parsed) * GROWTH >= self._weight

    def _close_blocks(self) -> str:
        """Removes the closed blocks among the complete lines, and weighs what is left."""
        if is_closed_paragraph(self.tail[: self._line]):
            return self._close_all_lines()
        lines = LINE.findall(self.tail[: self._line])
        blocks = outer_blocks("".join(lines))
        last = blocks[-1] if blocks else None
        count = _count_closed(lines, last)
        is_open = last is not None and count <= last.lines[0]
        self._fence_end = last.fence if last is not None and is_open else None
        inside = [block.lines for block in blocks if block.fence is not None]
        self._closed += _weight_of(lines[:count], inside[: len(inside) - (self._fence_end is not None)])
        self._weight = self._weigh("".join(lines[count:])) + self._weigh(self.tail[self._line : self._end])
        self._parsed = self._weight
        return self.take(sum(map(len, lines[:count])))

    def _close_all_lines(self) -> str:
        left = self._weigh(self.tail[self._line : self._end])
        self._closed += self._weight - left
        self._weight = self._parsed = left
        return self.take(self._line)

    def _close_blank_lines(self) -> str:
        """Removes complete blank lines before the open block; where a block closes they go with it."""
        lines = LINE.findall(self.tail[: self._line])
        blank = list(takewhile(_is_blank, lines))
        moved = weight("".join(blank))
        self._closed += moved
        self._weight -= moved
        self._parsed = self._weight
        return self.take(sum(map(len, blank)))


def outer_blocks(text: str) -> list[OuterBlock]:
    """The top-level blocks of complete lines."""
    if (prose := paragraph_of(text)) is not None:
        return [OuterBlock("paragraph_open", (0, prose.count("\n") + 1), None)]
    tokens: list[Token] = []
    PARSER.block.parse(text.replace("\r\n", "\n").replace("\r", "\n"), PARSER, {}, tokens)
    return [
        OuterBlock(token.type, (token.map[0], token.map[1]), _fence_end(token))
        for token in tokens
        if token.level == 0 and token.nesting >= 0 and token.map
    ]


def _count_closed(lines: Sequence[str], last: OuterBlock | None) -> int:
    """The number of lines in closed blocks."""
    if last is None:
        return 0
    start, end = last.lines
    blank = sum(1 for _ in takewhile(_is_blank, lines[end:]))
    if last.fence and not (end - start > 1 and last.fence.match(lines[end - 1])):
        return start
    if last.kind in CLOSED_AT_ONCE or (last.kind in CLOSED_BY_BLANK_LINE and blank):
        return end + blank
    return start


def _weight_of(lines: Sequence[str], fences: Sequence[tuple[int, int]]) -> int:
    """The weight of closed blocks; `fences` are the lines of fences, of which all but two are code."""
    total = weight("".join(lines))
    for start, end in fences:
        code = "".join(lines[start + 1 : end - 1])
        total -= weight(code) - code_weight(code)
    return total


def _fence_end(token: Token) -> re.Pattern[str] | None:
    if token.type != "fence":
        return None
    return re.compile(rf" {{0,3}}{re.escape(token.markup[0])}{{{len(token.markup)},}}[ \t]*[\r\n]")


def _is_blank(line: str) -> bool:
    return not line.strip(" \t\r\n")
