"""Requests and responses independent of any server, and the parts that most responses share."""

import asyncio
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from pydantic.alias_generators import to_snake

from sessions_app.emulator.api_errors import (
    ApiError,
    FieldViolation,
    bad_fields,
    missing_model,
    unknown_model,
)
from sessions_app.emulator.catalogue import Model, find_model
from sessions_app.emulator.framing import FAULT_POSITION, JSON_TYPE, NO_FAULT, StreamFault, array, pretty
from sessions_app.emulator.journal import JournalEntry
from sessions_app.emulator.wire_model import JsonObject
from sessions_app.errors import PipewebError

_DEFAULT_PAGE, _LARGEST_PAGE = 50, 1_000
_LONGEST_NUMBER = 9
_GZIP = zlib.MAX_WBITS | 16
"""The `wbits` that give zlib's stream the header and trailer of gzip."""


@dataclass(frozen=True, slots=True)
class ApiRequest:
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
        """Scheme and host under which the client reached this service."""
        return f"{self.scheme}://{self.headers.get('host', 'localhost')}"

    @property
    def bearer(self) -> str:
        """The key as OpenAI clients send it."""
        kind, _, token = self.headers.get("authorization", "").partition(" ")
        return token.strip() if kind.lower() == "bearer" else ""

    @property
    def wants_events(self) -> bool:
        return self.query.get("alt") == "sse"

    @property
    def is_openai(self) -> bool:
        return "/openai/" in self.path

    @property
    def is_interaction(self) -> bool:
        return "/interactions" in self.path


@dataclass(frozen=True, slots=True)
class RouteMatch:
    """A request at its route. `name` is the resource named in the path, or ""."""

    request: ApiRequest
    entry: JournalEntry
    version: str
    name: str = ""

    def model(self, method: str, name: str = "") -> Model:
        """Raises ApiError (404) for a model that does not exist or lacks the method."""
        wanted = (name or self.name).removeprefix("models/")
        model = find_model(wanted)
        if model is None or method not in model.methods:
            raise unknown_model(wanted, self.version, method)
        return model

    def described_model(self) -> Model:
        """Raises ApiError (404) for a model that does not exist."""
        model = find_model(self.name)
        if model is None:
            raise missing_model(self.name.removeprefix("models/"), self.version)
        return model

    def page(self, name: str, resources: Sequence[JsonObject]) -> JsonObject:
        """One page of a list, `{}` when it is empty; a page token is the index of the page's first entry."""
        start = self._whole_number("pageToken")
        end = start + min(self._whole_number("pageSize") or _DEFAULT_PAGE, _LARGEST_PAGE)
        shown = list(resources[start:end])
        following = {"nextPageToken": str(end)} if end < len(resources) else {}
        return {name: shown, **following} if shown else {}

    def _whole_number(self, name: str) -> int:
        text = self.request.query.get(name, "") or "0"
        if not (text.isascii() and text.isdecimal() and len(text) <= _LONGEST_NUMBER):
            field = to_snake(name)
            raise bad_fields(FieldViolation(field, f"Invalid value at '{field}' (TYPE_INT32), \"{text}\""))
        return int(text)


Sleep = Callable[[float], Awaitable[None]]


class ConnectionClosed(PipewebError):
    """The connection ends here: by a reset, or by an ordinary close when `is_clean`."""

    def __init__(self, *, is_clean: bool = False) -> None:
        super().__init__("The connection broke in mid-stream.")
        self.is_clean = is_clean


class Body:
    """The pieces of a response in order, `delay` seconds before each.

    Closing it before the end means that the client left, which the journal entry records. A
    `fault` that ends the connection raises ConnectionClosed, for the server to carry out.
    """

    def __init__(
        self,
        pieces: Iterable[bytes],
        entry: JournalEntry,
        *,
        delay: float = 0.0,
        fault: StreamFault = NO_FAULT,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._pieces = iter(pieces)
        self._entry = entry
        self._delay = delay
        self._fault = fault
        self._sleep = sleep
        self._compressor: zlib._Compress | None = None

    def paced(self, delay: float, sleep: Sleep) -> Self:
        """Itself, before anything was sent, with `delay` seconds before each piece."""
        self._delay, self._sleep = delay, sleep
        return self

    def compress(self) -> None:
        """Sends the rest with gzip. Each piece leaves whole, so that an event does not wait for the next;
        the journal keeps what was compressed."""
        self._compressor = zlib.compressobj(wbits=_GZIP)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        if not self._entry.under_way:
            raise StopAsyncIteration
        piece = next(self._pieces, None)
        if piece is None:
            self._entry.close(early=False)
            return self._compressed_end()
        if self._entry.chunks == self._fault.cut_after:
            self._entry.close(early=False)
            raise ConnectionClosed(is_clean=self._fault.is_clean)
        await self._sleep(self._pause())
        self._entry.send(piece)
        if self._compressor is None:
            return piece
        return self._compressor.compress(piece) + self._compressor.flush(zlib.Z_SYNC_FLUSH)

    def _compressed_end(self) -> bytes:
        """The trailer of what was compressed; without compression there is nothing left."""
        if self._compressor is None:
            raise StopAsyncIteration
        return self._compressor.flush()

    def _pause(self) -> float:
        """Seconds before the next piece."""
        if self._fault.stall and self._entry.chunks == FAULT_POSITION:
            return self._fault.stall
        return self._delay if self._entry.chunks else self._delay + self._fault.first_delay

    async def aclose(self) -> None:
        self._entry.close(early=True)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


@dataclass(frozen=True, slots=True)
class ApiResponse:
    status: int
    headers: Mapping[str, str]
    body: Body


def json_response(
    entry: JournalEntry, value: Any, *, headers: Mapping[str, str] | None = None
) -> ApiResponse:
    entry.status = 200
    return ApiResponse(200, {"content-type": JSON_TYPE, **(headers or {})}, Body([pretty(value)], entry))


def error_response(entry: JournalEntry, request: ApiRequest, error: ApiError) -> ApiResponse:
    """The error object; in a list of one where the provider answers with lists."""
    is_array = request.path.endswith(":streamGenerateContent") and not request.wants_events
    is_array = is_array or request.is_openai or request.is_interaction
    payload = error.payload()
    body = b"".join(array([payload])) if is_array else pretty(payload)
    entry.status = error.code
    return ApiResponse(error.code, {"content-type": JSON_TYPE, **error.headers}, Body([body], entry))
