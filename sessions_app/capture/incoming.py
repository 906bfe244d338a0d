"""The body of a relayed request as it comes in, and whether its program is still there."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

from sessions_app.error_codes import CaptureFault
from sessions_app.errors import RelayRefused

BODY_LIMIT = 32 * 1024 * 1024
UPLOAD_LIMIT = 2 * 1024 * 1024 * 1024
"""Bytes of a request, and of a file; a file passes piece by piece."""

SILENCE = 60.0
"""Seconds without a piece of a body."""


class IncomingRequest:
    """Reads a body once; then `left` returns when the program closes the connection."""

    def __init__(self, receive: Callable[[], Awaitable[Mapping[str, Any]]]) -> None:
        self._receive = receive
        self._is_read = asyncio.Event()
        self.size = 0

    async def read(self) -> bytes:
        """The whole body. Raises RelayRefused."""
        pieces = [piece async for piece in self.pieces(BODY_LIMIT)]
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    async def pieces(self, limit: int = UPLOAD_LIMIT) -> AsyncIterator[bytes]:
        """Raises RelayRefused beyond the limit, and when the program goes away."""
        more = not self._is_read.is_set()
        while more:
            try:
                async with asyncio.timeout(SILENCE):
                    message = await self._receive()
            except TimeoutError:
                raise RelayRefused(CaptureFault.CLIENT_LEFT) from None
            if message["type"] == "http.disconnect":
                raise RelayRefused(CaptureFault.CLIENT_LEFT)
            piece = message.get("body", b"")
            self.size += len(piece)
            if self.size > limit:
                raise RelayRefused(CaptureFault.REQUEST_TOO_LARGE, limit=limit)
            if piece:
                yield piece
            more = message.get("more_body", False)
        self._is_read.set()

    async def left(self) -> None:
        await self._is_read.wait()
        while (await self._receive())["type"] != "http.disconnect":
            pass
