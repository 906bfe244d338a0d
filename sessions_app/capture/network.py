"""The client that asks the provider over sockets. Imported when something is relayed for the first time."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Self

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from sessions_app.capture.upstreams import Answer, Asked, TransportClient, UpstreamClient
from sessions_app.error_codes import CaptureFault
from sessions_app.errors import RelayRefused
from sessions_app.gemini.network import unread
from sessions_app.gemini.outbound import Outbound

CONNECTING = 10.0
"""Seconds that a connection may take."""

SILENCE = 600.0
"""Seconds for which the provider may send nothing; an answer may last for as long as it likes."""

TIMEOUT = aiohttp.ClientTimeout(total=None, connect=CONNECTING, sock_read=SILENCE)

KEEP_ALIVE = 60.0
"""Seconds for which an unused connection is kept."""

HEAD_LIMIT = 64 * 1024
"""Bytes of a line of the head of an answer."""

SLICE = 256 * 1024
"""Bytes of a body that are written at a time."""

_OF_AIOHTTP = frozenset({"User-Agent", "Accept", "Accept-Encoding", "Content-Type"})
"""Headers that it would add."""


def client_to(base: str, outbound: Outbound) -> UpstreamClient:
    """The client for `base`. As for the gateway, httpx2 goes through a proxy and aiohttp goes directly."""
    if outbound.proxy_for(base):
        return TransportClient(outbound.transport(base), {"connect": CONNECTING, "read": SILENCE})
    return NetworkClient(outbound.trusted())


class NetworkClient:
    """Made on the event loop; its connections are kept for further requests.

    `tls` says whom to trust, by default the authorities of the system.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE, ssl=tls or True),
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=_OF_AIOHTTP,
            auto_decompress=False,
            timeout=TIMEOUT,
            max_line_size=HEAD_LIMIT,
            max_field_size=HEAD_LIMIT,
        )
        # aiohttp sends GET and PUT again when a kept connection turns out to be closed.
        self._session._retry_connection = False

    @asynccontextmanager
    async def ask(self, asked: Asked) -> AsyncIterator[Answer]:
        try:
            response = await self._session.request(
                asked.method,
                URL(asked.url, encoded=True),
                headers=_headers_of(asked),
                data=_data_of(asked.body),
                allow_redirects=False,
            )
        except aiohttp.SocketTimeoutError as error:
            raise RelayRefused(CaptureFault.NO_ANSWER) from error
        except (aiohttp.ClientError, OSError) as error:
            is_reached = isinstance(error, _REACHED) and not isinstance(error, _NOT_REACHED)
            fault = CaptureFault.NOT_ANSWERED if is_reached else CaptureFault.NOT_REACHED
            raise _fault_of_body(error) or RelayRefused(fault) from error
        pieces = _Pieces(response)
        try:
            pairs = [
                (name.decode("latin-1"), value.decode("latin-1")) for name, value in response.raw_headers
            ]
            yield Answer(response.status, pairs, pieces)
        except (aiohttp.ClientError, OSError) as error:
            is_silent = pieces.is_silent or isinstance(error, aiohttp.SocketTimeoutError)
            fault = CaptureFault.NO_ANSWER if is_silent else CaptureFault.BROKEN_OFF
            raise _fault_of_body(error) or RelayRefused(fault) from error
        finally:
            pieces.end()
            # Of an answer that was read to its end the connection is free already; another one is closed.
            response.close()

    async def close(self) -> None:
        await self._session.close()


_REACHED = aiohttp.ServerDisconnectedError, aiohttp.ClientOSError, aiohttp.ClientResponseError
_NOT_REACHED = aiohttp.ClientConnectorError, aiohttp.ClientHttpProxyError
"""No connection to the provider, or none behind the proxy. Some are instances of `_REACHED` too."""


class _Pieces:
    """The pieces of an answer. One timer looks for silence; aiohttp would set a new one for each packet."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._content = response.content
        self._loop = asyncio.get_running_loop()
        self._connection = response.connection
        self.is_silent = False
        self._heard = self._loop.time()
        self._timer = self._loop.call_later(SILENCE, self._check)
        if self._connection is not None and self._connection.protocol is not None:
            self._connection.protocol.read_timeout = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        try:
            piece = await self._content.readany()
        except (aiohttp.ClientError, OSError):
            # It raises again when all is read.
            piece = unread(self._content)
            if not piece:
                raise
        if not piece:
            raise StopAsyncIteration
        self._heard = self._loop.time()
        return piece

    def end(self) -> None:
        self._timer.cancel()

    def _check(self) -> None:
        until = self._heard + SILENCE
        if self._loop.time() < until:
            self._timer = self._loop.call_at(until, self._check)
        elif self._connection is not None and self._connection.transport is not None:
            self.is_silent = True
            self._connection.transport.abort()


def _headers_of(asked: Asked) -> CIMultiDict[str]:
    headers = CIMultiDict((name, _as_utf8(value)) for name, value in asked.headers)
    if isinstance(asked.body, bytes) and (asked.body or asked.method not in ("GET", "DELETE")):
        headers["Content-Length"] = str(len(asked.body))
    return headers


def _as_utf8(value: str) -> str:
    """What aiohttp, which writes UTF-8, writes as the bytes that came, where those are UTF-8."""
    if value.isascii():
        return value
    try:
        return value.encode("latin-1").decode()
    except UnicodeDecodeError:
        return value


def _data_of(body: bytes | AsyncIterator[bytes]) -> bytes | AsyncIterator[bytes] | None:
    if isinstance(body, bytes):
        return _slices(body) if len(body) > SLICE else body or None
    return body


async def _slices(body: bytes) -> AsyncIterator[bytes]:
    """A large body, so that other requests go on while it is written."""
    for start in range(0, len(body), SLICE):
        yield body[start : start + SLICE]


def _fault_of_body(error: Exception) -> RelayRefused | None:
    """What the body that was being sent raised: aiohttp names it as the cause of an error of its own."""
    return error.__cause__ if isinstance(error.__cause__, RelayRefused) else None
