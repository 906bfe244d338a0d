import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from sessions_app.gemini.event_stream import StreamChunk
from sessions_app.gemini.gateway import Gateway
from sessions_app.gemini.sdk import PublicSender
from tests.gemini.upstream import Upstream

KEY = "not-a-real-key-0123456789"
BODY = b'{"contents":[{"role":"user","parts":[{"text":"h\xc3\xa9"}]}]}'
MODEL = "gemini-3-flash-preview"


@pytest.fixture
async def upstream() -> AsyncIterator[Upstream]:
    async with listening() as upstream:
        yield upstream


@asynccontextmanager
async def listening() -> AsyncIterator[Upstream]:
    """An Upstream on a free port of its own."""
    upstream = Upstream()
    server = await asyncio.start_server(upstream.serve, "127.0.0.1", 0, backlog=512, limit=2**24)
    upstream.port = server.sockets[0].getsockname()[1]
    async with server:
        yield upstream


@pytest.fixture
async def gateway(upstream: Upstream) -> AsyncIterator[Gateway]:
    """Over the transport that production uses."""
    gateway = Gateway(api_key=KEY, base_url=upstream.url)
    yield gateway
    await gateway.aclose()


@pytest.fixture
async def public_gateway(upstream: Upstream) -> AsyncIterator[Gateway]:
    """As it is when the SDK's private names have changed."""
    gateway = Gateway(api_key=KEY, base_url=upstream.url)
    gateway._sender = PublicSender(gateway._client)
    yield gateway
    await gateway.aclose()


@pytest.fixture(params=["direct", "public"])
def either(request: pytest.FixtureRequest) -> Gateway:
    """The gateway over each sender in turn."""
    name = "gateway" if request.param == "direct" else "public_gateway"
    found: Gateway = request.getfixturevalue(name)
    return found


async def read(gateway: Gateway, body: bytes = BODY) -> list[StreamChunk]:
    async with gateway.stream(MODEL, body) as chunks:
        return [chunk async for chunk in chunks]


async def bodies(gateway: Gateway) -> list[bytes]:
    return [chunk.body for chunk in await read(gateway)]
