"""Database work outside of requests: each piece of it begins with a connection that works.

SQLite has one thread for it, so that its pieces never wait for one another's locks; on PostgreSQL pieces run
side by side, each thread with a connection of its own. Either way the pieces of one task come one after
another, also when it is cancelled within one.
"""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from typing import Any, ParamSpec, TypeVar

from asgiref.sync import sync_to_async
from django.db import connections

THREADS = 3
"""Connections that the tasks of a process have with PostgreSQL. Of more, those that compute keep the event
loop from the interpreter: with 4, and 100 sends in a second, what was streamed came twice as late.
"""

SIDE_BY_SIDE = (
    ThreadPoolExecutor(THREADS, "pipeweb-database") if connections["default"].vendor == "postgresql" else None
)
"""The threads of tasks on PostgreSQL; on SQLite asgiref's single one."""

Given = ParamSpec("Given")
Result = TypeVar("Result")


def database_sync_to_async(work: Callable[Given, Result]) -> Callable[Given, Coroutine[Any, Any, Result]]:
    """`sync_to_async` for work with the database; a lost connection is replaced before it begins.

    Tasks use neither `sync_to_async` itself nor the asynchronous methods of querysets: nothing else closes
    the connection of their thread.
    """
    return partial(_in_thread, work)


def close_unusable_connections() -> None:
    """Closes what the server or an error has ended; the next statement of this thread opens a new connection.

    With CONN_HEALTH_CHECKS the next statement also finds out about connections without an error so far. Does
    nothing inside a transaction, where `close_old_connections` would end it. CONN_MAX_AGE is for requests.
    """
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close_at = None
            connection.close_if_unusable_or_obsolete()


def release_connections() -> None:
    """Closes those of this thread before it waits for somebody else, except inside a transaction."""
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close()


def _begin(work: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs) -> Result:
    close_unusable_connections()
    return work(*args, **kwargs)


# Made once: asgiref looks into the function that it is given.
_in_single_thread = sync_to_async(_begin)


async def _in_thread(work: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs) -> Result:
    if SIDE_BY_SIDE is None:
        return await _in_single_thread(work, *args, **kwargs)
    piece = SIDE_BY_SIDE.submit(partial(copy_context().run, partial(_begin, work, *args, **kwargs)))
    done = asyncio.wrap_future(piece)
    try:
        return await asyncio.shield(done)
    except asyncio.CancelledError:
        if not piece.cancel():
            await _until(done)
        raise


async def _until(done: asyncio.Future[Any]) -> None:
    """What a cancelled task does next finds the work of its last piece done, whatever came of it."""
    while not done.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait([done])
    done.exception()
