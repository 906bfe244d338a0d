"""Lists, quotations and tables of a text that has words from right to left.

A paragraph takes its direction by the style sheet. Where markers, columns and the line beside a quotation
stand follows from the element's own, which `dir="auto"` takes from the first letter in it.
"""

import re

from markdown_it.rules_core import StateCore

_FROM_THE_RIGHT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
"""The blocks of Unicode whose letters are written from right to left (DerivedBidiClass, R and AL)."""

_SIDED = {"blockquote_open", "bullet_list_open", "ordered_list_open", "table_open"}


def take_directions(state: StateCore) -> None:
    """Other texts stay as they are: their HTML is no longer for it."""
    if state.src.isascii() or not _FROM_THE_RIGHT.search(state.src):
        return
    for token in state.tokens:
        if token.type in _SIDED:
            token.attrSet("dir", "auto")
