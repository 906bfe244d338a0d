"""How much of a text is formatted: what parsing takes, estimated before it is parsed.

The weight of a text is about twice the microseconds that it takes to parse and render it. It counts
characters, line ends and marks, so that the weights of two pieces add up to that of the whole.
"""

import re

BLOCK_LIMIT = 100_000
"""Weight of one block. Twenty thousand characters of a usual list or table weigh less."""

TEXT_LIMIT = 300_000
"""Weight of a whole text, and of one block of code."""

SHORT = 200
"""Characters up to which the marks are found in one pass; counting each is faster in a longer text."""

LINE_WEIGHT = 50
CODE_LINE_WEIGHT = 10
MARK_WEIGHT = 20

MARKS = r"-+*_`~[]<>&$\|^{}#.)"
_MARK = re.compile(f"[{re.escape(MARKS)}]")


def weight(text: str) -> int:
    marks = len(_MARK.findall(text)) if len(text) <= SHORT else sum(map(text.count, MARKS))
    return len(text) + LINE_WEIGHT * _line_ends(text) + MARK_WEIGHT * marks


def code_weight(text: str) -> int:
    """The weight of lines inside a block of code, where marks are characters."""
    return len(text) + CODE_LINE_WEIGHT * _line_ends(text)


def is_light(text: str) -> bool:
    """Whether no part of the text can be too much."""
    return len(text) <= BLOCK_LIMIT and weight(text) <= BLOCK_LIMIT


def _line_ends(text: str) -> int:
    return text.count("\n") + text.count("\r")
