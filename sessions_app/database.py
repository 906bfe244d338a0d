"""Database work outside of requests: each piece of it begins with a connection that works."""

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, ParamSpec, TypeVar

from asgiref.sync import sync_to_async
from django.db import connections

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


def _begin(work: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs) -> Result:
    close_unusable_connections()
    return work(*args, **kwargs)


# Made once: asgiref looks into the function that it is given.
_in_thread = sync_to_async(_begin)
