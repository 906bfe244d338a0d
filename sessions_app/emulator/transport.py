"""The door in process: an httpx2 transport under the real SDK.

It streams chunk by chunk, which the library's own ASGI transport does not, and says to the
journal when the client closes a stream before its end.
"""

from collections.abc import AsyncIterator

import httpx2

from sessions_app.emulator.core import Emulator
from sessions_app.emulator.exchange import Body, Hangup, Request


class EmulatorTransport(httpx2.AsyncBaseTransport):
    """Pass it as `async_client_args={"transport": EmulatorTransport()}`; no socket is opened."""

    def __init__(self, emulator: Emulator | None = None, *, delay: float = 0.02) -> None:
        """`delay` is seconds before each chunk of an emulator of its own, when none is given."""
        self.emulator = emulator or Emulator(delay=delay)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            response = self.emulator.handle(await _request(request))
        except Hangup as end:
            raise _ended(end) from end
        return httpx2.Response(response.status, headers=dict(response.headers), stream=_Stream(response.body))


async def _request(request: httpx2.Request) -> Request:
    return Request(
        method=request.method,
        path=request.url.path,
        query=dict(request.url.params),
        headers={name.lower(): value for name, value in request.headers.items()},
        body=await request.aread(),
        scheme=request.url.scheme,
    )


def _ended(end: Hangup) -> httpx2.TransportError:
    """What httpx2 raises over a socket: a close before the end breaks the protocol, a reset the reading."""
    return httpx2.RemoteProtocolError(end.message) if end.clean else httpx2.ReadError(end.message)


class _Stream(httpx2.AsyncByteStream):
    def __init__(self, body: Body) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._body:
                yield piece
        except Hangup as end:
            raise _ended(end) from end

    async def aclose(self) -> None:
        await self._body.aclose()
