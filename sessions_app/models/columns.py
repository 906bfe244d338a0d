"""Values for columns."""

from math import isfinite
from typing import Any

from sessions_app.prompt.wire import well_formed


def storable(text: str, length: int | None = None) -> str:
    """Text without NUL and lone surrogates, cut to `length` characters.

    PostgreSQL refuses NUL in text and in JSON alike; a lone surrogate has no form in UTF-8.
    """
    return well_formed(text.replace("\0", ""))[:length]


def storable_json(value: Any) -> Any:
    """JSON of storable texts, without numbers that JSON has no form for, which databases refuse."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable(key): storable_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [storable_json(item) for item in value]
    return None if isinstance(value, float) and not isfinite(value) else value
