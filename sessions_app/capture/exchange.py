"""One relayed request on its way to the provider, and its answer on the way back."""

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx2
from django.utils import timezone

from sessions_app.capture.headers import Pair, first, kept, to_client, to_provider
from sessions_app.capture.incoming import IncomingRequest
from sessions_app.capture.paths import BREAK_OFF, RelayPath
from sessions_app.capture.records import Begun, Ended
from sessions_app.error_codes import CaptureFault
from sessions_app.errors import RelayRefused

if TYPE_CHECKING:
    from sessions_app.capture.relay import Send, Upstream

TIMEOUT = {"connect": 10.0, "write": 60.0, "read": 600.0, "pool": 10.0}
"""Seconds. `read` is the longest silence of the provider, not the length of an answer."""

ANSWER_LIMIT = 64 * 1024 * 1024
"""Bytes of an answer: under Daphne nothing tells how much of it the program has not taken yet."""

PACKETS = 20_000
"""Of an answer whose times are recorded."""


@dataclass(slots=True)
class Call:
    """A request that may be relayed. `began` is perf_counter() when it came."""

    scope: Any
    path: RelayPath
    headers: list[Pair]
    begun: Begun
    incoming: IncomingRequest
    began: float

    def ended(self, fault: CaptureFault, status: int | None = None) -> Ended:
        """What is recorded of one that ended here."""
        begun = self.begun
        return Ended(
            begun.key,
            begun.address,
            begun.owner,
            begun.asks_model,
            timezone.now(),
            status=status,
            request_size=self.incoming.size,
            fault=fault,
            total_ms=self.ms(),
        )

    def ms(self) -> float:
        return round((time.perf_counter() - self.began) * 1000, 2)


class RelayedExchange:
    """`run` relays it; `ended` tells afterwards what is to be recorded."""

    def __init__(self, call: Call, upstream: "Upstream", send: "Send") -> None:
        self._call = call
        self._upstream = upstream
        self._send = send
        self._answer: list[bytes] = []
        self._has_answered = False
        self._ended = call.ended(CaptureFault.STOPPED)

    async def run(self) -> None:
        """Until the answer has passed or the program has gone. Raises RelayRefused before an answer."""
        work = asyncio.ensure_future(self._relay())
        leaving = asyncio.ensure_future(self._call.incoming.left())
        try:
            await asyncio.wait({work, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                self._ended.fault = CaptureFault.CLIENT_LEFT
                return
            work.result()
        except RelayRefused as refused:
            self._ended.fault = refused.fault
            if not self._has_answered:
                raise
            self._break_off()
        finally:
            for task in (work, leaving):
                task.cancel()
            await asyncio.gather(work, leaving, return_exceptions=True)

    def ended(self) -> Ended:
        self._ended.body = b"".join(self._answer)
        self._ended.request_size = self._call.incoming.size
        self._ended.total_ms, self._ended.ended_at = self._call.ms(), timezone.now()
        return self._ended

    async def _relay(self) -> None:
        """Raises RelayRefused."""
        try:
            response = await self._upstream.transport.handle_async_request(self._request())
        except httpx2.ReadTimeout as error:
            raise RelayRefused(CaptureFault.NO_ANSWER) from error
        except httpx2.TransportError as error:
            raise RelayRefused(CaptureFault.NOT_REACHED) from error
        try:
            await self._pass_on(response)
        except httpx2.ReadTimeout as error:
            raise RelayRefused(CaptureFault.NO_ANSWER) from error
        except httpx2.TransportError as error:
            raise RelayRefused(CaptureFault.BROKEN_OFF) from error
        finally:
            await response.aclose()

    def _request(self) -> httpx2.Request:
        query = self._call.scope["query_string"]
        target = self._call.path.rest.encode("latin-1") + (b"?" + query if query else b"")
        url = httpx2.URL(self._upstream.base)
        url = url.copy_with(raw_path=url.raw_path.rstrip(b"/") + target)
        headers = to_provider(self._call.headers)
        extensions = {"timeout": TIMEOUT}
        method = self._call.scope["method"]
        if self._call.begun.body is not None:
            content = self._call.begun.body or None
            return httpx2.Request(method, url, headers=headers, content=content, extensions=extensions)
        if length := first(self._call.headers, "content-length"):
            headers.append(("Content-Length", length))
        pieces = self._call.incoming.pieces()
        return httpx2.Request(method, url, headers=headers, content=pieces, extensions=extensions)

    async def _pass_on(self, response: httpx2.Response) -> None:
        call, base = self._call, self._upstream.base.rstrip("/")
        own = f"{call.scope.get('scheme', 'http')}://{first(call.headers, 'host')}{call.path.base}"
        given = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers.raw]
        headers = to_client(given, upstream=base, relay=own)
        ended = self._ended
        ended.status, ended.content_type = response.status_code, first(given, "content-type")
        ended.headers = kept(given, of_answer=True)
        pairs = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        self._has_answered = True
        await self._send({"type": "http.response.start", "status": response.status_code, "headers": pairs})
        async for piece in response.stream:  # type: ignore[union-attr]
            self._note(piece)
            await self._send({"type": "http.response.body", "body": piece, "more_body": True})
        await self._send({"type": "http.response.body", "body": b""})
        ended.fault = ""

    def _note(self, piece: bytes) -> None:
        """Raises RelayRefused beyond the limit."""
        ended = self._ended
        if ended.first_ms is None:
            ended.first_ms = self._call.ms()
        ended.size += len(piece)
        if ended.size > ANSWER_LIMIT:
            ended.is_cut = True
            raise RelayRefused(CaptureFault.ANSWER_TOO_LARGE, limit=ANSWER_LIMIT)
        self._answer.append(piece)
        if len(ended.packets) < PACKETS:
            ended.packets.append((self._call.ms(), len(piece)))

    def _break_off(self) -> None:
        """The program has to see that the answer is not whole; ASGI has no message for that."""
        if break_off := self._call.scope.get(BREAK_OFF):
            break_off()
