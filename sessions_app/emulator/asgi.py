"""The emulator as an ASGI application.

    daphne sessions_app.emulator.asgi:application

A client that leaves in mid-stream is noticed at once, by `http.disconnect`.
"""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qsl

from sessions_app.emulator.http import ApiRequest, ApiResponse, ConnectionClosed
from sessions_app.emulator.service import Emulator

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
BreakOff = Callable[[Message, bool], None]

_END: Message = {"type": "http.response.body", "body": b"", "more_body": False}


class EmulatorApplication:
    """Serves HTTP only; other protocols get no response.

    ASGI cannot break a connection. `break_off` takes a scope and whether to close in the ordinary
    way, and does it through the server; without it the response ends short of its content length,
    which makes most servers close the connection.
    """

    def __init__(self, emulator: Emulator | None = None, break_off: BreakOff | None = None) -> None:
        self.emulator = emulator or Emulator()
        self._break_off = break_off

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        body = await _read(receive)
        if body is None:
            return
        try:
            response = self.emulator.handle(_request(scope, body))
        except ConnectionClosed as end:
            await self._end(scope, end, send)
            return
        async with response.body:
            try:
                await _first_of(_send(response, send), _disconnected(receive))
            except ConnectionClosed as end:
                await self._end(scope, end, send, is_answered=True)

    async def _end(
        self, scope: Message, end: ConnectionClosed, send: Send, *, is_answered: bool = False
    ) -> None:
        if self._break_off:
            self._break_off(scope, end.is_clean)
        if is_answered:
            await send(_END)


async def _first_of(*awaitables: Awaitable[None]) -> None:
    """Runs until the first ends, cancels the others and raises what it raised."""
    tasks = [asyncio.ensure_future(each) for each in awaitables]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
    for task in done:
        task.result()


async def _read(receive: Receive) -> bytes | None:
    """The whole request body; None when the client left while sending it."""
    body = bytearray()
    while (message := await receive())["type"] == "http.request":
        body += message.get("body", b"")
        if not message.get("more_body", False):
            return bytes(body)
    return None


def _request(scope: Message, body: bytes) -> ApiRequest:
    return ApiRequest(
        method=scope["method"],
        path=scope["path"],
        query=dict(parse_qsl(scope["query_string"].decode("latin-1"))),
        headers={name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]},
        body=body,
        scheme=scope.get("scheme", "http"),
    )


async def _send(response: ApiResponse, send: Send) -> None:
    headers = [(name.encode(), value.encode()) for name, value in response.headers.items()]
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    async for piece in response.body:
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send(_END)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


application = EmulatorApplication()
