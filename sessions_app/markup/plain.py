"""The beginning of a Markdown text on one line, for lists: what it says, without its marks."""

import re

_FENCE = re.compile(r"^\s*(`{3,}|~{3,}).*$", re.MULTILINE)
_LINE_MARK = re.compile(
    r"^\s*(?:#{1,6}\s+|>\s?|[-*+]\s+(?:\[[ xX]\]\s+)?|\d{1,9}[.)]\s+|[-*_=|: ]{3,}$)", re.MULTILINE
)
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)?")
_EMPHASIS = re.compile(
    r"(\*{1,3}|~~|`+)(?=\S)|(?<=\S)(\*{1,3}|~~|`+)|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)"
)


def plain(text: str) -> str:
    """Never longer than the text; plain text stays as it is but for runs of white space."""
    for pattern, kept in ((_FENCE, " "), (_LINE_MARK, ""), (_LINK, r"\1"), (_EMPHASIS, "")):
        text = pattern.sub(kept, text)
    return " ".join(text.replace(" | ", " ").split())
