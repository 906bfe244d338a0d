"""Sentences filled with figures as rows keep them, and sentences that an earlier version stored."""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from sessions_app.prompt.pricing import dollars

EARLIER_VERSION = {"said": "An earlier version said: {text}"}


def earlier_version(text: str) -> str:
    """A sentence that an earlier version stored, marked as such; empty for none."""
    return EARLIER_VERSION["said"].format(text=text) if text else ""


def fill(sentence: str, figures: Mapping[str, Any], *, otherwise: str = "") -> str:
    """The sentence with its figures.

    Figures named `usd…` are dollars, lists are joined by commas. `otherwise` stands where the sentence
    names a figure that a row written by another version does not have.
    """
    try:
        return sentence.format_map({name: _shown(name, value) for name, value in figures.items()})
    except (LookupError, ValueError, TypeError, AttributeError):
        return otherwise or sentence


def counted(count: int, noun: str) -> str:
    """`1 session`, `2,000 sessions`: for nouns with a plural in s."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def quoted(values: list[str] | tuple[str, ...]) -> str:
    """Names in quotation marks: `“a”, “b”`."""
    return ", ".join(f"“{value}”" for value in values)


def _shown(name: str, value: Any) -> Any:
    if name.startswith("usd"):
        return _usd(value)
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return value


def _usd(value: Any) -> str:
    try:
        return dollars(None if value is None else Decimal(str(value)))
    except InvalidOperation:
        return str(value)
