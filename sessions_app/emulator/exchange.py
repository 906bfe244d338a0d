"""A request and a response, as far as the protocol goes: what both doors hand over."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Self

from sessions_app.emulator.journal import Entry
from sessions_app.emulator.troubles import CUT_AFTER, NO_TROUBLE, Trouble
from sessions_app.errors import PipewebError


@dataclass(frozen=True, slots=True)
class Request:
    """`path` is decoded and without query; header names are lower case."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    scheme: str = "http"

    @property
    def key(self) -> str:
        return self.headers.get("x-goog-api-key") or self.query.get("key", "")

    @property
    def base(self) -> str:
        """Where the client reached this service: scheme and host."""
        return f"{self.scheme}://{self.headers.get('host', 'localhost')}"

    @property
    def bearer(self) -> str:
        """The key as OpenAI clients send it."""
        kind, _, token = self.headers.get("authorization", "").partition(" ")
        return token.strip() if kind.lower() == "bearer" else ""


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    headers: Mapping[str, str]
    body: "Body"


class Hangup(PipewebError):
    """The connection ends here: by a reset, or by an ordinary close when `clean`."""

    def __init__(self, *, clean: bool = False) -> None:
        super().__init__("The connection broke in mid-stream.")
        self.clean = clean


class Body:
    """The pieces of an answer, one after the other, `delay` seconds before each.

    Closing it before the end is what a client's leaving looks like; the journal entry says so.
    A `trouble` that ends the connection raises Hangup, which the door carries out.
    """

    def __init__(
        self,
        pieces: Iterable[bytes],
        entry: Entry,
        *,
        delay: float = 0.0,
        trouble: Trouble = NO_TROUBLE,
    ) -> None:
        self._pieces = iter(pieces)
        self._entry = entry
        self._delay = delay
        self._trouble = trouble

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        if not self._entry.under_way:
            raise StopAsyncIteration
        piece = next(self._pieces, None)
        if piece is None:
            self._entry.close(early=False)
            raise StopAsyncIteration
        if self._entry.chunks == self._trouble.cut_after:
            self._entry.close(early=False)
            raise Hangup(clean=self._trouble.clean)
        await asyncio.sleep(self._trouble.stall if self._is_stalled else self._delay)
        self._entry.send(piece)
        return piece

    @property
    def _is_stalled(self) -> bool:
        return bool(self._trouble.stall) and self._entry.chunks == CUT_AFTER

    async def aclose(self) -> None:
        self._entry.close(early=True)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
