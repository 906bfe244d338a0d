"""How the database is emptied after a test that commits."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection

from sessions_app import append_only


@contextmanager
def flushes() -> Iterator[None]:
    """Flushes take the rows of the audit log too, and on PostgreSQL they are of the size of the test.

    TRUNCATE gives every table and index a new file: 0.15 s for these tables, however few rows they have.
    """
    patched = deleting if connection.vendor == "postgresql" else without_triggers
    with pytest.MonkeyPatch.context() as patch:
        patched(patch, type(connection.ops))
        yield


def deleting(patch: pytest.MonkeyPatch, operations: Any) -> None:
    """Deletes, while neither foreign keys nor triggers are asked."""

    def sql_flush(self: Any, _style: Any, tables: Any, **_: Any) -> list[str]:
        deletes = "; ".join(f"DELETE FROM {self.quote_name(table)}" for table in tables)
        return [f"SET LOCAL session_replication_role = replica; {deletes}"]

    patch.setattr(operations, "sql_flush", sql_flush)


def without_triggers(patch: pytest.MonkeyPatch, operations: Any) -> None:
    flush = operations.execute_sql_flush

    def execute_sql_flush(self: Any, statements: Any) -> None:
        append_only.remove(self.connection)
        flush(self, statements)
        append_only.prepare(self.connection)

    patch.setattr(operations, "execute_sql_flush", execute_sql_flush)
