"""One server for one person, as long as it is used."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from time import monotonic
from typing import Any

import anyio
import httpx2
import mcp_types
from mcp import Client, MCPError
from mcp.client.session import ClientSession
from pydantic import ValidationError

from sessions_app.errors import McpServerFailed, ToolError
from sessions_app.mcp.listing import Listing, RawTool, listing_of
from sessions_app.mcp.refusals import refusal_words
from sessions_app.mcp.results import response_of
from sessions_app.mcp.spec import ServerSpec
from sessions_app.mcp.transports import TooLarge, open_transport
from sessions_app.mcp_codes import ListingLoss, ServerProblem, ServerTransport

PAGE_LIMIT = 50
"""Pages of one list of tools."""

RAW_TOOL_LIMIT = 1_000
"""Tools that are read of a list; `listing.TOOL_LIMIT` of them are kept."""

RELIST_PAUSE = 10.0
"""Seconds between two lists, however often a server says that its list has changed."""

CLIENT = mcp_types.Implementation(name="pipeweb", version="1")

CODES: Mapping[type[BaseException], ServerProblem] = {
    TooLarge: ServerProblem.TOO_LARGE,
    httpx2.HTTPError: ServerProblem.UNREACHABLE,
    ValidationError: ServerProblem.UNREADABLE,
}

FAILURES = (McpServerFailed, MCPError, ValidationError, httpx2.HTTPError, OSError, ValueError, RuntimeError)
"""What the SDK raises for a server that does not do as it should; streams that were closed are among them."""

TakeListing = Callable[[ServerSpec, Listing], Awaitable[None]]

# It logs what it could not read, with the text.
logging.getLogger("mcp").setLevel(logging.CRITICAL + 1)


class Connection:
    """Starts at once. Ends after `idle_seconds` without a call, with its server, or by `close`."""

    def __init__(self, spec: ServerSpec, take_listing: TakeListing) -> None:
        self.spec = spec
        self.used_at = monotonic()
        self.calls = 0
        self.failure: McpServerFailed | None = None
        self._take_listing = take_listing
        self._ended = asyncio.Event()
        self._stopping = asyncio.Event()
        self._has_changed = asyncio.Event()
        self._timer: asyncio.Timeout | None = None
        self._ready: asyncio.Future[ClientSession] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._serve())

    @property
    def is_over(self) -> bool:
        return self._task.done() or self._ended.is_set() or self._stopping.is_set()

    async def call(self, tool: str, args: Mapping[str, Any]) -> dict[str, Any]:
        """The response. Raises McpServerFailed where the server cannot be used, ToolError for its error."""
        self.calls, self.used_at = self.calls + 1, monotonic()
        try:
            session = await asyncio.shield(self._ready)
            return response_of(await self._ask(session, tool, args), self.spec.secrets)
        finally:
            self.calls, self.used_at = self.calls - 1, monotonic()

    async def ready(self) -> None:
        """Raises McpServerFailed."""
        await asyncio.shield(self._ready)

    async def close(self) -> None:
        """Does not wait for a start or a list that is under way."""
        self._stopping.set()
        if self._timer is not None and not self._timer.expired():
            self._timer.reschedule(0.0)
        await asyncio.wait([self._task])

    async def _ask(
        self, session: ClientSession, tool: str, args: Mapping[str, Any]
    ) -> mcp_types.CallToolResult:
        # Not `call_tool`: it would check the result by a schema of the server's, patterns included.
        params = mcp_types.CallToolRequestParams(name=tool, arguments=dict(args))
        request = mcp_types.CallToolRequest(params=params)
        seconds = self.spec.call_seconds
        try:
            async with asyncio.timeout(seconds):
                return await session.send_request(request, mcp_types.CallToolResult)
        except TimeoutError as error:
            raise ToolError(
                f"The tool took longer than {seconds:g} seconds.",
                hint="It may have run all the same. Find out before calling it again.",
            ) from error
        except MCPError as error:
            if error.code == mcp_types.CONNECTION_CLOSED:
                raise McpServerFailed(ServerProblem.ENDED) from error
            if error.code == mcp_types.PARSE_ERROR:
                raise McpServerFailed(ServerProblem.UNREADABLE) from error
            words = refusal_words(error.message, self.spec.secrets)
            raise ToolError(words or "The server refused the call.", hint="It says so.") from error
        except ValidationError as error:
            raise McpServerFailed(ServerProblem.UNREADABLE) from error
        except (anyio.ClosedResourceError, anyio.BrokenResourceError, httpx2.TransportError) as error:
            raise McpServerFailed(ServerProblem.ENDED) from error

    async def _serve(self) -> None:
        failure = McpServerFailed(ServerProblem.ENDED)
        try:
            await self._hold()
        except (BaseExceptionGroup, *FAILURES) as error:
            failure = self._failure_of(_first(error))
        finally:
            self.failure = None if self._stopping.is_set() else failure
            self._ended.set()
            if not self._ready.done():
                self._ready.set_exception(failure)
                # Whoever waits gets it; where nobody does, it is no news.
                self._ready.exception()

    async def _hold(self) -> None:
        async with AsyncExitStack() as stack:
            session = await self._open(stack)
            await self._list(session)
            self._ready.set_result(session)
            while not self._stopping.is_set() and not self._ended.is_set():
                await self._wait()
                idle = not self.calls and monotonic() - self.used_at >= self.spec.idle_seconds
                if idle:
                    self._stopping.set()
                elif self._has_changed.is_set():
                    self._has_changed.clear()
                    await self._list(session)

    async def _open(self, stack: AsyncExitStack) -> ClientSession:
        transport: Any = open_transport(self.spec, self._ended)
        client = Client(transport, cache=None, client_info=CLIENT, message_handler=self._take_message)
        async with self._in_time(self.spec.start_seconds, ServerProblem.START_TIMEOUT):
            return (await stack.enter_async_context(client)).session

    @asynccontextmanager
    async def _in_time(self, seconds: float, problem: ServerProblem) -> AsyncIterator[None]:
        """Ends what it encloses after these seconds, and by `close`. Raises McpServerFailed."""
        if self._stopping.is_set():
            raise McpServerFailed(ServerProblem.ENDED)
        try:
            async with asyncio.timeout(seconds) as self._timer:
                yield
        except TimeoutError as error:
            if self._stopping.is_set():
                raise McpServerFailed(ServerProblem.ENDED) from error
            raise McpServerFailed(problem, seconds=seconds) from error
        finally:
            self._timer = None

    async def _wait(self) -> None:
        """Until something happens, or might have."""
        left = max(0.05, self.spec.idle_seconds - (monotonic() - self.used_at))
        seconds = min(left if not self.calls else self.spec.idle_seconds, 60.0)
        waits = [asyncio.create_task(event.wait()) for event in (self._stopping, self._ended)]
        if self._has_changed.is_set():
            seconds = min(seconds, RELIST_PAUSE)
        else:
            waits.append(asyncio.create_task(self._has_changed.wait()))
        try:
            await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in waits:
                one.cancel()
            await asyncio.gather(*waits, return_exceptions=True)

    async def _list(self, session: ClientSession) -> None:
        """All pages, within bounds; the pause after it keeps a server from listing without an end."""
        async with self._in_time(self.spec.list_seconds, ServerProblem.LIST_TIMEOUT):
            tools, cut = await _all_tools(session)
        # Schemas can be large: everybody else's requests go on meanwhile.
        listing = await asyncio.to_thread(listing_of, self.spec.name, tools, cut)
        await self._take_listing(self.spec, listing)

    async def _take_message(self, message: Any) -> None:
        if isinstance(message, mcp_types.ToolListChangedNotification):
            asyncio.get_running_loop().call_later(RELIST_PAUSE, self._has_changed.set)

    def _failure_of(self, error: BaseException) -> McpServerFailed:
        """What kept the server from serving, or ended it; its own words only where it refused."""
        if isinstance(error, McpServerFailed):
            return error
        if isinstance(error, MCPError) and error.code != mcp_types.CONNECTION_CLOSED:
            if error.code == mcp_types.PARSE_ERROR:
                return McpServerFailed(ServerProblem.UNREADABLE)
            words = refusal_words(error.message, self.spec.secrets)
            return McpServerFailed(ServerProblem.REFUSED, message=words)
        is_process = self.spec.transport is ServerTransport.STDIO
        if isinstance(error, OSError) and is_process:
            return McpServerFailed(ServerProblem.NOT_STARTED, command=" ".join(self.spec.command[:1]))
        code = next((code for kind, code in CODES.items() if isinstance(error, kind)), None)
        return McpServerFailed(code or (ServerProblem.ENDED if is_process else ServerProblem.UNREACHABLE))


async def _all_tools(session: ClientSession) -> tuple[list[RawTool], list[tuple[ListingLoss, int]]]:
    tools, cursor = list[RawTool](), ""
    for _ in range(PAGE_LIMIT):
        params = mcp_types.PaginatedRequestParams(cursor=cursor) if cursor else None
        page = await session.list_tools(params=params)
        tools += [_raw(tool) for tool in page.tools]
        cursor = page.next_cursor or ""
        if not cursor:
            return tools[:RAW_TOOL_LIMIT], _cut(len(tools))
        if len(tools) >= RAW_TOOL_LIMIT:
            break
    return tools[:RAW_TOOL_LIMIT], [*_cut(len(tools)), (ListingLoss.TOO_MANY_PAGES, 1)]


def _cut(count: int) -> list[tuple[ListingLoss, int]]:
    more = count - RAW_TOOL_LIMIT
    return [(ListingLoss.TOO_MANY_TOOLS, more)] if more > 0 else []


def _raw(tool: mcp_types.Tool) -> RawTool:
    noted = tool.annotations.title if tool.annotations else ""
    return RawTool(tool.name, tool.title or noted or "", tool.description or "", tool.input_schema)


def _first(error: BaseException) -> BaseException:
    """The first error of task groups that is no group itself."""
    found = error
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return found


async def list_once(spec: ServerSpec, take_listing: TakeListing) -> None:
    """Starts the server, reads its list and ends it. Raises McpServerFailed."""
    connection = Connection(spec, take_listing)
    try:
        await connection.ready()
    finally:
        with suppress(asyncio.CancelledError):
            await connection.close()
