"""Tools of MCP servers among those of the installation, each for one person."""

import asyncio
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from sessions_app.context.mcp_logs import LISTING
from sessions_app.context.mcp_servers import any_servers, note_failure, spec_of, store_listing
from sessions_app.database import database_sync_to_async
from sessions_app.errors import McpServerFailed, ToolError
from sessions_app.mcp_codes import FUNCTION_SEPARATOR, Approval
from sessions_app.models import McpServer, McpTool, Run
from sessions_app.tools import Tool, Toolbox
from sessions_app.tools.toolbox import RemoteTool
from sessions_app.wording.mcp import problem_texts

if TYPE_CHECKING:
    from sessions_app.mcp.connections import Connections
    from sessions_app.mcp.listing import Listing
    from sessions_app.mcp.spec import ServerSpec

SPARE_SECONDS = 5.0
"""Added to the time-outs of the server itself, which end a call with a better reason."""

_connections: "WeakKeyDictionary[asyncio.AbstractEventLoop, Connections]" = WeakKeyDictionary()


def tools_of(person: int) -> tuple[Tool, ...]:
    """The tools that this person may switch on: no query where no server is entered."""
    if not any_servers():
        return ()
    return tuple(_tool(row, person) for row in McpTool.objects.usable_by(person).offered())


def toolbox_of_run(run: Run, base: Toolbox, kept: Collection[int] = ()) -> Toolbox:
    """The tools of a run; those of servers stay what they are until it is over, but not whether they ask.

    `kept` are the rows with which a run that waited has begun.
    """
    rows = McpTool.objects.usable_by(run.session.owner_id)
    chosen = rows.filter(pk__in=kept) if kept else rows.offered()
    return base.with_tools(_tool(row, run.session.owner_id) for row in chosen)


def names_servers(chosen: Collection[str] | None) -> bool:
    """Whether tools of servers are among these: nothing is read where none is."""
    return chosen is not None and any(FUNCTION_SEPARATOR in name for name in chosen)


def kept_rows(tools: Iterable[Tool]) -> list[int]:
    """What `toolbox_of_run` takes back."""
    return [tool.remote.row for tool in tools if tool.remote is not None]


async def close_connections() -> None:
    """Ends the servers that this event loop has started."""
    connections = _connections.pop(asyncio.get_running_loop(), None)
    if connections is not None:
        await connections.close()


def _tool(row: McpTool, person: int) -> Tool:
    async def call(**args: Any) -> dict[str, Any]:
        return await _call(row, person, args)

    server, declared = row.server, row.declared
    return Tool(
        name=row.function,
        function=call,
        group=f"MCP: {server.title}",
        title=row.title,
        description=declared["description"],
        declaration=declared,
        arguments=None,
        takes_context=False,
        is_standard=False,
        has_effects=True,
        timeout=server.start_seconds + server.list_seconds + server.call_seconds + SPARE_SECONDS,
        remote=RemoteTool(
            row=row.pk,
            server=server.pk,
            server_title=server.title,
            tool=row.name,
            sha256=row.sha256,
            losses=tuple((code, place) for code, place in row.losses),
        ),
    )


async def _call(row: McpTool, person: int, args: dict[str, Any]) -> dict[str, Any]:
    try:
        spec = await database_sync_to_async(_read)(row, person)
        return await connections().call(spec, person, row.name, args)
    except McpServerFailed as failure:
        sentence, hint = problem_texts(failure.reason, failure.figures)
        raise ToolError(f"{row.server.title}: {sentence}", hint=hint) from failure


def _read(row: McpTool, person: int) -> "ServerSpec":
    """The server as it is now: what was switched off, forbidden or taken from a person meanwhile is not
    called.
    """
    allowed = McpTool.objects.usable_by(person).filter(pk=row.pk).first()
    if allowed is None or allowed.effective_approval is Approval.NEVER:
        raise ToolError("This tool may no longer be used.", hint="Go on without it.")
    return spec_of(allowed.server, person)


def connections() -> "Connections":
    """Those of this event loop. The SDK is imported with the first one."""
    from sessions_app.mcp.connections import Connections

    loop = asyncio.get_running_loop()
    if loop not in _connections:
        _connections[loop] = Connections(_take_listing, _note_failure)
    return _connections[loop]


async def _take_listing(spec: "ServerSpec", listing: "Listing") -> None:
    await database_sync_to_async(store_listing)(spec.key, listing)


async def _note_failure(spec: "ServerSpec", failure: McpServerFailed) -> None:
    await database_sync_to_async(note_failure)(spec.key, failure)


def list_now(server: McpServer) -> McpServerFailed | None:
    """Starts the server, stores its list of tools and ends it; returns what kept it from that.

    For a view, which has no event loop.
    """
    from sessions_app.mcp.connection import list_once

    found: list[Listing] = []

    async def take(spec: "ServerSpec", listing: "Listing") -> None:
        found.append(listing)

    try:
        asyncio.run(list_once(spec_of(server, LISTING), take))
    except McpServerFailed as failure:
        note_failure(str(server.public), failure)
        return failure
    for listing in found:
        store_listing(str(server.public), listing)
    return None
