"""One relayed request on its way to the provider, and its answer on the way back."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from django.utils import timezone

from sessions_app.capture.headers import Pair, first, kept, to_client, to_provider, with_key
from sessions_app.capture.incoming import IncomingRequest
from sessions_app.capture.paths import BREAK_OFF, RelayPath, without_key
from sessions_app.capture.records import Begun, Ended
from sessions_app.capture.upstreams import Answer, Asked, Upstream
from sessions_app.error_codes import CaptureFault
from sessions_app.errors import RelayRefused

ANSWER_LIMIT = 64 * 1024 * 1024
"""Bytes of an answer: all of it is in memory until it is recorded."""

PACKETS = 20_000
"""The most packets of an answer whose times are recorded."""

Send = Callable[[dict[str, Any]], Awaitable[None]]
"""Sends an ASGI message to the program."""


@dataclass(slots=True)
class Call:
    """A request that may be relayed. `began` is perf_counter() when it came; `server_key` takes the place of
    the program's, where there is one; `reservation` is of what the request may cost with it.
    """

    scope: Any
    path: RelayPath
    headers: list[Pair]
    begun: Begun
    incoming: IncomingRequest
    began: float
    server_key: str = ""
    reservation: int | None = None

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
            reservation=self.reservation,
        )

    def ms(self) -> float:
        return round((time.perf_counter() - self.began) * 1000, 2)


class RelayedExchange:
    """`run` relays it. `end` gives `record` what is to be recorded, once.

    A whole answer is recorded before the program has the last of it: it may ask again at once, or leave.
    """

    def __init__(self, call: Call, upstream: Upstream, send: Send, record: Callable[[Ended], None]) -> None:
        self._call = call
        self._upstream = upstream
        self._send = send
        self._record = record
        self._answer: list[bytes] = []
        self._has_answered = False
        self._has_ended = False
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

    def end(self) -> None:
        """Whatever happens after the first time changes nothing of what was recorded."""
        if self._has_ended:
            return
        self._has_ended = True
        ended = replace(
            self._ended,
            body=b"".join(self._answer),
            request_size=self._call.incoming.size,
            total_ms=self._call.ms(),
            ended_at=timezone.now(),
        )
        self._record(ended)

    async def _relay(self) -> None:
        """Raises RelayRefused."""
        async with self._upstream.client.ask(self._asked()) as answer:
            await self._pass_on(answer)

    def _asked(self) -> Asked:
        call = self._call
        query = call.scope["query_string"].decode("latin-1")
        headers = to_provider(call.headers)
        if call.server_key:
            query = without_key(query)
            headers = with_key(headers, call.server_key)
        url = self._upstream.base.rstrip("/") + call.path.rest + (f"?{query}" if query else "")
        if call.begun.body is not None:
            return Asked(call.scope["method"], url, headers, call.begun.body)
        if length := first(call.headers, "content-length"):
            headers.append(("Content-Length", length))
        return Asked(call.scope["method"], url, headers, call.incoming.pieces())

    async def _pass_on(self, answer: Answer) -> None:
        ended, send = self._ended, self._send
        ended.status, ended.content_type = answer.status, first(answer.headers, "content-type")
        ended.headers = kept(answer.headers, of_answer=True)
        self._has_answered = True
        await send({"type": "http.response.start", "status": answer.status, "headers": self._given(answer)})
        length = first(answer.headers, "content-length")
        async for piece in answer.pieces:
            self._note(piece)
            if length == str(ended.size):
                self._end_whole()
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        self._end_whole()
        await send({"type": "http.response.body", "body": b""})

    def _end_whole(self) -> None:
        self._ended.fault = ""
        self.end()

    def _given(self, answer: Answer) -> list[tuple[bytes, bytes]]:
        """The headers of the answer for the program."""
        call = self._call
        own = f"{call.scope.get('scheme', 'http')}://{first(call.headers, 'host')}{call.path.base}"
        pairs = to_client(answer.headers, upstream=self._upstream.base.rstrip("/"), relay=own)
        return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in pairs]

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
