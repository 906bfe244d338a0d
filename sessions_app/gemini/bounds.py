"""Bounds on what an endpoint may send: bytes as they travel, events, nesting, no compression.

Bytes are counted before they are joined, decoded or parsed, so that no answer costs much more memory than
its bound.
"""

from collections.abc import AsyncIterator
from typing import Protocol

import httpx2

from sessions_app.error_codes import RefusalCode
from sessions_app.errors import AnswerRefused
from sessions_app.gemini import unpacking
from sessions_app.prompt import wire

EVENT_LIMIT = 32_000_000
"""Bytes of one event of a stream; the largest seen are images of some megabytes."""

ANSWER_LIMIT = 64_000_000
"""Bytes of one streamed response, and of the responses of one answer together (`runs/reply_progress`)."""

UNARY_LIMIT = 4_000_000
"""Bytes of any other response: a count, a cache, a list of 1,000 models or caches."""

ERROR_LIMIT = 1_000_000
"""Bytes that are read of the body of an error."""


class Keep(Protocol):
    def __call__(self, body: bytes, *, is_cut: bool = False) -> None:
        """Takes what is no answer, and whether it is the beginning only."""


_STREAMED = (":streamGenerateContent", "/chat/completions")
_LENGTH_HEADERS = ("content-length", "content-encoding", "transfer-encoding")


class BoundedStream(httpx2.AsyncByteStream):
    """A response's bytes as they travel, up to `limit`. Raises AnswerRefused beyond it."""

    def __init__(self, inner: httpx2.AsyncByteStream, limit: int) -> None:
        self._inner = inner
        self._limit = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for packet in self._inner:
            size += len(packet)
            if size > self._limit:
                raise AnswerRefused(RefusalCode.ANSWER_TOO_LARGE, limit=self._limit)
            yield packet

    async def aclose(self) -> None:
        await self._inner.aclose()


def forget(body: bytes, *, is_cut: bool = False) -> None:
    """The `Keep` of requests that leave no evidence."""


async def bounded(request: httpx2.Request, response: httpx2.Response, keep: Keep = forget) -> httpx2.Response:
    """The response with its bytes bounded: a stream as a stream, any other one read already.

    Of an error as much is returned as is read of it, nothing when it is nested too deeply or compressed
    otherwise than by gzip or deflate: its status counts. `keep` gets what was read. Raises AnswerRefused.
    """
    if not response.is_success:
        return await _error(response, keep)
    try:
        encoding = response.headers.get("content-encoding", "identity")
        if encoding != "identity":
            raise AnswerRefused(RefusalCode.ANSWER_COMPRESSED, encoding=encoding[:40])
        if request.url.path.endswith(_STREAMED):
            response.stream = BoundedStream(_stream(response), ANSWER_LIMIT)
            return response
        body = b"".join([packet async for packet in BoundedStream(_stream(response), UNARY_LIMIT)])
        check_nesting(body)
    except BaseException:
        await response.aclose()
        raise
    return await _read(response, body)


def check_nesting(body: bytes) -> None:
    """Raises AnswerRefused for JSON that would cost too much to parse."""
    if wire.is_too_complex(body):
        limits = {"levels": wire.DEPTH_LIMIT, "containers": wire.CONTAINER_LIMIT}
        raise AnswerRefused(RefusalCode.ANSWER_TOO_COMPLEX, **limits)


async def _error(response: httpx2.Response, keep: Keep) -> httpx2.Response:
    body = bytearray()
    encoding = response.headers.get("content-encoding", "identity")
    is_packed = unpacking.is_known(encoding)
    is_read = is_packed or encoding == "identity"
    try:
        if is_read:
            async for packet in _stream(response):
                body += packet[: ERROR_LIMIT - len(body)]
                if len(body) >= ERROR_LIMIT:
                    break
    except BaseException:
        keep(b"" if is_packed else bytes(body), is_cut=True)
        raise
    text, is_cut = bytes(body), not is_read or len(body) >= ERROR_LIMIT
    if is_packed:
        text, is_cut = unpacking.unpacked(text, encoding, ERROR_LIMIT)
    keep(text, is_cut=is_cut)
    return await _read(response, b"" if wire.is_too_complex(text) else text)


async def _read(response: httpx2.Response, body: bytes) -> httpx2.Response:
    await response.aclose()
    headers = [(name, value) for name, value in response.headers.items() if name not in _LENGTH_HEADERS]
    extensions = response.extensions
    return httpx2.Response(response.status_code, headers=headers, content=body, extensions=extensions)


def _stream(response: httpx2.Response) -> httpx2.AsyncByteStream:
    stream = response.stream
    assert isinstance(stream, httpx2.AsyncByteStream)
    return stream
