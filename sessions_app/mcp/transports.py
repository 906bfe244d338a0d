"""The two ways to a server, both bounded: the SDK reads whatever comes."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

import anyio
import httpx2
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from sessions_app.fairness import Rate
from sessions_app.mcp.guard import LINE_LIMIT
from sessions_app.mcp.spec import ServerSpec
from sessions_app.mcp_codes import ServerTransport

GUARD = Path(__file__).with_name("guard.py")

MESSAGE_BURST, MESSAGES_PER_SECOND = 500, 200.0
"""What is taken of one server, whatever it sends."""


class TooLarge(httpx2.TransportError):
    """An answer beyond LINE_LIMIT, or one that is compressed."""


class BoundedNetwork(httpx2.AsyncBaseTransport):
    """A transport whose answers are bounded: one of JSON as a whole, events by the SDK one by one."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise TooLarge("The answer is compressed.")
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            response.stream = BoundedStream(response.stream)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for packet in self._inner:
            size += len(packet)
            if size > LINE_LIMIT:
                raise TooLarge("The answer is too large.")
            yield packet

    async def aclose(self) -> None:
        await self._inner.aclose()


@asynccontextmanager
async def open_transport(spec: ServerSpec, ended: asyncio.Event) -> AsyncIterator[Any]:
    """The streams of a server; `ended` is set when nothing more will come. Raises OSError, httpx2 errors."""
    way = _process(spec) if spec.transport is ServerTransport.STDIO else _network(spec)
    async with way as (read, write):
        sender, receiver = anyio.create_memory_object_stream[Any](0)

        async def relay() -> None:
            pace = Rate(MESSAGE_BURST, MESSAGES_PER_SECOND)
            try:
                async with sender:
                    async for message in read:
                        await asyncio.sleep(pace.take())
                        await sender.send(message)
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                pass  # Nobody reads any more.
            finally:
                ended.set()

        async with receiver, anyio.create_task_group() as tasks:
            tasks.start_soon(relay)
            try:
                yield receiver, write
            finally:
                tasks.cancel_scope.cancel()


@asynccontextmanager
async def _process(spec: ServerSpec) -> AsyncIterator[Any]:
    """The command behind the guard (`guard`), which gives it its environment."""
    names = ",".join(spec.secrets)
    arguments = ["-I", str(GUARD), names, *spec.command]
    # What the SDK would pass on of ours is left out by the guard.
    server = StdioServerParameters(
        command=sys.executable, args=arguments, env={**spec.secrets}, encoding_error_handler="replace"
    )
    with open_stderr(spec.stderr) as errors:
        async with stdio_client(server, errlog=errors) as streams:
            yield streams


@asynccontextmanager
async def _network(spec: ServerSpec) -> AsyncIterator[Any]:
    """Redirects are followed within the origin only (the SDK), so that headers go nowhere else."""
    assert spec.network is not None
    client = httpx2.AsyncClient(
        transport=BoundedNetwork(spec.network(spec.url)),
        headers={**spec.secrets, "accept-encoding": "identity"},
        timeout=httpx2.Timeout(spec.start_seconds, read=spec.call_seconds + 5),
        trust_env=False,
    )
    async with client, streamable_http_client(spec.url, http_client=client) as streams:
        yield streams


def open_stderr(path: Path | None) -> TextIO:
    """A new file for its owner only, or nowhere."""
    if path is None:
        return Path(os.devnull).open("w", encoding="utf-8")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(FileNotFoundError):
        path.unlink()
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8")
