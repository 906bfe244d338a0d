"""Cells of CSV files that people open in spreadsheets."""

from collections.abc import Iterable


def escape_formulas(row: Iterable[object]) -> list[object]:
    """Names come from a provider; a spreadsheet must not evaluate them as formulas."""
    return [f"'{cell}" if isinstance(cell, str) and cell[:1] in "=+-@\t\r" else cell for cell in row]
