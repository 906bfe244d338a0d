"""Calls of the relay as a server makes them, with an upstream that a test plays."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx2

from sessions_app.capture.addresses import AddressBook, KnownAddress
from sessions_app.capture.recorder import Recorder
from sessions_app.capture.records import Begun, Ended, Record
from sessions_app.capture.relay import Relay
from sessions_app.capture.server_key import Grant, ServerKeys
from sessions_app.capture.upstreams import TransportClient, Upstream
from sessions_app.error_codes import CaptureFault

TOKEN = "A" * 22
BASE = f"/capture/{TOKEN}"
PROVIDER = "https://provider.example/base"
GENERATE = "/v1beta/models/gemini-3-flash-preview:streamGenerateContent"
ADDRESS = KnownAddress(pk=1, owner=1, upstream="provider")

Play = Callable[[httpx2.Request], Awaitable[httpx2.Response]]


class Pieces(httpx2.AsyncByteStream):
    """An answer that comes in pieces, and whether it was closed."""

    def __init__(self, pieces: Sequence[bytes | Exception], hold: asyncio.Event | None = None) -> None:
        self._pieces = pieces
        self._hold = hold
        self.is_closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            if isinstance(piece, Exception):
                raise piece
            yield piece
            await asyncio.sleep(0)
        if self._hold:
            await self._hold.wait()

    async def aclose(self) -> None:
        self.is_closed = True


class Provider(httpx2.AsyncBaseTransport):
    """Answers with what `play` gives, and keeps the requests with their bodies."""

    def __init__(self, play: Play) -> None:
        self._play = play
        self.requests: list[httpx2.Request] = []
        self.bodies: list[bytes] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        self.bodies.append(await request.aread())
        return await self._play(request)


@dataclass
class Answer:
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    pieces: list[bytes] = field(default_factory=list)
    is_whole: bool = False

    @property
    def body(self) -> bytes:
        return b"".join(self.pieces)

    def begin(self, start: dict[str, Any]) -> None:
        self.status = start["status"]
        self.headers = {key.decode().lower(): value.decode() for key, value in start["headers"]}


class Bench:
    """A relay whose records are kept in lists."""

    def __init__(
        self,
        play: Play,
        address: KnownAddress | None = ADDRESS,
        grant: Callable[[int], Grant | CaptureFault] = lambda owner: CaptureFault.NO_SERVER_KEY,
    ) -> None:
        self.provider = Provider(play)
        self.records: list[Record] = []
        self.recorder = Recorder(self.records.extend, lambda missed: None)
        upstreams = {"provider": Upstream(PROVIDER, TransportClient(self.provider))}
        self.find: Callable[[str], KnownAddress | None] = lambda token_hash: address
        book = AddressBook(self._find)
        self.relay = Relay(upstreams, book, self.recorder, ServerKeys(grant))
        self.broken_off = 0

    async def ask(
        self,
        path: str = GENERATE,
        *,
        body: bytes | Sequence[bytes] = b"{}",
        query: bytes = b"",
        method: str = "POST",
        headers: Sequence[tuple[str, str]] = (),
        client: Any = ("127.0.0.1", 5),
        leaves: asyncio.Event | None = None,
        on_piece: Callable[[bytes], None] = lambda piece: None,
    ) -> Answer:
        """`leaves` closes the connection of the program when it is set."""
        pieces = [body] if isinstance(body, bytes) else list(body)
        incoming = messages_of(pieces)

        async def receive() -> Any:
            if not incoming:
                await (leaves or asyncio.Event()).wait()
            return incoming.pop(0) if incoming else {"type": "http.disconnect"}

        answer = Answer()

        async def send(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                answer.begin(message)
                return
            if message["body"]:
                answer.pieces.append(message["body"])
                on_piece(message["body"])
            answer.is_whole = not message.get("more_body", False)

        scope = {
            "type": "http",
            "method": method,
            "raw_path": (BASE + path).encode(),
            "query_string": query,
            "headers": encoded([("Host", "127.0.0.1:8000"), *headers]),
            "client": client,
            "scheme": "http",
            "pipeweb.break_off": self._break_off,
        }
        await self.relay(scope, receive, send)
        return answer

    def recorded(self) -> tuple[list[Begun], list[Ended]]:
        assert self.recorder.flush(10)
        begun = [one for one in self.records if isinstance(one, Begun)]
        return begun, [one for one in self.records if isinstance(one, Ended)]

    def _find(self, token_hash: str) -> KnownAddress | None:
        return self.find(token_hash)

    def _break_off(self) -> None:
        self.broken_off += 1


def messages_of(pieces: Sequence[bytes]) -> list[dict[str, Any]]:
    """ASGI's messages of a body that comes in pieces."""
    last = len(pieces) - 1
    return [
        {"type": "http.request", "body": piece, "more_body": at < last} for at, piece in enumerate(pieces)
    ]


def encoded(headers: Sequence[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(key.lower().encode(), value.encode()) for key, value in headers]


def answering(*pieces: bytes | Exception, status: int = 200, **headers: str) -> Play:
    async def play(request: httpx2.Request) -> httpx2.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return httpx2.Response(status, headers=named, stream=Pieces(pieces))

    return play


def failing(error: Exception) -> Play:
    async def play(request: httpx2.Request) -> httpx2.Response:
        raise error

    return play
