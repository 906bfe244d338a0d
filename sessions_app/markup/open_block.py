"""The open block of a text that is still coming in, as HTML for the time being.

It is shown in pieces, so that a block that grows is not rendered again from its beginning: a piece ends
before an item of a list, after a row of a table, at a line, or at a word where all marks are closed; a
footnote is one piece. Blocks that close are rendered as a whole, and nothing here changes that.

What is rendered here has at most `RATE` times the characters of the text, and `ALLOWANCE` more. So to format
a long text while it comes in takes at most twice what it takes to format it once.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from markdown_it.utils import EnvType

from sessions_app.markup.footnotes import copied
from sessions_app.markup.prose import is_more, paragraph_of
from sessions_app.markup.rendering import code_block, folded_report, is_report, render_with

ALLOWANCE = 1_500
"""Characters that may be rendered ahead of the text, so that short blocks are shown as they grow."""

RESERVE = 1_000
"""What is kept of it for pieces that are complete."""

RATE = 0.95
"""Characters that may be rendered for each character of the text."""

STEP = 8
"""Characters by which the open text has grown before it is rendered again."""

PIECE = 80
"""Characters from which a piece may end."""

LONG, LONG_PIECE, LONG_LINE = 1_500, 250, 1_200
"""Characters from which a block is long, and from which its pieces end, at a line or within one.

A rendering takes time however short its text is.
"""

LINE_COST = 2.0
"""What a character of a long line counts: the whole line is parsed faster than its pieces.

So the end of a line of many thousand characters stays plain text until the line ends.
"""

LONGEST = 600
"""How many characters behind that a piece ends at any word, also between marks."""

HEADS = 8
"""How many times longer than its head the rows of a table are that are rendered with it."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^\r\n]*)(?:\r\n|\r|\n)")
_UNSHOWN = re.compile(r"(?: {4}|\t| {0,3}(?:\$\$|`{3}|~{3}|\[(?!\^[\w-]{1,40}\])))")
_NOTE = re.compile(r"\s*\[\^[\w-]{1,40}\]:")
_ITEM = re.compile(r"^ {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]", re.MULTILINE)
_TABLE = re.compile(r"[^\r\n]*\|[^\r\n]*(?:\r\n|\r|\n)[ \t]*\|?[ \t]*:?-+[-:| \t]*(?:\r\n|\r|\n)")
_ROW = re.compile(r" {0,3}\|")
_MARKS = re.compile(r"[ \t]*(?:[-=*+_#>|~`]+|\d{1,9}[.)]?)[ \t]*\Z")
_LINE_END = re.compile(r"\r\n|\r|\n")
_SPACE = re.compile(r"[ \t]+")
_LINK = re.compile(r"!?\[([^\[\]\r\n]*)\]\([^()\s]*\Z")


@dataclass(frozen=True, slots=True)
class Preview:
    """`html` replaces the newest piece, and the open block is shown up to `chars` of its characters.

    What follows them is plain text. After a piece that `is_settled` the next one is added to it.
    """

    html: str
    chars: int
    is_settled: bool


class OpenBlock:
    """Shows one open block after the other. `env` is that of the blocks before it; it is only read."""

    def __init__(self, env: EnvType) -> None:
        self._env = env
        self._credit: float = ALLOWANCE
        self._head = ""
        self._start = 0
        self._shown = 0
        self._prose = 0
        self._is_code = False

    def add(self, chars: int) -> None:
        """So many characters came in."""
        self._credit += chars * RATE

    def restart(self) -> None:
        """Another block is open."""
        self._head, self._start, self._shown, self._prose, self._is_code = "", 0, 0, 0, False
        self._credit = min(self._credit, ALLOWANCE)

    def show(self, tail: str) -> Iterator[Preview]:
        """What to show of the open text: pieces that became complete, and the newest one."""
        if self._is_code or len(tail) - self._shown < STEP or tail.isspace() or self._goes_on(tail):
            return
        if self._start == 0 and (fence := _FENCE.match(tail)):
            self._is_code = True
            yield Preview(_frame(fence[2]), fence.end(), is_settled=True)
            return
        if _UNSHOWN.match(tail):
            return
        if self._start == 0 and (table := _TABLE.match(tail)):
            self._head, self._start = table[0], table.end()
        if self._credit < (LONG_PIECE if self._start >= LONG else PIECE):
            return
        yield from self._settle(tail[self._start :])
        rest = tail[self._start :]
        if self._cost(rest) + RESERVE > self._credit:
            return
        newest = self._shown_part(rest)
        if self._start + len(newest) > self._shown and self._takes(newest, reserve=RESERVE):
            preview = self._render(newest, is_settled=False)
            self._prose = self._shown if not self._head and paragraph_of(newest) is not None else 0
            yield preview

    def _goes_on(self, tail: str) -> bool:
        """Whether words alone were added to plain prose: behind its piece, plain text looks like its HTML."""
        self._prose = len(tail) if self._prose and is_more(tail, self._prose) else 0
        return self._prose > 0

    def _settle(self, rest: str) -> Iterator[Preview]:
        """As many complete pieces at once as can be rendered now."""
        ends = self._ends(rest)
        for end in reversed(ends):
            if self._takes(rest[:end]):
                yield self._render(rest[:end], is_settled=True)
                return

    def _takes(self, piece: str, reserve: int = 0) -> bool:
        """Whether the piece can be rendered now; `reserve` is kept."""
        return bool((self._head + piece).strip()) and self._cost(piece) + reserve <= self._credit

    def _cost(self, piece: str) -> float:
        is_line = self._start >= LONG and not self._head and "\n" not in piece and "\r" not in piece
        return len(piece) * LINE_COST if is_line else len(self._head) + len(piece)

    def _render(self, piece: str, *, is_settled: bool) -> Preview:
        text = self._head + piece
        self._credit -= self._cost(piece)
        self._shown = self._start + len(piece)
        if is_settled:
            self._start = self._shown
        return Preview(render_with(_completed(text), copied(self._env)), self._shown, is_settled)

    def _ends(self, rest: str) -> list[int]:
        """Where pieces can end."""
        is_long = self._start >= LONG
        least = max(LONG_PIECE if is_long else PIECE, HEADS * len(self._head))
        if len(rest) < least or _NOTE.match(rest):
            return []
        if not self._head and _ITEM.match(rest.lstrip("\r\n")):
            return [item.start() for item in _ITEM.finditer(rest, least)]
        if "\n" in rest or "\r" in rest or self._head:
            lines = [line.end() for line in _LINE_END.finditer(rest, least)]
            if lines or self._head:
                return lines
        if is_long and self._credit < LONG_LINE * LINE_COST:
            return []
        return _ends_at_words(rest, LONG_LINE if is_long else PIECE)

    def _shown_part(self, rest: str) -> str:
        """Without what can still become another kind of block."""
        if self._head:
            return rest[: _end_of_lines(rest)]
        if _ROW.match(rest) and _end_of_lines(rest) == rest.find("\n") + 1:
            return ""
        line = _end_of_lines(rest)
        shown = rest[:line] if _MARKS.match(rest, line) else rest
        # Without the space at the end, which would be lost before the words that come next.
        prose = paragraph_of(shown)
        return shown.rstrip(" \t\r\n") if prose is None else prose


def _frame(info: str) -> str:
    language = next(iter(info.split()), "")
    return folded_report("") if is_report(language) else code_block("", language)


def _end_of_lines(text: str) -> int:
    return max(text.rfind("\n"), text.rfind("\r")) + 1


def _ends_at_words(rest: str, least: int) -> list[int]:
    """The first and the last word behind which all marks are closed, or those far behind."""
    words = [word.end() for word in _SPACE.finditer(rest, least, least + LONGEST)]
    first = next((end for end in words if _is_balanced(rest[:end])), None)
    if first is None:
        return [word.end() for word in _SPACE.finditer(rest, least + LONGEST)]
    return [first, next(end for end in reversed(words) if _is_balanced(rest[:end]))]


def _is_balanced(text: str) -> bool:
    return not any(text.count(mark) % 2 for mark in "*_`~$") and text.count("[") == text.count("]")


def _completed(text: str) -> str:
    """The text with its last marks closed, so that they are not seen until their ends come."""
    body, line = text[: _end_of_lines(text)], text[_end_of_lines(text) :]
    line = _LINK.sub(r"\1", line) if "[" in line else line
    if line.count("`") % 2:
        return f"{body}{line}`"
    for mark in ("**", "~~"):
        if line.count(mark) % 2:
            line = line[: -len(mark)] if line.endswith(mark) else f"{line.rstrip()}{mark}"
    return body + line
