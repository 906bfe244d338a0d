"""What a row keeps of a provider's values: what a column has room and a database a form for."""

from math import isfinite
from typing import Any

FINISH_REASON, NAME = 40, 80
"""Characters of the columns."""


def kept_text(text: str, length: int | None = None) -> str:
    """Without NUL, with U+FFFD for a lone surrogate, and no more than `length` characters."""
    pairs = text.encode("utf-16-be", "surrogatepass")
    return pairs.decode("utf-16-be", "replace").replace("\0", "")[:length]


def kept_values(value: Any) -> Any:
    """The same for all texts of a JSON value; None for a number that JSON has no form for."""
    match value:
        case str():
            return kept_text(value)
        case dict():
            return {kept_text(name): kept_values(one) for name, one in value.items()}
        case list():
            return [kept_values(one) for one in value]
        case float() if not isfinite(value):
            return None
    return value
