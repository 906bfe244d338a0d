"""What an error of the database or of a file says about the storage: full, refused for now, or neither."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import DatabaseError, InterfaceError, OperationalError

from sessions_app.errors import StorageFull
from sessions_app.workspace import FULL_DISK

SQLITE_FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE)
SQLITE_TEMPORARY = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PROTOCOL,
)
"""Primary result codes that say nothing about the rows."""

POSTGRES_FULL = "53100"


def is_full(error: BaseException) -> bool:
    """Whether a disk, or a quota, has no room."""
    if isinstance(error, OSError):
        return error.errno in FULL_DISK
    if not isinstance(error, DatabaseError):
        return False
    return _sqlite_code(error) in SQLITE_FULL or getattr(error.__cause__, "sqlstate", None) == POSTGRES_FULL


def is_temporary(error: BaseException) -> bool:
    """Whether the same statement may succeed later: the database is away, locked or full.

    All other errors come from the rows or from our code, and come again.
    """
    if isinstance(error, InterfaceError):
        return True
    if not isinstance(error, OperationalError):
        return False
    if isinstance(error.__cause__, sqlite3.Error):
        # SQLite reports a text that is not UTF-8 as an OperationalError without a code.
        return _sqlite_code(error) & 0xFF in SQLITE_TEMPORARY
    return True


@contextmanager
def full_storage_raised() -> Iterator[None]:
    """Raises StorageFull in place of an error of the database or of a file that says so."""
    try:
        yield
    except (DatabaseError, OSError) as error:
        if is_full(error):
            raise StorageFull from error
        raise


def _sqlite_code(error: DatabaseError) -> int:
    """The extended result code; 0 for other databases."""
    return getattr(error.__cause__, "sqlite_errorcode", 0)
