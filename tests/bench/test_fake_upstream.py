import asyncio
import re
import time
from collections.abc import AsyncIterator
from itertools import pairwise

import httpx2
import orjson
import pytest

from sessions_app.prompt.reply import Outcome, fold
from tests.bench.fake_upstream import STAMP, TEXT_LENGTH, answer_requests, text_event
from tests.bench.relay_load import Load

STREAM = "/v1beta/models/some-model:streamGenerateContent?alt=sse"


@pytest.fixture
async def upstream() -> AsyncIterator[httpx2.AsyncClient]:
    answering: list[asyncio.Task[None]] = []

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answering.append(asyncio.create_task(answer_requests(reader, writer)))

    async with await asyncio.start_server(accept, "127.0.0.1", 0) as server:
        base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with httpx2.AsyncClient(base_url=base, trust_env=False) as client:
            yield client
        await asyncio.gather(*answering)


async def bodies(client: httpx2.AsyncClient, load: Load) -> list[bytes]:
    answer = await client.post(
        STREAM, content=orjson.dumps({"contents": [{"parts": [{"text": load.message}]}]})
    )
    return re.findall(rb"data: (.*)\r\n\r\n", answer.content)


async def test_an_answer_is_a_signed_and_complete_reply(upstream: httpx2.AsyncClient) -> None:
    found = await bodies(upstream, Load(1, 0, 12))
    reply = fold(found)
    assert len(found) == 13
    assert reply.outcome is Outcome.COMPLETE
    assert len(reply.text) == 12 * TEXT_LENGTH
    assert orjson.loads(found[-1])["candidates"][0]["content"]["parts"][0]["thoughtSignature"]


async def test_every_text_begins_with_the_moment_it_was_written(upstream: httpx2.AsyncClient) -> None:
    before = time.monotonic_ns()
    text = fold(await bodies(upstream, Load(1, 2, 5))).text
    stamps = [int(stamp) for stamp in re.findall(r"@(\d{16})", text)]
    assert len(stamps) == 5
    assert before < stamps[0]
    assert all(earlier < later for earlier, later in pairwise(stamps))


async def test_one_connection_answers_again_and_again(upstream: httpx2.AsyncClient) -> None:
    first, second = await bodies(upstream, Load(1, 0, 2)), await bodies(upstream, Load(1, 0, 3))
    assert (len(first), len(second)) == (3, 4)


async def test_caches_are_refused_as_too_small(upstream: httpx2.AsyncClient) -> None:
    answer = await upstream.post("/v1beta/cachedContents", content=b"{}")
    assert answer.status_code == 400
    assert "too small" in answer.json()["error"]["message"]


async def test_anything_else_is_not_there(upstream: httpx2.AsyncClient) -> None:
    assert (await upstream.get("/v1beta/models")).status_code == 404


@pytest.mark.parametrize("number", [0, 9, 10])
def test_every_text_has_the_same_length(number: int) -> None:
    event = orjson.loads(text_event(number, 12_345).removeprefix(b"data: "))
    text = event["candidates"][0]["content"]["parts"][0]["text"]
    assert len(text) == TEXT_LENGTH
    assert STAMP.match(text.encode())
    assert event["usageMetadata"]
