"""What a provider can send that a database or a page might not like: stored, shown, sent back."""

import base64
from collections.abc import AsyncIterator

import orjson
import pytest
from asgiref.sync import sync_to_async

from sessions_app.gemini.gateway import Gateway
from sessions_app.models import Exchange, RawChunk, Session, Turn
from sessions_app.prompt.turns import TurnKind
from sessions_app.runs.runner import Runner
from tests.runs.running import Provider, running, send

BIG = base64.b64encode(bytes(range(256)) * 4096).decode()
HALVES = [rb'{"text":"smile \ud83d"}', rb'{"text":"\ude42 done"}']


@pytest.fixture
def provider() -> Provider:
    return Provider()


@pytest.fixture
async def runner(session: Session, provider: Provider) -> AsyncIterator[Runner]:
    async with running(Gateway(api_key="test", transport=provider)) as runner:
        yield runner


async def answer(runner: Runner, session: Session, provider: Provider, *parts: bytes) -> Turn:
    provider.parts = list(parts)
    await send(runner, session, "go")
    await runner.drain()
    return await Turn.objects.select_related("content").aget(session=session, kind=TurnKind.MODEL_RESPONSE)


async def test_a_nul_is_kept_in_the_content_and_left_out_of_the_search_text(
    runner: Runner, session: Session, provider: Provider
) -> None:
    turn = await answer(runner, session, provider, rb'{"text":"a\u0000b"}')
    assert turn.parts[0].text == "a\0b" and turn.text == "ab"


async def test_an_emoji_cut_between_two_chunks_is_whole_in_the_turn(
    runner: Runner, session: Session, provider: Provider
) -> None:
    turn = await answer(runner, session, provider, *HALVES)
    assert turn.text == "smile 🙂 done"


async def test_the_halves_stay_as_they_arrived_in_the_raw_response(
    runner: Runner, session: Session, provider: Provider
) -> None:
    await answer(runner, session, provider, *HALVES)
    first = await RawChunk.objects.order_by("seq").afirst()
    assert first is not None and HALVES[0] in bytes(first.body)


async def test_a_lone_surrogate_becomes_the_replacement_character(
    runner: Runner, session: Session, provider: Provider
) -> None:
    turn = await answer(runner, session, provider, rb'{"text":"half \ud83d"}')
    assert turn.text == "half \ufffd"


async def test_a_megabyte_of_signature_comes_back_unchanged(
    runner: Runner, session: Session, provider: Provider
) -> None:
    await answer(runner, session, provider, b'{"text":"signed","thoughtSignature":"%b"}' % BIG.encode())
    provider.parts = [b'{"text":"again"}']
    await send(runner, session, "go on")
    await runner.drain()
    sent = orjson.loads(provider.requests[-1])["contents"]
    assert sent[2]["parts"][0]["thoughtSignature"] == BIG


async def test_what_was_sent_is_what_the_rows_say(
    runner: Runner, session: Session, provider: Provider
) -> None:
    await answer(runner, session, provider, b'{"text":"hello"}')
    exchange = await Exchange.objects.aget()
    assert provider.requests == [await sync_to_async(exchange.request_body)()]
