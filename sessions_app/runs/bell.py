"""A doorbell between processes: it says that a session has news, the rows say what.

A lost ring costs a second at most, because every process also looks by itself.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from typing import Any

import structlog
from channels.layers import InMemoryChannelLayer, get_channel_layer

GROUP = "pipeweb.bell"
RECONNECT_SECONDS = 1.0

log = structlog.get_logger("pipeweb.bell")


def _away() -> tuple[type[Exception], ...]:
    """What says that Redis is not there; its client is an optional dependency."""
    try:
        from redis.exceptions import RedisError
    except ImportError:
        return (OSError,)
    return (OSError, RedisError)


AWAY = _away()


class Bell:
    """Silent with the in-memory layer: then there is no other process to call."""

    def __init__(self) -> None:
        layer = get_channel_layer()
        self._layer: Any = None if isinstance(layer, InMemoryChannelLayer) else layer
        self._rings: set[asyncio.Task[None]] = set()

    def ring(self, session_pks: Iterable[int]) -> None:
        """Never waits and never fails: the news is in the rows already."""
        for session_pk in session_pks if self._layer is not None else ():
            task = asyncio.get_running_loop().create_task(self._send(session_pk))
            self._rings.add(task)
            task.add_done_callback(self._rings.discard)

    async def rings(self) -> AsyncGenerator[int, None]:
        """Session keys as other processes ring; goes on after Redis was away."""
        while self._layer is not None:
            try:
                channel = await self._layer.new_channel()
                await self._layer.group_add(GROUP, channel)
                while True:
                    yield (await self._layer.receive(channel))["session"]
            except AWAY as error:
                log.warning("bell_away", kind=type(error).__name__)
                await asyncio.sleep(RECONNECT_SECONDS)

    async def _send(self, session_pk: int) -> None:
        try:
            await self._layer.group_send(GROUP, {"type": "news", "session": session_pk})
        except AWAY as error:
            log.warning("bell_silent", kind=type(error).__name__)
