"""The transport of the gateway: pool, time-outs, and the diversion that the public seam uses."""

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import httpx2

TIMEOUT = httpx2.Timeout(connect=10.0, write=60.0, read=600.0, pool=None)
"""Seconds. `read` is the longest silence between two packets, not the length of an answer: a model
that thinks without showing its thoughts says nothing for minutes."""

LIMITS = httpx2.Limits(max_connections=None, max_keepalive_connections=100, keepalive_expiry=60.0)
"""httpx2 allows 100 connections by default and lets the 101st stream wait in silence."""


@dataclass(slots=True)
class Diversion:
    """A request whose body is replaced on its way, and whose answer is kept from the SDK."""

    body: bytes
    response: httpx2.Response | None = None


DIVERSION: ContextVar[Diversion | None] = ContextVar("gateway_diversion", default=None)


class GatewayTransport(httpx2.AsyncBaseTransport):
    """Wraps the transport that really sends.

    The SDK asks for no time-out at all unless `HttpOptions.timeout` is set, and that one also tells
    the server to give up (`X-Server-Timeout`); so the time-outs are set here.
    """

    def __init__(self, inner: httpx2.AsyncBaseTransport | None = None) -> None:
        self._inner = inner or httpx2.AsyncHTTPTransport(limits=LIMITS)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        extensions = {**request.extensions, "timeout": TIMEOUT.as_dict()}
        diversion = DIVERSION.get()
        if diversion is None:
            request.extensions = extensions
            return await self._inner.handle_async_request(request)
        return await self._divert(_with_body(request, diversion.body, extensions), diversion)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _divert(self, request: httpx2.Request, diversion: Diversion) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        if response.status_code != 200:
            return response
        response.request = request
        diversion.response = response
        return httpx2.Response(200, json={})


def _with_body(request: httpx2.Request, body: bytes, extensions: dict[str, Any]) -> httpx2.Request:
    framing = ("content-length", "transfer-encoding")
    headers = [(name, value) for name, value in request.headers.items() if name not in framing]
    return httpx2.Request(request.method, request.url, headers=headers, content=body, extensions=extensions)
