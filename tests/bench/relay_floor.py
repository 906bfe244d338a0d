"""The floor of `bench relay`: what Channels, a server and one upstream call cost with nothing between them.

No database, no session, no event log: a message goes to the upstream, each text of its answer to the socket.
It is served by Daphne, and by uvicorn on uvloop; BENCH_UPSTREAM names the upstream.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import aiohttp
import django
import orjson
from channels.generic.websocket import AsyncWebsocketConsumer
from channels.routing import ProtocolTypeRouter
from django.conf import settings

from tests.bench.processes import Server
from tests.bench.relay_adapters import FINISHED
from tests.bench.relay_client import ServedSystem
from tests.bench.relay_direct import request_for

PLACE = "tests.bench.relay_floor:application"
DAPHNE, UVICORN = "bare Daphne", "bare uvicorn"
SERVERS = {
    DAPHNE: (("-m", "daphne", "-p", "0", PLACE), r"TCP address 127\.0\.0\.1:(\d+)"),
    UVICORN: (
        # uvicorn's fastest parts, named: what is installed beside it does not change the floor.
        (
            *("-m", "uvicorn", "--port", "0", "--loop", "uvloop", "--http", "httptools"),
            *("--ws", "websockets-sansio", PLACE),
        ),
        r"http://127\.0\.0\.1:(\d+)",
    ),
}
"""By name: the command, and the greeting that says the port."""


@cache
def session() -> aiohttp.ClientSession:
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))


class Relay(AsyncWebsocketConsumer):
    channel_layer_alias = ""

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        url, body = request_for(os.environ["BENCH_UPSTREAM"], text_data or "")
        async with session().post(url, data=body) as response:
            async for line in response.content:
                if line.startswith(b"data:"):
                    text = orjson.loads(line[5:])["candidates"][0]["content"]["parts"][0]["text"]
                    await self.send(text_data=orjson.dumps({"type": "delta", "text": text}).decode())
        await self.send(text_data=FINISHED.decode())


@contextmanager
def bare_relay(name: str, folder: Path, upstream: str) -> Iterator[ServedSystem]:
    """The relay on one of SERVERS, for as long as the block lasts."""
    command, greeting = SERVERS[name]
    with Server(name.replace(" ", "-"), command, greeting, folder, BENCH_UPSTREAM=upstream) as server:
        yield ServedSystem(name, "websocket", [f"http://127.0.0.1:{server.port}"], [server.pid])


if "BENCH_UPSTREAM" in os.environ:
    settings.configure()
    django.setup()
    application = ProtocolTypeRouter({"websocket": Relay.as_asgi()})
