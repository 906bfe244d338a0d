"""What a server says when it refuses: its own words, without the secrets that it was given, and bounded."""

import re
from collections.abc import Iterator, Mapping

from sessions_app.prompt.wire import well_formed

MASK = "[secret]"
CERTAIN_SECRET = 8
"""Characters from which a value is masked inside a word too, since no word contains it by chance."""

WORDS_LIMIT = 500
"""Characters of a refusal that are kept."""


def refusal_words(text: str, secrets: Mapping[str, str]) -> str:
    """What is shown, stored and told to the model of a refusal; empty where it has no words."""
    said = masked(well_formed(text.replace("\0", "")).strip(), secrets)
    return said if len(said) <= WORDS_LIMIT else f"{said[: WORDS_LIMIT - 1]}…"


def masked(text: str, secrets: Mapping[str, str]) -> str:
    """The text of a server without the values of its secrets; a short value is replaced as a whole word."""
    for value in sorted(_spellings(secrets), key=len, reverse=True):
        pattern = re.escape(value)
        text = re.sub(pattern if len(value) >= CERTAIN_SECRET else rf"(?<!\w){pattern}(?!\w)", MASK, text)
    return text


def _spellings(secrets: Mapping[str, str]) -> Iterator[str]:
    """Each value, and of a header such as `Bearer …` what follows the scheme."""
    for value in secrets.values():
        scheme, _, credentials = value.strip().partition(" ")
        yield from filter(None, {value, value.strip(), credentials.strip() if scheme.isalpha() else ""})
