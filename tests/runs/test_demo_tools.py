"""Tools that make things up are there while the emulator answers, and never with a real provider."""

import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from sessions_app.chat.sample_prompts import find_sample
from sessions_app.gemini.gateway import Gateway
from sessions_app.models import Exchange, Session
from sessions_app.panels import TOOLBOX
from sessions_app.prompt.parts import parts_of
from sessions_app.tools.demo import DEMO
from tests.factories import make_session
from tests.runs.conftest import Ask
from tests.runs.running import Provider, running, send, watch

NAMES = {tool.name for tool in DEMO}
CALL = b'{"functionCall":{"name":"book_taxi","args":{"time":"10 AM"}},"thoughtSignature":"c2lnbmVk"}'


def declared(body: bytes) -> set[str]:
    tools = json.loads(body).get("tools", [])
    return {each["name"] for tool in tools for each in tool.get("functionDeclarations", [])}


@pytest.fixture
def real(settings: Settings) -> None:
    """An installation with a key."""
    settings.GEMINI_API_KEY = "a-made-up-key"


async def test_the_emulator_is_offered_them(ask: Ask, session: Session) -> None:
    await ask("Hello")
    exchange = await Exchange.objects.aget()
    assert declared(await sync_to_async(exchange.request_body)()) >= NAMES


@pytest.mark.parametrize("chosen", [None, ["book_taxi", "calculate"]])
async def test_a_real_provider_is_not_even_in_a_session_that_chose_them(
    session: Session, chosen: list[str] | None
) -> None:
    await Session.objects.filter(pk=session.pk).aupdate(settings={"tools": chosen})
    provider = Provider()
    async with running(Gateway(api_key="test", transport=provider)) as runner:
        await watch(runner, session, await send(runner, session, "Hello"))
    names = declared(provider.requests[0])
    assert names and not names & NAMES and "calculate" in names


async def test_a_real_model_that_calls_one_all_the_same_reads_that_there_is_none(session: Session) -> None:
    provider = Provider()
    provider.parts = [CALL]
    async with running(Gateway(api_key="test", transport=provider)) as runner:
        run = await send(runner, session, "Book a taxi")
        await watch(runner, session, run, until="result")
        provider.parts = []
        await runner.drain()
    answer = await session.turns.select_related("content").filter(kind="tool_response").afirst()
    assert answer is not None
    (part,) = [part for part in parts_of(answer.wire) if part.response]
    response: dict[str, Any] = part.response or {}
    assert "error" in response["response"] and "booking_status" not in json.dumps(response)


def test_no_tool_but_those_of_the_demo_is_held_back() -> None:
    assert set(TOOLBOX.names) - set(TOOLBOX.served_by(emulator=False).names) == NAMES
    assert TOOLBOX.served_by(emulator=True).names == TOOLBOX.names


@pytest.mark.usefixtures("real")
@pytest.mark.parametrize("place", [["session-settings"], ["panel", "offers"]])
def test_no_page_of_a_session_lists_them(client: Client, alice: User, place: list[str]) -> None:
    session = make_session(alice, settings={"tools": ["book_taxi", "calculate"]})
    page = client.get(reverse(place[0], args=[session.public, *place[1:]])).content.decode()
    assert "calculate" in page and not [name for name in NAMES if name in page]


@pytest.mark.usefixtures("real")
def test_they_cannot_be_switched_on(client: Client, alice: User) -> None:
    session = make_session(alice)
    place = reverse("switch-tool", args=[session.public, "book_taxi"])
    assert client.post(place, {"on": "on"}).status_code == 404


@pytest.mark.usefixtures("real")
def test_no_assistant_and_no_sample_has_them(client: Client, alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(is_staff=True, is_superuser=True)
    form = client.get(reverse("admin:sessions_app_assistant_add")).content.decode()
    assert "calculate" in form and not [name for name in NAMES if name in form]
    assert find_sample("tools") is None
    assert "AA100" not in client.get(reverse("home")).content.decode()


def test_with_the_emulator_the_sample_is_there(client: Client) -> None:
    assert "AA100" in client.get(reverse("home")).content.decode()
