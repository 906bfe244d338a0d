"""Whole runs through the OpenAI-compatible endpoint: nothing but the wire is different."""

from collections.abc import AsyncIterator
from hashlib import sha256

import httpx2
import orjson
import pytest
from asgiref.sync import sync_to_async
from pytest_django import Settings

from pipeweb.composition import build_emulator
from sessions_app.emulator import Emulator, EmulatorTransport
from sessions_app.gemini.openai_gateway import OpenAIGateway
from sessions_app.models import CacheEntry, Exchange, RawChunk, Run, Session, Turn
from sessions_app.prompt.turns import TurnKind
from sessions_app.runs.runner import Runner
from tests.runs.conftest import Ask
from tests.runs.running import running

FLIGHT = "Check flight status for AA100 and book a taxi 2 hours before if delayed."
WEATHER = "Check the weather in Paris and London."


class Overheard(EmulatorTransport):
    """Keeps the bodies that reach the emulator."""

    def __init__(self) -> None:
        super().__init__(Emulator(delay=0))
        self.bodies: list[bytes] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.bodies.append(await request.aread())
        return await super().handle_async_request(request)


@pytest.fixture
def transport() -> Overheard:
    return Overheard()


@pytest.fixture
def travelled(transport: Overheard) -> list[bytes]:
    return transport.bodies


@pytest.fixture
def gateway(transport: Overheard) -> OpenAIGateway:
    return OpenAIGateway.to_emulator(transport)


@pytest.fixture
async def runner(session: Session, gateway: OpenAIGateway) -> AsyncIterator[Runner]:
    async with running(gateway) as runner:
        yield runner


async def history(session: Session) -> list[Turn]:
    turns = Turn.objects.filter(session=session).select_related("content").order_by("depth")
    return [turn async for turn in turns]


async def exchanges(session: Session) -> list[Exchange]:
    return [exchange async for exchange in Exchange.objects.filter(session=session)]


def test_the_setting_chooses_the_endpoint(settings: Settings) -> None:
    settings.PIPEWEB_DIALECT = "openai"
    assert isinstance(build_emulator(Emulator()), OpenAIGateway)
    settings.PIPEWEB_DIALECT = "gemini"
    assert not isinstance(build_emulator(Emulator()), OpenAIGateway)


async def test_sequential_calls_play_as_in_seed_2(ask: Ask, session: Session) -> None:
    run = await ask(FLIGHT)
    kinds = [turn.kind for turn in await history(session)]
    calling, answering = TurnKind.FUNCTION_CALLING, TurnKind.TOOL_RESPONSE
    assert run.status == Run.Status.COMPLETED
    assert kinds == [TurnKind.USER_TASK, calling, answering, calling, answering, TurnKind.MODEL_RESPONSE]


async def test_parallel_calls_are_signed_once_and_answered_together(ask: Ask, session: Session) -> None:
    await ask(WEATHER)
    _, calling, answering, _ = await history(session)
    assert [bool(part.signature) for part in calling.parts if part.call] == [True, False]
    ids = [part.call["id"] for part in calling.parts if part.call]
    assert [part.response["id"] for part in answering.parts if part.response] == ids


async def test_raw_chunks_are_the_wire_as_it_was(ask: Ask, session: Session) -> None:
    await ask("Hello")
    bodies = [bytes(chunk.body) async for chunk in RawChunk.objects.order_by("seq")]
    assert {orjson.loads(body)["object"] for body in bodies} == {"chat.completion.chunk"}


async def test_an_answer_has_text_signature_and_usage(ask: Ask, session: Session) -> None:
    await ask("Hello there")
    (exchange,) = await exchanges(session)
    answer = (await history(session))[-1]
    assert answer.text and answer.parts[-1].signature
    assert exchange.prompt_tokens and exchange.output_tokens and exchange.served_model
    assert exchange.provider == "emulator (OpenAI-compatible)"


async def test_no_cache_is_planned(ask: Ask, session: Session) -> None:
    await Session.objects.filter(pk=session.pk).aupdate(background="A long background. " * 500)
    await ask("Hello")
    await ask("Hello again")
    planned = [(exchange.cache_action, exchange.cache_name) for exchange in await exchanges(session)]
    assert planned == [("none", ""), ("none", "")]
    assert not await CacheEntry.objects.aexists()


async def test_the_noted_hash_is_of_what_travelled(
    ask: Ask, session: Session, gateway: OpenAIGateway, travelled: list[bytes]
) -> None:
    await ask(FLIGHT)
    stored = await exchanges(session)
    assert [exchange.sent_sha256 for exchange in stored] == [sha256(body).hexdigest() for body in travelled]
    assert len(stored) == 3 and all(exchange.dialect == gateway.dialect for exchange in stored)
    assert all([await sync_to_async(exchange.is_faithful)() for exchange in stored])


@pytest.mark.parametrize(
    ("marker", "kind"), [("/error 429", "QuotaExceeded"), ("/error 503", "ProviderDown")]
)
async def test_an_error_fails_the_run_with_its_kind(
    ask: Ask, session: Session, marker: str, kind: str
) -> None:
    run = await ask(marker)
    assert (run.status, run.error["kind"]) == (Run.Status.FAILED, kind)


@pytest.mark.parametrize(("marker", "outcome"), [("/empty", "empty"), ("/safety", "safety")])
async def test_an_answer_that_is_none_is_a_named_outcome(
    ask: Ask, session: Session, marker: str, outcome: str
) -> None:
    run = await ask(marker)
    assert (run.status, run.outcome) == (Run.Status.FAILED, outcome)


async def test_a_session_that_began_at_the_native_endpoint_goes_on_here(ask: Ask, session: Session) -> None:
    """What another route signed is not sent; nothing is refused for it."""
    await ask(FLIGHT)
    await Turn.objects.aupdate(route="another route")
    run = await ask("And now?")
    assert run.status == Run.Status.COMPLETED
    assert any(note["code"] == "signature_removed" for note in (await exchanges(session))[-1].notes)
