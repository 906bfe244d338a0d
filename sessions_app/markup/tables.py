"""Cells of tables with long words or many words: a style sheet cannot see what is in a cell.

A browser gives the columns of a table the room that their longest lines ask for, so that an address of 300
characters takes the room of all the words beside it.
"""

import re
from collections.abc import Sequence

from markdown_it.rules_core import StateCore
from markdown_it.token import Token

LONG_WORD = 32
"""Characters that a browser does not break, from which a cell is long."""

MANY_WORDS = 24
"""Characters of a cell from which it needs room for a line of words."""

_LONG_WORD = re.compile(rf"[^\s\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]{{{LONG_WORD},}}")
"""Chinese, Japanese and Korean are broken between any two characters."""


def measure_cells(state: StateCore) -> None:
    """Marks cells with long words, and one cell with many words in each column: it widens them all."""
    column, with_words = 0, set[int]()
    for cell, inline in zip(state.tokens, state.tokens[1:], strict=False):
        if cell.type == "table_open":
            with_words = set()
        elif cell.type == "tr_open":
            column = 0
        elif cell.type in ("th_open", "td_open"):
            text = _shown_text(inline.children or ())
            if _LONG_WORD.search(text):
                cell.attrJoin("class", "long")
            elif column not in with_words and len(text) >= MANY_WORDS:
                with_words.add(column)
                cell.attrJoin("class", "words")
            column += 1


def _shown_text(children: Sequence[Token]) -> str:
    return "".join(child.content for child in children if child.type in ("text", "code_inline"))
