"""A server that sends what Chainlit 2.12 was seen to send."""

import asyncio
import json
import os
from typing import Any

from websockets.asyncio.server import ServerConnection, serve

from tests.bench.relay_chainlit import PATH
from tests.bench.relay_client import ClientPlan, measure
from tests.bench.relay_load import Load, LoadResult


class Chainlit:
    """One event per chunk; a conversation begins with the end of a task."""

    def __init__(self, chunks: int, *, pings: bool = False, hangs_up: bool = False) -> None:
        self.chunks = chunks
        self.pings = pings
        self.hangs_up = hangs_up
        self.asked: list[str] = []
        self.pongs = 0

    async def __call__(self, socket: ServerConnection) -> None:
        assert socket.request is not None and socket.request.path == PATH
        await socket.send('0{"sid":"a","upgrades":[],"pingTimeout":20000,"pingInterval":25000}')
        async for frame in socket:
            await self.answer(socket, str(frame))

    async def answer(self, socket: ServerConnection, frame: str) -> None:
        if frame == "3":
            self.pongs += 1
        elif frame.startswith("40"):
            await socket.send('40{"sid":"b"}')
        else:
            name, *given = json.loads(frame.removeprefix("42"))
            if name == "connection_successful":
                await emit(socket, "task_end", {})
                await emit(socket, "clear_ask", {})
            else:
                self.asked.append(given[0]["message"]["output"])
                await self.stream(socket)

    async def stream(self, socket: ServerConnection) -> None:
        if self.hangs_up:
            await socket.close()
            return
        await emit(socket, "task_start", {})
        await emit(socket, "stream_start", {"output": "@0000000000000001 and so on"})
        for number in range(2, self.chunks + 1):
            if self.pings:
                await socket.send("2")
            await emit(socket, "stream_token", {"token": f"@{number:016d} and so on"})
        await emit(socket, "update_message", {"output": "@0000000000000001 and all of it again"})
        await emit(socket, "task_end", {})


async def emit(socket: ServerConnection, name: str, given: dict[str, Any]) -> None:
    await socket.send("42" + json.dumps([name, given]))


async def under(load: Load, server: Chainlit) -> LoadResult:
    async with asyncio.timeout(60), serve(server, "127.0.0.1", 0, compression=None) as running:
        url = f"http://127.0.0.1:{next(iter(running.sockets)).getsockname()[1]}"
        plan = ClientPlan("chainlit", [url], [os.getpid()], load, [""] * load.streams)
        return await measure(plan)


async def test_every_chunk_is_counted_once() -> None:
    server = Chainlit(chunks=5)
    result = await under(Load(streams=2, pace=1, chunks=5), server)
    assert (len(result.relays), result.faults) == (10, [])
    assert all("chunks=5" in text for text in server.asked)


async def test_a_ping_within_an_answer_is_answered() -> None:
    server = Chainlit(chunks=3, pings=True)
    assert (await under(Load(streams=1, pace=1, chunks=3), server)).faults == []
    assert server.pongs


async def test_a_lost_connection_is_a_fault() -> None:
    result = await under(Load(streams=1, pace=1, chunks=3), Chainlit(chunks=3, hangs_up=True))
    assert result.faults
