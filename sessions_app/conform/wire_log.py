"""The exchanges of a probe as they travelled, recorded below the gateway."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Literal

import httpx2

from sessions_app.conform.masking import Mask
from sessions_app.conform.report import WireExchange


@dataclass(slots=True)
class _Exchange:
    """One request and what has arrived of its response; `status` is None when nothing has."""

    method: str
    path: str
    is_streamed: bool
    request: bytes
    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    response: bytearray = field(default_factory=bytearray)
    end: Literal["whole", "broken", "left"] = "broken"


class WireLog(httpx2.AsyncBaseTransport):
    """A transport that records what passes through it."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner
        self._exchanges: list[_Exchange] = []

    def take(self, mask: Mask) -> list[WireExchange]:
        """What has passed since the last time, masked."""
        taken, self._exchanges = self._exchanges, []
        return [_masked(exchange, mask) for exchange in taken]

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = await request.aread()
        is_streamed = request.url.params.get("alt") == "sse"
        exchange = _Exchange(request.method, request.url.path, is_streamed, body)
        self._exchanges.append(exchange)
        response = await self._inner.handle_async_request(request)
        exchange.status = response.status_code
        exchange.headers = {name.lower(): value for name, value in response.headers.items()}
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _RecordedStream(response.stream, exchange)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _RecordedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, exchange: _Exchange) -> None:
        self._inner = inner
        self._exchange = exchange

    async def __aiter__(self) -> AsyncIterator[bytes]:
        self._exchange.end = "left"
        try:
            async for packet in self._inner:
                self._exchange.response += packet
                yield packet
        except httpx2.TransportError:
            self._exchange.end = "broken"
            raise
        self._exchange.end = "whole"

    async def aclose(self) -> None:
        await self._inner.aclose()


def _masked(exchange: _Exchange, mask: Mask) -> WireExchange:
    path = exchange.path + ("?alt=sse" if exchange.is_streamed else "")
    return WireExchange(
        method=exchange.method,
        path=mask.text(path),
        request=mask.text(exchange.request.decode(errors="replace")),
        status=exchange.status,
        headers=mask.headers(exchange.headers),
        response=mask.body(exchange.method, exchange.path, bytes(exchange.response)),
        end=exchange.end,
    )
