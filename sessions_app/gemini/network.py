"""Requests to the provider over sockets, by aiohttp, which reads a stream for half of what httpx2 takes.

It stands where httpx2 has its transport, so that the SDK, the bounds and the errors know httpx2 alone.
aiohttp is imported with the first request.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import httpx2

if TYPE_CHECKING:
    import aiohttp

KEEP_ALIVE = 60.0
"""Seconds for which an unused connection is kept."""

HEAD_LIMIT = 64 * 1024
"""Bytes of a line of the head of an answer."""

SLICE = 64 * 1024
"""Bytes of a body that are written at a time."""


class NetworkTransport(httpx2.AsyncBaseTransport):
    """Any number of connections, each kept for further requests; used by one event loop.

    `tls` says whom to trust, by default the authorities of the system. Follows no redirect, keeps no cookie,
    unpacks nothing, reads no environment.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self._session: aiohttp.ClientSession | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        session = self._session = self._session or open_session(self._tls)
        times: dict[str, float | None] = request.extensions.get("timeout", {})
        with as_httpx2():
            response = await self._send(session, request, times)
        stream = PacketStream(response, times.get("read"))
        extensions = {"http_version": b"HTTP/1.1", "reason_phrase": (response.reason or "").encode()}
        headers = list(response.raw_headers)
        return httpx2.Response(response.status, headers=headers, stream=stream, extensions=extensions)

    async def aclose(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def _send(
        self, session: "aiohttp.ClientSession", request: httpx2.Request, times: dict[str, float | None]
    ) -> "aiohttp.ClientResponse":
        from aiohttp import ClientTimeout
        from yarl import URL

        body = await request.aread()
        try:
            async with asyncio.timeout(None) as deadline:
                return await session.request(
                    request.method,
                    URL(str(request.url), encoded=True),
                    headers=[(name.decode(), value.decode("latin-1")) for name, value in request.headers.raw],
                    data=_slices(body, deadline, times.get("write")) if body else None,
                    allow_redirects=False,
                    timeout=ClientTimeout(
                        total=None, connect=times.get("connect"), sock_read=times.get("read")
                    ),
                )
        except TimeoutError as error:
            if deadline.expired():
                raise httpx2.WriteTimeout("The request was not taken.") from error
            raise


class PacketStream(httpx2.AsyncByteStream):
    """The packets of an answer. Ends with an error after `silence` seconds without one.

    One timer looks for silence; aiohttp would set a new one for each packet.
    """

    def __init__(self, response: "aiohttp.ClientResponse", silence: float | None) -> None:
        self._response = response
        self._loop = asyncio.get_running_loop()
        self._connection = response.connection
        self._silence = silence
        self._is_silent = False
        self._heard = self._loop.time()
        self._timer: asyncio.TimerHandle | None = None
        if silence is not None:
            self._timer = self._loop.call_later(silence, self._check)
        if self._connection is not None and self._connection.protocol is not None:
            self._connection.protocol.read_timeout = None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        content = self._response.content
        read = content.readany
        try:
            with as_httpx2():
                while packet := await read():
                    self._heard = self._loop.time()
                    yield packet
        except httpx2.TransportError as error:
            if packet := unread(content):
                yield packet
            if self._is_silent:
                raise httpx2.ReadTimeout("Nothing came for too long.") from error
            raise

    async def aclose(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        # Of an answer that was read to its end the connection is free already; another one is closed.
        self._response.close()

    def _check(self) -> None:
        until = self._heard + (self._silence or 0)
        if self._loop.time() < until:
            self._timer = self._loop.call_at(until, self._check)
        elif self._connection is not None and self._connection.transport is not None:
            self._is_silent = True
            self._connection.transport.abort()


def unread(content: "aiohttp.StreamReader") -> bytes:
    """What came before the connection broke and was not read then, which aiohttp's own reading leaves out."""
    return content._read_nowait(-1)


def open_session(tls: ssl.SSLContext | None) -> "aiohttp.ClientSession":
    import aiohttp

    session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE, ssl=tls or True),
        cookie_jar=aiohttp.DummyCookieJar(),
        skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
        auto_decompress=False,
        max_line_size=HEAD_LIMIT,
        max_field_size=HEAD_LIMIT,
    )
    # aiohttp sends GET and PUT again when a kept connection turns out to be closed.
    session._retry_connection = False
    return session


@contextmanager
def as_httpx2() -> Iterator[None]:
    """Raises httpx2's error for aiohttp's."""
    import aiohttp

    try:
        yield
    except aiohttp.SocketTimeoutError as error:
        raise httpx2.ReadTimeout("Nothing came for too long.") from error
    except TimeoutError as error:
        raise httpx2.ConnectTimeout("No connection in time.") from error
    except aiohttp.ClientConnectorError as error:
        raise httpx2.ConnectError(_said(error)) from error
    except (
        aiohttp.ServerDisconnectedError,
        aiohttp.ClientPayloadError,
        aiohttp.ClientResponseError,
    ) as error:
        raise httpx2.RemoteProtocolError(_said(error)) from error
    except (aiohttp.ClientError, OSError) as error:
        raise httpx2.ReadError(_said(error)) from error


def _said(error: Exception) -> str:
    import aiohttp

    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return str(error.certificate_error)
    if isinstance(error, aiohttp.ClientConnectorError):
        return str(error.os_error)
    if isinstance(error, aiohttp.ClientResponseError):
        return error.message
    return str(error)


async def _slices(body: bytes, deadline: asyncio.Timeout, limit: float | None) -> AsyncIterator[bytes]:
    """The body, whose every slice must be taken within `limit` seconds."""
    loop = asyncio.get_running_loop()
    for start in range(0, len(body), SLICE):
        if limit is not None:
            deadline.reschedule(loop.time() + limit)
        yield body[start : start + SLICE]
    deadline.reschedule(None)
