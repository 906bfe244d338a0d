"""A request and a response, as far as the protocol goes: what both doors hand over."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Self

from sessions_app.emulator.journal import Entry
from sessions_app.errors import Unreachable


@dataclass(frozen=True, slots=True)
class Request:
    """`path` is decoded and without query; header names are lower case."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def key(self) -> str:
        return self.headers.get("x-goog-api-key") or self.query.get("key", "")


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    headers: Mapping[str, str]
    body: "Body"


class Body:
    """The pieces of an answer, one after the other, `delay` seconds before each.

    Closing it before the end is what a client's leaving looks like; the journal entry says so.
    With `drop_after`, Unreachable is raised after so many pieces: the door breaks the connection.
    """

    def __init__(
        self, pieces: Iterable[bytes], entry: Entry, *, delay: float = 0.0, drop_after: int | None = None
    ) -> None:
        self._pieces = iter(pieces)
        self._entry = entry
        self._delay = delay
        self._drop_after = drop_after

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        if not self._entry.under_way:
            raise StopAsyncIteration
        piece = next(self._pieces, None)
        if piece is None:
            self._entry.close(early=False)
            raise StopAsyncIteration
        if self._entry.chunks == self._drop_after:
            self._entry.close(early=False)
            raise Unreachable("The connection broke in mid-stream.")
        await asyncio.sleep(self._delay)
        self._entry.chunks += 1
        return piece

    async def aclose(self) -> None:
        self._entry.close(early=True)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
