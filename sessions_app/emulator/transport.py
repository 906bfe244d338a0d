"""The emulator as an httpx2 transport, for the real SDK in the same process.

It streams chunk by chunk, which httpx2's own ASGI transport does not, and the journal records
when the client closes a stream before its end.
"""

from collections.abc import AsyncIterator

import httpx2

from sessions_app.emulator.http import ApiRequest, Body, ConnectionClosed
from sessions_app.emulator.service import Emulator


class EmulatorTransport(httpx2.AsyncBaseTransport):
    """Pass it as `async_client_args={"transport": EmulatorTransport()}`; no socket is opened."""

    def __init__(self, emulator: Emulator | None = None, *, delay: float = 0.02) -> None:
        """`delay` is seconds before each chunk of an emulator of its own, when none is given."""
        self.emulator = emulator or Emulator(delay=delay)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            response = self.emulator.handle(await _request(request))
        except ConnectionClosed as end:
            raise _ended(end) from end
        return httpx2.Response(response.status, headers=dict(response.headers), stream=_Stream(response.body))


async def _request(request: httpx2.Request) -> ApiRequest:
    return ApiRequest(
        method=request.method,
        path=request.url.path,
        query=dict(request.url.params),
        headers={name.lower(): value for name, value in request.headers.items()},
        body=await request.aread(),
        scheme=request.url.scheme,
    )


def _ended(end: ConnectionClosed) -> httpx2.TransportError:
    """The exception of httpx2 over a socket: for a close before the end, and for a reset."""
    return httpx2.RemoteProtocolError(end.message) if end.is_clean else httpx2.ReadError(end.message)


class _Stream(httpx2.AsyncByteStream):
    def __init__(self, body: Body) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._body:
                yield piece
        except ConnectionClosed as end:
            raise _ended(end) from end

    async def aclose(self) -> None:
        await self._body.aclose()
