"""Columns that show something stored as words; a file of their list has what is stored."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any, TypeVar

from django.contrib import admin

Column = TypeVar("Column", bound=Callable[..., str])


def words_of(
    code: str | Callable[[Any], str], *, description: str, ordering: str | None = None
) -> Callable[[Column], Column]:
    """A method that says in words what a row has stored: `code` is its column, or what computes it.

    Sorted by that column where nothing else is named.
    """

    def made(method: Column) -> Column:
        order = ordering or (code if isinstance(code, str) else None)
        shown = admin.display(method, ordering=order, description=description)
        shown.stored_code = code  # type: ignore[attr-defined]
        return shown

    return made


def sum_of(
    usd: Callable[[Any], Decimal | None], *, description: str, ordering: str | None = None
) -> Callable[[Column], Column]:
    """A method that shows a sum, rounded and with its mark; a file has the sum itself beside it."""

    def made(method: Column) -> Column:
        shown = admin.display(method, ordering=ordering, description=description)
        shown.summed_usd = usd  # type: ignore[attr-defined]
        return shown

    return made


def stored_code(method: Any, row: Any) -> Any:
    """What the row has stored for such a column; None for other columns."""
    code = getattr(method, "stored_code", None)
    return getattr(row, code) if isinstance(code, str) else code(row) if code else None


def in_words(code: str) -> str:
    """What is shown of a code that this version does not know."""
    return code.replace("_", " ")
