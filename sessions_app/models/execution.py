"""Runs statements that are compiled already, for a fifth of what Django's cursor adds to each."""

import sqlite3
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

from django.db.backends.sqlite3.base import FORMAT_QMARK_REGEX

ROWS_AT_ONCE = 32
"""Rows of one statement that appends; each number of rows has a compiled statement of its own."""


def execute(connection: Any, sql: str, params: Sequence[Any]) -> Any:
    """The cursor after the statement, whose placeholders are `%s`. Raises Django's database errors.

    Where anybody looks at the statements of the connection (wrappers, the log of queries) they see it.
    """
    if connection.execute_wrappers or connection.queries_logged:
        cursor = connection.cursor()
        cursor.execute(sql, params)
        return cursor
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    connection.validate_no_broken_transaction()
    with connection.wrap_database_errors:
        cursor = connection.create_cursor()
        if connection.vendor == "sqlite":
            # Not Django's `execute`, which looks for the placeholders each time.
            return sqlite3.Cursor.execute(cursor, _for_sqlite(sql), params)
        return cursor.execute(sql, params)


def append(connection: Any, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Inserts rows of values as the database takes them; existing ones are kept.

    Several in a statement: SQLite's driver lets other threads run before and after each, which takes longer
    than to insert a row.
    """
    for start in range(0, len(rows), ROWS_AT_ONCE):
        some = rows[start : start + ROWS_AT_ONCE]
        execute(connection, _appending(table, tuple(columns), len(some)), [*chain.from_iterable(some)])


@lru_cache(maxsize=1024)
def _appending(table: str, columns: tuple[str, ...], count: int) -> str:
    row = f"({', '.join(['%s'] * len(columns))})"
    rows = ", ".join([row] * count)
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES {rows} ON CONFLICT DO NOTHING"  # noqa: S608


@lru_cache(maxsize=1024)
def _for_sqlite(sql: str) -> str:
    """As `SQLiteCursorWrapper.convert_query`."""
    return FORMAT_QMARK_REGEX.sub("?", sql).replace("%%", "%")
