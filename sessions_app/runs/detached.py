"""Tasks that outlive whoever starts them."""

import asyncio
import contextvars
from collections.abc import Coroutine
from typing import Any

import structlog


def detached(work: Coroutine[Any, Any, Any], **logged: str) -> "asyncio.Task[Any]":
    """A task with a context of its own: one made in a socket's context would share its database thread.

    `logged` stands beside every line that the task logs.
    """
    context = contextvars.Context()
    context.run(structlog.contextvars.bind_contextvars, **logged)
    return asyncio.get_running_loop().create_task(work, context=context)
