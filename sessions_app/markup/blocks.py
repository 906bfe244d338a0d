"""Incremental rendering of Markdown: each block is rendered once nothing that follows can change it.

The HTML of all blocks, joined, equals that of `render`, except that a link whose definition comes later
(`[name]: address`) stays text.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markdown_it.utils import EnvType

from sessions_app.markup.citations import Mark, with_marks
from sessions_app.markup.open_block import OpenBlock, Preview
from sessions_app.markup.rendering import render_with
from sessions_app.markup.sanitising import well_formed
from sessions_app.markup.scanning import Scanner
from sessions_app.markup.unformatted import PIECE, READ_LIMIT, piece_html
from sessions_app.markup.weights import is_light


@dataclass(frozen=True, slots=True)
class Closed:
    """`html` replaces the first `chars` characters of the open text.

    Characters are code points; a browser's `text.length` counts UTF-16 units instead.
    """

    html: str
    chars: int


class Blocks:
    """Takes Markdown in pieces. `tail` is the text of the open block."""

    def __init__(self, scope: str = "") -> None:
        """`scope` begins the ids in the HTML, so that they are unique on a page."""
        self._env: EnvType = {"scope": scope}
        self._open = OpenBlock(self._env)
        self._scanner = Scanner()
        self._pieces = 0

    @property
    def tail(self) -> str:
        return self._scanner.tail

    def feed(self, delta: str) -> list[Closed]:
        """Adds text; returns the blocks that it closed, in order."""
        self._open.add(len(delta))
        formatted = self._scanner.feed(well_formed(delta))
        if not formatted and not self._scanner.is_too_long:
            return []
        closed = [*self._formatted(formatted), *self._unformatted(PIECE)]
        if closed:
            self._open.restart()
        return closed

    def preview(self) -> list[Preview]:
        """What to show of the open block by now, if there is anything new."""
        return [] if self._scanner.is_too_long else list(self._open.show(self.tail))

    def close(self) -> list[Closed]:
        """Closes the open block at the end of the text. Trailing blank lines stay in `tail`."""
        return [*self._formatted(self._scanner.close()), *self._unformatted(1)]

    def _formatted(self, text: str) -> list[Closed]:
        return [Closed(render_with(text, self._env), len(text))] if text else []

    def _unformatted(self, least: int) -> Iterator[Closed]:
        """Pieces of what is too long, while there are at least so many characters."""
        if not self._scanner.is_too_long or len(self.tail) < least:
            return
        rest = self._scanner.take(
            len(self.tail) - len(self.tail) % PIECE if least == PIECE else len(self.tail)
        )
        for start in range(0, len(rest), PIECE):
            piece = rest[start : start + PIECE]
            yield Closed(piece_html(self._pieces, piece), len(piece))
            self._pieces += 1


def render(markdown: str, scope: str = "", marks: Sequence[Mark] = ()) -> str:
    """Safe HTML of any Markdown text: only tags, attributes and addresses of the allow-list.

    `scope` begins the ids in it. `marks` are the places that rest on sources, in their order.
    """
    text, env = well_formed(markdown[:READ_LIMIT]), {"scope": scope}
    if marks:
        text = with_marks(text, marks, env)
    if is_light(text):
        return render_with(text, env)
    scanner = Scanner()
    formatted = scanner.feed(text) + scanner.close()
    html = [render_with(formatted, env)]
    if scanner.is_too_long:
        starts = range(0, len(scanner.tail), PIECE)
        html += [piece_html(n, scanner.tail[start : start + PIECE]) for n, start in enumerate(starts)]
    return "".join(html)
