"""Two servers of the registries, one in Python and one for Node, as `.ci/clients` installs them."""

import asyncio
import os
import re
from collections.abc import AsyncIterator

import pytest

from sessions_app.context.outbound import provider_transport
from sessions_app.errors import ToolError
from sessions_app.mcp.spec import ServerSpec
from sessions_app.mcp_codes import ServerTransport
from tests.clients.environments import COMMAND, JAVASCRIPT, MCP_SERVERS
from tests.conftest import IN_CI
from tests.deployment.programs import free_port
from tests.mcp.test_connections import Watched, watched

__all__ = ["watched"]

ABSENT = [one.name for one in (MCP_SERVERS, JAVASCRIPT) if not one.is_ready]
if ABSENT and IN_CI:
    raise pytest.UsageError(f"CI needs the MCP servers: {COMMAND}")
pytestmark = pytest.mark.skipif(bool(ABSENT), reason=f"no environment for {', '.join(ABSENT)}: {COMMAND}")

PROGRAM = MCP_SERVERS.python.parent / "mcp-server-time"
EVERYTHING = (
    JAVASCRIPT.folder / "node_modules" / "@modelcontextprotocol" / "server-everything" / "dist" / "index.js"
)


def clock() -> ServerSpec:
    return ServerSpec("clock", "clock", ServerTransport.STDIO, (str(PROGRAM), "--local-timezone", "UTC"))


def everything(transport: ServerTransport, *, port: int = 0) -> ServerSpec:
    command = (str(JAVASCRIPT.node.resolve()), str(EVERYTHING), "stdio")
    if transport is ServerTransport.STDIO:
        return ServerSpec("everything", "all", transport, command)
    return ServerSpec(
        "everything", "all", transport, url=f"http://127.0.0.1:{port}/mcp", network=provider_transport
    )


@pytest.fixture
async def served() -> AsyncIterator[int]:
    """The port of the Node server over streamable HTTP."""
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        *(JAVASCRIPT.node, EVERYTHING, "streamableHttp"),
        env={**os.environ, "PORT": str(port)},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        for _ in range(300):
            if await answers(port):
                break
            await asyncio.sleep(0.1)
        yield port
    finally:
        process.kill()
        await process.wait()


async def answers(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


async def test_the_python_server_tells_the_time(watched: Watched) -> None:
    said = await watched.call(clock(), "get_current_time", timezone="Europe/Berlin")
    assert re.search(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}", str(said))
    (listing,) = watched.listings
    assert {tool.function for tool in listing.tools} == {"clock__get_current_time", "clock__convert_time"}
    with pytest.raises(ToolError):
        await watched.call(clock(), "get_current_time", timezone="Nowhere/None")
    assert watched.connections.count == 1


async def test_the_node_server_answers_over_its_standard_streams(watched: Watched) -> None:
    spec = everything(ServerTransport.STDIO)
    assert "hello" in str(await watched.call(spec, "echo", message="hello"))
    assert "5" in str(await watched.call(spec, "get-sum", a=2, b=3))
    assert {"all__echo", "all__get-sum"} <= {tool.function for tool in watched.listings[0].tools}


async def test_the_node_server_answers_over_http(watched: Watched, served: int) -> None:
    spec = everything(ServerTransport.HTTP, port=served)
    assert "hello" in str(await watched.call(spec, "echo", message="hello"))
    assert "hello" in str(await watched.call(spec, "echo", person=2, message="hello"))
    assert watched.connections.count == 2 and watched.failures == []
