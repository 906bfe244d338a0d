"""The two ways to a server, both bounded: the SDK reads whatever comes."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

import anyio
import httpx2
import mcp_types
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from pydantic import ValidationError

from sessions_app.fairness import Rate
from sessions_app.mcp.guard import LINE_LIMIT
from sessions_app.mcp.spec import ServerSpec
from sessions_app.mcp_codes import ServerTransport

GUARD = Path(__file__).with_name("guard.py")

MESSAGE_BURST, MESSAGES_PER_SECOND = 500, 200.0
"""What is taken of one server, whatever it sends."""


JSON = "application/json"
MESSAGE_TYPES = (JSON, "text/event-stream")


class TooLarge(httpx2.TransportError):
    """An answer beyond LINE_LIMIT, or one that is compressed."""


class BoundedNetwork(httpx2.AsyncBaseTransport):
    """A transport whose answers are bounded: one of JSON as a whole, events by the SDK one by one.

    The SDK tells in words of its own of an answer that is no message; here it becomes an error with status
    and type, unless the server gave its reason.
    """

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
        if request.method == "POST" and _is_no_message(response):
            return await _refusal(response)
        if response.status_code == 200 and _type_of(response) == JSON:
            return await _told_apart(response)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


def _is_no_message(response: httpx2.Response) -> bool:
    is_known = _type_of(response) in MESSAGE_TYPES
    return response.status_code >= 400 or (response.status_code == 200 and not is_known)


async def _refusal(response: httpx2.Response) -> httpx2.Response:
    """A response that the SDK can read: with the server's error, or one of ours. Raises TooLarge."""
    status, kind = response.status_code, _type_of(response)
    body = await response.aread() if kind == JSON else b""
    await response.aclose()
    if status < 400:
        error = mcp_types.ErrorData(code=mcp_types.PARSE_ERROR, message=f"HTTP {status}, {kind}")
        # The SDK reads the error of an answer with such a status only.
        status = 400
    else:
        error = _error_in(body) or mcp_types.ErrorData(
            code=mcp_types.INTERNAL_ERROR, message=f"HTTP {status}"
        )
    told = mcp_types.JSONRPCError(jsonrpc="2.0", id=None, error=error).model_dump_json(by_alias=True)
    return httpx2.Response(status, headers={"content-type": JSON}, content=told.encode())


async def _told_apart(response: httpx2.Response) -> httpx2.Response:
    """The response, with an error of the server in the code of `own_error`. Raises TooLarge."""
    body = await response.aread()
    await response.aclose()
    told = _message_in(body)
    if isinstance(told, mcp_types.JSONRPCError):
        body = own_error(told).model_dump_json(by_alias=True).encode()
    headers = {key: value for key, value in response.headers.items() if key != "content-length"}
    return httpx2.Response(response.status_code, headers=headers, content=body)


def _error_in(body: bytes) -> mcp_types.ErrorData | None:
    """The error that the server sent."""
    message = _message_in(body)
    return own_error(message).error if isinstance(message, mcp_types.JSONRPCError) else None


def _message_in(body: bytes) -> mcp_types.JSONRPCMessage | None:
    try:
        return jsonrpc_message_adapter.validate_json(body, by_name=False)
    except ValidationError:
        return None


def own_error(message: mcp_types.JSONRPCError) -> mcp_types.JSONRPCError:
    """The error under another code than -32000, which the SDK takes for a closed connection."""
    if message.error.code != mcp_types.CONNECTION_CLOSED:
        return message
    error = message.error.model_copy(update={"code": mcp_types.INTERNAL_ERROR})
    return message.model_copy(update={"error": error})


def _type_of(response: httpx2.Response) -> str:
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()


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
    is_process = spec.transport is ServerTransport.STDIO
    way = _process(spec) if is_process else _network(spec)
    async with way as (read, write):
        sender, receiver = anyio.create_memory_object_stream[Any](0)

        async def relay() -> None:
            pace = Rate(MESSAGE_BURST, MESSAGES_PER_SECOND)
            try:
                async with sender:
                    async for message in read:
                        await asyncio.sleep(pace.take())
                        await sender.send(_of_process(message) if is_process else message)
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


def _of_process(message: Any) -> Any:
    """A message of a process; the SDK makes none of its own there, as it does for lost streams of HTTP."""
    if isinstance(message, SessionMessage) and isinstance(message.message, mcp_types.JSONRPCError):
        return replace(message, message=own_error(message.message))
    return message


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
