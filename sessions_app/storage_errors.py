"""What an error of the database or of a file says about the storage: full, read-only, refused for now, or
none of these.
"""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import DatabaseError, InterfaceError, OperationalError

from sessions_app.errors import StorageFull, StorageReadOnly, StorageRefuses
from sessions_app.workspace import FULL_DISK

SQLITE_FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE)
SQLITE_READ_ONLY = (sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_FSYNC)
"""What is said beside SQLITE_READONLY where a file system became read-only under an open database."""

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
POSTGRES_READ_ONLY = "25006"
"""The code of a standby after a failover, and of `default_transaction_read_only`, which hosts of databases
set when a disk is nearly full. psycopg raises it as an InternalError.
"""


def is_full(error: BaseException) -> bool:
    """Whether a disk, or a quota, has no room."""
    if isinstance(error, OSError):
        return error.errno in FULL_DISK
    if not isinstance(error, DatabaseError):
        return False
    return _sqlite_code(error) in SQLITE_FULL or _sqlstate(error) == POSTGRES_FULL


def is_read_only(error: BaseException) -> bool:
    """Whether a database, or a file system, can be read but takes no changes."""
    if isinstance(error, OSError):
        return error.errno == errno.EROFS
    if not isinstance(error, DatabaseError):
        return False
    code = _sqlite_code(error)
    is_refused = code & 0xFF == sqlite3.SQLITE_READONLY or code in SQLITE_READ_ONLY
    return is_refused or _sqlstate(error) == POSTGRES_READ_ONLY


def refusal_of(error: BaseException) -> StorageRefuses | None:
    """What a person is told of an error that only says how the storage is; None for all others."""
    if isinstance(error, StorageRefuses):
        return error
    if is_full(error):
        return StorageFull()
    return StorageReadOnly() if is_read_only(error) else None


def is_temporary(error: BaseException) -> bool:
    """Whether the same statement may succeed later: the database is away, locked, full or read-only.

    All other errors come from the rows or from our code, and come again.
    """
    if isinstance(error, InterfaceError) or (isinstance(error, DatabaseError) and is_read_only(error)):
        return True
    if not isinstance(error, OperationalError):
        return False
    if isinstance(error.__cause__, sqlite3.Error):
        # SQLite reports a text that is not UTF-8 as an OperationalError without a code.
        return _sqlite_code(error) & 0xFF in SQLITE_TEMPORARY
    return True


@contextmanager
def storage_refusals_raised() -> Iterator[None]:
    """Raises StorageRefuses in place of an error of the database or of a file that says so."""
    try:
        yield
    except (DatabaseError, OSError) as error:
        if refused := refusal_of(error):
            raise refused from error
        raise


def _sqlite_code(error: DatabaseError) -> int:
    """The extended result code; 0 for other databases."""
    return getattr(error.__cause__, "sqlite_errorcode", 0)


def _sqlstate(error: DatabaseError) -> str | None:
    """PostgreSQL's code; None for other databases."""
    return getattr(error.__cause__, "sqlstate", None)
