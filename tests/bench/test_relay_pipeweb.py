import asyncio
import os
import uuid
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from websockets.asyncio.server import Server, ServerConnection, serve

from sessions_app.errors import PipewebError
from sessions_app.events import Delta, Finished, Hello
from sessions_app.socket_commands import COMMANDS, Ack, Send
from tests.bench.relay_client import ClientPlan, ServedSystem, measure
from tests.bench.relay_load import Load, LoadResult
from tests.bench.relay_pipeweb import ACKNOWLEDGE_EVERY, SEAT, Pipeweb, PipewebAdapter, Seat

RUN = uuid.UUID(int=7)


class Product:
    """Speaks the server's side of the chat socket: one delta per chunk, then the end."""

    def __init__(self, chunks: int, *, status: Any = "completed", hangs_up: bool = False) -> None:
        self.chunks = chunks
        self.status = status
        self.hangs_up = hangs_up
        self.cookies: list[str] = []
        self.sent: list[Send] = []
        self.acknowledged: list[int] = []

    async def __call__(self, socket: ServerConnection) -> None:
        assert socket.request is not None
        self.cookies.append(socket.request.headers["Cookie"])
        await socket.send(Hello(active_run=None).wire())
        async for message in socket:
            match COMMANDS.validate_json(message):
                case Send() as command:
                    self.sent.append(command)
                    await self.answer(socket)
                case Ack(seq=seq):
                    self.acknowledged.append(seq)

    async def answer(self, socket: ServerConnection) -> None:
        if self.hangs_up:
            await socket.close()
            return
        for seq in range(1, self.chunks + 1):
            text = f"@{seq:016d} and so on"
            await socket.send(Delta(run=RUN, seq=seq, step=1, kind="text", text=text).wire())
        await socket.send(Finished(run=RUN, seq=self.chunks + 1, status=self.status).wire())


async def viewed(product: Product, load: Load) -> LoadResult:
    async with asyncio.timeout(60), serve(product, "127.0.0.1", 0, compression=None) as server:
        seats = [Seat(f"session={number}", str(uuid.uuid4())) for number in range(load.streams)]
        tickets = [SEAT.dump_json(seat).decode() for seat in seats]
        url = f"http://127.0.0.1:{port_of(server)}"
        return await measure(ClientPlan("pipeweb", [url], [os.getpid()], load, tickets))


def port_of(server: Server) -> int:
    return int(next(iter(server.sockets)).getsockname()[1])


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.bench.relay_load.START_SPREAD", 0.0)


async def test_every_viewer_signs_in_asks_and_reads_every_turn() -> None:
    product = Product(chunks=3)
    sample = await viewed(product, Load(streams=2, pace=0, chunks=3, turns=2))
    assert sorted(product.cookies) == ["session=0", "session=1"]
    assert [command.text for command in product.sent] == ["Answer in chunks=3 pace=0"] * 4
    assert (len(sample.relays), len(sample.firsts), sample.faults) == (12, 4, [])


async def test_the_cost_is_that_of_the_process_the_plan_names() -> None:
    sample = await viewed(Product(chunks=3), Load(streams=1, pace=0, chunks=3))
    assert 0 < sample.cpu < 10
    assert sample.rss > 1_000_000


async def test_it_acknowledges_what_it_has_read() -> None:
    product = Product(chunks=3 * ACKNOWLEDGE_EVERY)
    await viewed(product, Load(streams=1, pace=0, chunks=product.chunks, turns=2))
    assert product.acknowledged[:2] == [ACKNOWLEDGE_EVERY, 2 * ACKNOWLEDGE_EVERY]


async def test_lost_text_is_a_fault() -> None:
    sample = await viewed(Product(chunks=2), Load(streams=1, pace=0, chunks=3))
    assert sample.faults == ["1 of 3 chunks lost"]


async def test_a_run_that_failed_is_a_fault() -> None:
    sample = await viewed(Product(chunks=3, status="failed"), Load(streams=1, pace=0, chunks=3))
    assert sample.faults == ["finished, but not completed"]


async def test_a_socket_that_closes_is_a_fault_in_every_turn_and_nobody_waits() -> None:
    sample = await viewed(Product(chunks=3, hangs_up=True), Load(streams=1, pace=0, chunks=3, turns=2))
    assert sample.faults == ["connection lost"] * 2


def test_without_a_database_nobody_can_be_invited() -> None:
    with pytest.raises(PipewebError) as refused:
        PipewebAdapter({}).invite(1)
    assert "PIPEWEB_DATA" in refused.value.hint


def test_what_a_server_logs_as_an_error_is_a_fault_too(monkeypatch: pytest.MonkeyPatch) -> None:
    found = LoadResult([1.0], [1.0], cpu=1, rss=1, faults=["late"])
    monkeypatch.setattr(ServedSystem, "measure", lambda *_: found)
    servers: Any = [
        SimpleNamespace(port=1, pid=1, new_errors=partial(list, [line])) for line in ("lost", "broken")
    ]
    result = Pipeweb("Pipeweb", servers, {}).measure(Load(streams=1, pace=1, chunks=1))
    assert result.faults == ["late", "lost", "broken"]
