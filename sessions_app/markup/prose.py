"""Plain prose: a paragraph in which nothing is a mark, of which most answers are made.

Its HTML is the paragraph itself: it need not be parsed, however often it is shown while it comes in.
"""

import re

_HARMLESS = r"[\w .,;:?!'\"()@/%=+\-“”‘’–—…]*"
_LINE = rf"(?!\d{{1,9}}[.)])[\w@\"'(“‘]{_HARMLESS}(?<! )"
_WORDS = re.compile(_HARMLESS)
_PARAGRAPH = re.compile(rf"({_LINE}(?:\n{_LINE})*) ?(\n*)")
"""Lines that begin like no other block and end without a space, with letters and harmless marks between."""


def paragraph_of(markdown: str) -> str | None:
    """The text of the one plain paragraph that there is; None where there may be anything else."""
    if "_" in markdown or "://" in markdown:
        return None
    found = _PARAGRAPH.fullmatch(markdown)
    return None if found is None else found[1]


def is_closed_paragraph(markdown: str) -> bool:
    """Whether there is one plain paragraph, with the blank line that ends it."""
    return markdown.endswith("\n\n") and paragraph_of(markdown) is not None


def is_more(markdown: str, start: int) -> bool:
    """Whether what follows `start` only adds words to the last line of a plain paragraph."""
    if markdown.find("_", start) >= 0 or markdown.find("://", max(0, start - 2)) >= 0:
        return False
    return _WORDS.fullmatch(markdown, start) is not None
