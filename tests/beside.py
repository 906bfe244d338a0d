"""Work in a thread with a connection of its own, as another process does it at the same moment."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from time import monotonic, sleep
from typing import Any, TypeVar

import pytest
from django.db import connection, connections

Result = TypeVar("Result")

PATIENCE = 60.0

WAIT = 0.5
"""Seconds in which the other thread comes to a lock; PostgreSQL tells when it has."""

has_row_locks = pytest.mark.skipif(
    connection.vendor == "sqlite", reason="transactions of SQLite begin with the lock on the database"
)


@contextmanager
def beside() -> Iterator[Callable[[Callable[[], Any]], "Future[Any]"]]:
    """What begins work beside the test, and returns when it waits for a lock of the test's transaction."""
    with ThreadPoolExecutor(1) as pool:

        def begin(work: Callable[[], Result]) -> "Future[Result]":
            has_begun = threading.Event()

            def run() -> Result:
                has_begun.set()
                return work()

            begun = pool.submit(run)
            assert has_begun.wait(PATIENCE)
            _until_it_waits(begun)
            return begun

        try:
            yield begin
        finally:
            pool.submit(connections.close_all).result(PATIENCE)


def _until_it_waits(begun: "Future[Any]") -> None:
    until = monotonic() + (WAIT if connection.vendor == "sqlite" else 10 * WAIT)
    while monotonic() < until and not begun.done() and not _is_waiting():
        sleep(0.02)


def _is_waiting() -> bool:
    """Whether anybody waits for a lock of this transaction; SQLite does not say."""
    if connection.vendor == "sqlite":
        return False
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM pg_stat_activity WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid)) LIMIT 1"
        )
        return cursor.fetchone() is not None
