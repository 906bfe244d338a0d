import asyncio

import httpx2
import pytest

from sessions_app.emulator import Emulator, EmulatorTransport
from tests.emulator.helpers import FLASH, user

PATH = f"/v1beta/models/{FLASH}:streamGenerateContent?alt=sse"


def slowly(text: str = "/slow") -> dict[str, object]:
    return {"contents": [user(text)]}


async def test_chunks_arrive_one_by_one(http: httpx2.AsyncClient, emulator: Emulator) -> None:
    async with http.stream("POST", PATH, json=slowly()) as response:
        chunks = response.aiter_bytes()
        await anext(chunks)
        assert emulator.journal.last.under_way and emulator.journal.last.chunks == 1
        await chunks.aclose()
    assert response.headers["content-type"] == "text/event-stream"


async def test_closing_early_is_noticed_at_once(http: httpx2.AsyncClient, emulator: Emulator) -> None:
    async with http.stream("POST", PATH, json=slowly()) as response:
        await anext(aiter(response.aiter_bytes()))
    entry = emulator.journal.last
    assert entry.closed_early and entry.seconds is not None and entry.seconds < 1


async def test_a_cancelled_reader_closes_the_stream(http: httpx2.AsyncClient, emulator: Emulator) -> None:
    reader = asyncio.create_task(http.post(PATH, json=slowly()))
    await asyncio.sleep(0.05)
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader
    assert emulator.journal.last.closed_early


async def test_reading_to_the_end_is_not_early(http: httpx2.AsyncClient, emulator: Emulator) -> None:
    response = await http.post(PATH, json=slowly("hello"))
    assert response.content.endswith(b"\r\n\r\n")
    assert not emulator.journal.last.closed_early and not emulator.journal.last.under_way


async def test_a_dropped_connection_is_a_read_error(http: httpx2.AsyncClient) -> None:
    received = []
    with pytest.raises(httpx2.ReadError):
        async with http.stream("POST", PATH, json=slowly("/drop")) as response:
            received = [chunk async for chunk in response.aiter_bytes()]
    assert response.status_code == 200 and not received


async def test_a_dropped_unary_answer_has_no_byte(http: httpx2.AsyncClient) -> None:
    with pytest.raises(httpx2.ReadError):
        await http.post(PATH.replace(":streamG", ":g"), json=slowly("/drop"))


async def test_the_key_may_stand_in_the_query(emulator: Emulator) -> None:
    async with httpx2.AsyncClient(
        transport=EmulatorTransport(emulator), base_url="http://emulator.test"
    ) as http:
        assert (await http.get("/v1/models?key=emulator")).status_code == 200
        assert (await http.get("/v1/models")).status_code == 403


async def test_a_transport_of_its_own_has_an_emulator_of_its_own() -> None:
    one, other = EmulatorTransport(delay=0), EmulatorTransport(delay=0)
    assert one.emulator is not other.emulator
