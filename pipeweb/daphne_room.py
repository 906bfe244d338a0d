"""Responses wait for their client: an application goes on when what it has sent before was taken.

Daphne itself keeps in memory whatever an application sends, however slowly its client reads.
"""

# mypy: disallow-untyped-calls=False

import asyncio
from typing import Any

from twisted.internet.protocol import connectionDone
from twisted.web.http import HTTPChannel

PATIENCE = 60.0
"""Seconds after which a connection ends whose client has not taken what waits; nginx waits as long."""


class ChannelWithRoom(HTTPChannel):
    """A connection that knows whether it takes more. Twisted pauses it while more than 64 KiB wait."""

    transport: Any

    def __init__(self) -> None:
        super().__init__()
        self._has_room = asyncio.Event()
        self._has_room.set()

    def pauseProducing(self) -> None:
        self._has_room.clear()
        super().pauseProducing()

    def resumeProducing(self) -> None:
        self._has_room.set()
        super().resumeProducing()

    def connectionLost(self, reason: Any = connectionDone) -> None:
        self._has_room.set()
        super().connectionLost(reason)

    async def room(self, patience: float | None) -> None:
        """Waits until all is taken; after so many seconds it ends the connection, and so its application."""
        if self._has_room.is_set():
            return
        try:
            async with asyncio.timeout(patience):
                await self._has_room.wait()
        except TimeoutError:
            self.transport.abortConnection()
