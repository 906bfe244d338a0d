"""Titles of sessions as their first message gives them."""

from sessions_app.markup import plain

TITLE_WORDS = 8
TITLE_LENGTH = 120
"""Characters."""


def starting_words(message: str) -> str:
    """A title: the first words of a message, without the NUL characters that a column cannot keep."""
    words = plain(message.replace("\0", "")).split()
    more = "…" if len(words) > TITLE_WORDS else ""
    return (" ".join(words[:TITLE_WORDS])[: TITLE_LENGTH - 1]) + more
