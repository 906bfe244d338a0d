"""Leaving a stream closes the provider's side at once (gemini-wire §3: the SDK alone leaks it)."""

import asyncio
from time import perf_counter

import pytest

from sessions_app.gemini.gateway import Gateway
from tests.gemini.conftest import BODY, MODEL, read
from tests.gemini.upstream import Upstream, event, framed

LIMIT = 20.0
"""Seconds between leaving and the close that the provider sees, on a busy machine; a leak never closes."""


@pytest.fixture(autouse=True)
def held(upstream: Upstream) -> None:
    upstream.packets, upstream.hold = [framed(event())], True


async def seconds_to_close(upstream: Upstream, since: float) -> float:
    await asyncio.wait_for(upstream.closed.wait(), 60)
    return upstream.closed_at - since


async def cancelled_at(work: asyncio.Task[None], upstream: Upstream) -> float:
    await asyncio.wait_for(upstream.asked.wait(), 60)
    await asyncio.sleep(0.05)
    since = perf_counter()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    return since


async def test_break_closes(either: Gateway, upstream: Upstream) -> None:
    async with either.stream(MODEL, BODY) as chunks:
        async for _ in chunks:
            break
        since = perf_counter()
    assert await seconds_to_close(upstream, since) < LIMIT


async def test_leaving_without_reading_closes(either: Gateway, upstream: Upstream) -> None:
    async with either.stream(MODEL, BODY):
        since = perf_counter()
    assert await seconds_to_close(upstream, since) < LIMIT


async def test_an_error_of_the_consumer_closes(either: Gateway, upstream: Upstream) -> None:
    with pytest.raises(ZeroDivisionError):
        await fail_at_first_chunk(either)
    since = perf_counter()
    assert await seconds_to_close(upstream, since) < LIMIT


async def test_cancelling_while_waiting_for_the_answer_closes(either: Gateway, upstream: Upstream) -> None:
    upstream.silent = True
    since = await cancelled_at(asyncio.create_task(consume(either)), upstream)
    assert await seconds_to_close(upstream, since) < LIMIT


async def test_cancelling_while_waiting_for_a_chunk_closes(either: Gateway, upstream: Upstream) -> None:
    since = await cancelled_at(asyncio.create_task(consume(either)), upstream)
    assert await seconds_to_close(upstream, since) < LIMIT


async def test_cancelling_while_the_consumer_waits_elsewhere_closes(
    either: Gateway, upstream: Upstream
) -> None:
    since = await cancelled_at(asyncio.create_task(consume(either, elsewhere=True)), upstream)
    assert await seconds_to_close(upstream, since) < LIMIT


async def test_leaving_while_another_task_reads_closes(either: Gateway, upstream: Upstream) -> None:
    async with either.stream(MODEL, BODY) as chunks:
        await anext(chunks)
        reader = asyncio.ensure_future(anext(chunks))
        await asyncio.sleep(0.02)
        since = perf_counter()
    assert await seconds_to_close(upstream, since) < LIMIT
    await asyncio.wait([reader], timeout=1)
    assert reader.exception() is not None


async def test_a_deadline_of_the_consumer_closes_and_stays_a_timeout(
    either: Gateway, upstream: Upstream
) -> None:
    reading = asyncio.create_task(consume(either))
    await asyncio.wait_for(upstream.asked.wait(), 60)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(reading, 0.1)
    assert await seconds_to_close(upstream, perf_counter()) < LIMIT


async def test_closing_the_gateway_closes_open_streams(either: Gateway, upstream: Upstream) -> None:
    async with either.stream(MODEL, BODY):
        since = perf_counter()
        await either.aclose()
        assert await seconds_to_close(upstream, since) < LIMIT


async def test_150_streams_are_open_at_once(either: Gateway, upstream: Upstream) -> None:
    upstream.packets, upstream.hold, upstream.pause = [framed(event())] * 2, False, 0.15
    readings = [asyncio.create_task(read(either)) for _ in range(150)]
    chunks = await asyncio.wait_for(asyncio.gather(*readings), 60)
    assert {len(one) for one in chunks} == {2}
    assert upstream.most_open > 100


async def consume(gateway: Gateway, elsewhere: bool = False) -> None:
    async with gateway.stream(MODEL, BODY) as chunks:
        async for _ in chunks:
            if elsewhere:
                await asyncio.Event().wait()


async def fail_at_first_chunk(gateway: Gateway) -> None:
    async with gateway.stream(MODEL, BODY) as chunks:
        async for _ in chunks:
            raise ZeroDivisionError
