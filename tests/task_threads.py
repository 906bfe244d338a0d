"""The threads in which tasks do their database work: one with SQLite, several with PostgreSQL."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from asgiref.sync import SyncToAsync
from django.db import connections

from sessions_app.database import SIDE_BY_SIDE

PATIENCE = 30.0


def in_each_task_thread(work: Callable[[], object]) -> None:
    """Runs it in each of them, after what was handed to them before."""
    single = SyncToAsync.single_thread_executor
    for threads in (single, SIDE_BY_SIDE) if SIDE_BY_SIDE else (single,):
        _in_each_of(threads, work)


def close_task_connections() -> None:
    """PostgreSQL drops no database that is in use."""
    in_each_task_thread(connections.close_all)


def _in_each_of(threads: ThreadPoolExecutor, work: Callable[[], object]) -> None:
    together = Barrier(threads._max_workers)

    def run() -> None:
        together.wait(PATIENCE)
        work()

    for done in [threads.submit(run) for _ in range(together.parties)]:
        done.result(PATIENCE)
