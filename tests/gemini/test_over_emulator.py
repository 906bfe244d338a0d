"""The gateway in front of the emulator in process: the offline default of the product."""

import asyncio

import httpx2
import pytest

from sessions_app.emulator.transport import EmulatorTransport
from sessions_app.errors import CacheGone, GatewayError, UnknownModel
from sessions_app.gemini.gateway import Gateway
from sessions_app.gemini.model_capabilities import capabilities_of
from tests.gemini.conftest import BODY, MODEL, read

LONG = b'{"contents":[{"role":"user","parts":[{"text":"%b"}]}]}' % (b"word " * 3_000)


@pytest.fixture
def emulator() -> EmulatorTransport:
    return EmulatorTransport(delay=0)


@pytest.fixture
def offline(emulator: EmulatorTransport) -> Gateway:
    return Gateway.to_emulator(emulator)


async def test_it_says_that_it_is_the_emulator(offline: Gateway) -> None:
    assert (offline.is_emulator, offline.label) == (True, "emulator")
    assert offline.route == Gateway.to_emulator(EmulatorTransport()).route


async def test_it_streams_and_counts(offline: Gateway) -> None:
    chunks = await read(offline)
    assert [chunk.seq for chunk in chunks] == list(range(len(chunks)))
    assert b"finishReason" in chunks[-1].body
    assert await offline.count_tokens(MODEL, BODY) > 0


async def test_it_keeps_caches(offline: Gateway) -> None:
    made = await offline.create_cache(
        model=MODEL, contents_and_tools=LONG, ttl_seconds=60, display_name="pipeweb:1"
    )
    listed = await offline.list_caches()
    assert [(cache.name, cache.tokens, cache.display_name) for cache in listed] == [
        (made.name, made.tokens, "pipeweb:1")
    ]
    extended = await offline.extend_cache(made.name, 7_200)
    assert extended.expires and made.expires and extended.expires > made.expires
    await offline.delete_cache(made.name)
    with pytest.raises(CacheGone):
        await offline.delete_cache(made.name)


async def test_it_refuses_as_the_provider_does(offline: Gateway) -> None:
    with pytest.raises(UnknownModel):
        async with offline.stream("gemini-0-none", BODY):
            pass


async def test_its_models_have_the_facts_that_it_enforces(offline: Gateway) -> None:
    for model in await offline.models():
        if "generateContent" not in model.methods:
            continue
        facts = capabilities_of(model.name)
        assert facts.known, model.name
        assert (facts.input_limit, facts.output_limit) == (model.input_limit, model.output_limit)


async def test_it_notices_that_the_gateway_left(emulator: EmulatorTransport, offline: Gateway) -> None:
    async with offline.stream(MODEL, BODY) as chunks:
        await anext(chunks)
    assert emulator.emulator.journal.last.closed_early


async def test_leaving_while_another_task_reads_raises_nothing() -> None:
    slow = Gateway.to_emulator(EmulatorTransport(delay=0.2))
    async with slow.stream(MODEL, BODY) as chunks:
        reader = asyncio.ensure_future(anext(chunks))
        await asyncio.sleep(0.05)
    await asyncio.wait([reader], timeout=1)
    assert reader.done()


async def test_its_markers_become_errors(offline: Gateway) -> None:
    body = b'{"contents":[{"role":"user","parts":[{"text":"/error 503"}]}]}'
    with pytest.raises(GatewayError) as caught:
        await read(offline, body)
    assert caught.value.code == 503


async def test_its_key_is_a_word_and_no_secret() -> None:
    refusal = httpx2.Response(400, json={"error": {"code": 400, "message": "The emulator says no."}})
    gateway = Gateway.to_emulator(httpx2.MockTransport(lambda request: refusal))
    with pytest.raises(GatewayError, match="The emulator says no"):
        await read(gateway)
