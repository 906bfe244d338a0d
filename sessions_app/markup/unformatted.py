"""The rest of a text that is too long to be formatted: escaped text behind a remark, up to a limit."""

from html import escape

from sessions_app.markup.weights import TEXT_LIMIT
from sessions_app.wording.texts import REMARKS

PIECE = 10_000
"""Characters of one element; a text that is still coming in is shown in such pieces."""

PIECES = 100
"""Pieces that are shown; the browser would be slow with more."""

READ_LIMIT = TEXT_LIMIT + PIECE * (PIECES + 1)
"""Characters of a text that can make a difference to what is shown of it."""


def piece_html(number: int, text: str) -> str:
    """The HTML of a piece of the rest, the first being number 0."""
    if number > PIECES:
        return ""
    if number == PIECES:
        return _remark("too_long_to_show")
    shown = escape(text.replace("\0", "\N{REPLACEMENT CHARACTER}"))
    html = f'<span class="unformatted">{shown}</span>'
    return html if number else _remark("too_long_to_format") + html


def _remark(code: str) -> str:
    return f'<p class="muted small">{escape(REMARKS[code])}</p>\n'
