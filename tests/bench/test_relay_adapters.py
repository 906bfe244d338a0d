import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import orjson
import pytest
from aiohttp import web
from websockets.asyncio.server import ServerConnection, serve

from sessions_app.errors import PipewebError
from tests.bench.relay_adapters import ADAPTERS, FINISHED, OpenAIAdapter, adapter_of
from tests.bench.relay_client import ClientPlan, measure
from tests.bench.relay_load import Load, LoadResult

LOAD = Load(streams=2, pace=0, chunks=3, turns=2)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.bench.relay_load.START_SPREAD", 0.0)


async def used(adapter: str, url: str) -> LoadResult:
    tickets = adapter_of(adapter).invite(LOAD.streams)
    return await measure(ClientPlan(adapter, [url], [os.getpid()], LOAD, tickets))


class Completions:
    """Chat completions that stream: three texts, and the end unless it breaks off."""

    def __init__(self, *, status: int = 200, ends: bool = True) -> None:
        self.status = status
        self.ends = ends
        self.asked: list[bytes] = []

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(await request.read())
        response = web.StreamResponse(status=self.status)
        await response.prepare(request)
        for number in range(3):
            delta = {"choices": [{"delta": {"content": f"@{number:016d} and so on"}}]}
            await response.write(b"data: " + orjson.dumps(delta) + b"\n\n")
        if self.ends:
            await response.write(b"data: [DONE]\n\n")
        return response

    @asynccontextmanager
    async def served(self) -> AsyncIterator[str]:
        application = web.Application()
        application.router.add_post("/v1/chat/completions", self.answer)
        runner = web.AppRunner(application)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        try:
            yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        finally:
            await runner.cleanup()


async def test_chat_completions_are_asked_for_a_stream_and_read_to_its_end() -> None:
    server = Completions()
    async with server.served() as url:
        result = await used("openai", url)
    assert (len(result.relays), len(result.firsts), result.faults) == (12, 4, [])
    body = orjson.loads(server.asked[0])
    assert body["stream"] is True and body["messages"][0]["content"] == LOAD.message


@pytest.mark.parametrize(
    ("server", "fault"),
    [(Completions(status=503), "status 503"), (Completions(ends=False), "connection lost")],
)
async def test_a_completion_without_its_end_is_a_fault(server: Completions, fault: str) -> None:
    async with server.served() as url:
        result = await used("openai", url)
    assert result.faults == [fault] * 4


async def test_a_plain_socket_is_read_until_it_says_that_it_is_finished() -> None:
    async def answer(socket: ServerConnection) -> None:
        async for _ in socket:
            for number in range(3):
                await socket.send(f"@{number:016d} and so on")
            await socket.send(FINISHED.decode())

    async with serve(answer, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        result = await used("websocket", f"http://127.0.0.1:{port}")
    assert (len(result.relays), result.faults) == (12, [])


@pytest.mark.parametrize("name", ADAPTERS)
def test_an_adapter_is_found_by_its_name_and_by_its_path(name: str) -> None:
    assert type(adapter_of(name)) is type(adapter_of(ADAPTERS[name]))


def test_an_own_adapter_is_a_dotted_path() -> None:
    assert isinstance(adapter_of(f"{__name__}.WithKey"), WithKey)


class WithKey(OpenAIAdapter):
    headers = {"Authorization": "Bearer of-the-bench"}


@pytest.mark.parametrize("name", ["gardening", "tests.bench.nowhere.Adapter", "tests.bench.base.Adapter"])
def test_an_adapter_that_is_none_is_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(PipewebError) as refused:
        adapter_of(name)
    assert "openai" in refused.value.hint
