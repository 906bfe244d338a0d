"""Cells of CSV files that people open in spreadsheets."""

from collections.abc import Iterable
from decimal import Decimal

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""How texts begin that a spreadsheet evaluates."""


def escape_formulas(row: Iterable[object]) -> list[object]:
    """Names come from a provider; a spreadsheet must not evaluate them as formulas.

    Sums are written without an exponent, which a Decimal of zero has (`0E-8`).
    """
    return [_cell(value) for value in row]


def _cell(value: object) -> object:
    if isinstance(value, Decimal):
        return format(value, "f")
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value
