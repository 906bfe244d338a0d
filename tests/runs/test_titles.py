"""Titles that the model makes: opt-in, once, never over a person's own."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import httpx2
import pytest
from django.contrib.auth.models import User
from django.db.models import Sum

from sessions_app.errors import RunError
from sessions_app.gemini.gateway import Gateway
from sessions_app.models import Exchange, Session, Spending
from sessions_app.prompt.turns import user_task
from sessions_app.runs.side_requests import SHORTEN, draft_summary
from tests.runs.running import Provider, running


class Told(NamedTuple):
    session: Session
    asked: int
    """Prompt tokens of the exchanges."""
    booked: int
    """Prompt tokens that the owner was charged for."""


async def answered(owner: User, **fields: Any) -> Told:
    async with running() as runner:
        session = await Session.objects.acreate(owner=owner, model="gemini-3-flash-preview", **fields)
        for text in ("Plan a garden with beans and peas", "And then?"):
            await runner.send(session.pk, uuid.uuid4(), text)
            await runner.drain()
        await session.arefresh_from_db()
        tokens = Sum("prompt_tokens")
        asked = await Exchange.objects.aaggregate(tokens=tokens)
        booked = await Spending.objects.aaggregate(tokens=tokens)
    return Told(session, asked["tokens"], booked["tokens"])


MADE = {"settings": {"auto_title": "model"}}


async def test_the_first_words_are_the_title(transactional_db: None, alice: User) -> None:
    told = await answered(alice)
    assert told.session.title == "Plan a garden with beans and peas" and told.booked == told.asked


async def test_the_model_makes_one_when_asked_to_and_it_is_booked(
    transactional_db: None, alice: User
) -> None:
    others = {"Mine": True, "Made": False}
    for title, by_hand in others.items():
        await Session.objects.acreate(owner=alice, title=title, titled_by_hand=by_hand)
    told = await answered(alice, **MADE)
    assert told.session.title and told.session.title != "Plan a garden with beans and peas"
    assert not told.session.titled_by_hand and told.booked > told.asked
    assert {one.title async for one in Session.objects.exclude(pk=told.session.pk)} == others.keys()


@pytest.mark.parametrize("fields", [{"title": "Mine", "titled_by_hand": True}, {"temporary": True}])
async def test_a_persons_title_and_a_temporary_session_stay(
    transactional_db: None, alice: User, fields: dict[str, Any]
) -> None:
    told = await answered(alice, **MADE, **fields)
    assert told.session.title == fields.get("title", "Plan a garden with beans and peas")
    assert told.booked == told.asked


class Silence(httpx2.AsyncByteStream):
    """A response that begins and never goes on."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        await asyncio.Event().wait()
        yield b""


class SilentProvider(Provider):
    """Answers `answers` requests for a text; those after them begin to be answered, no more."""

    def __init__(self, answers: int) -> None:
        super().__init__()
        self.parts, self.answers, self.is_silent = [b'{"text":"Beans."}'], answers, asyncio.Event()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        if len(self.requests) <= self.answers or not request.url.path.endswith(":streamGenerateContent"):
            return response
        self.is_silent.set()
        return httpx2.Response(200, stream=Silence())


async def test_a_shutdown_does_not_wait_for_a_title(transactional_db: None, alice: User) -> None:
    provider = SilentProvider(answers=1)
    session = await Session.objects.acreate(owner=alice, model="gemini-3-flash-preview", **MADE)
    async with running(Gateway(api_key="test", transport=provider)) as runner:
        await runner.send(session.pk, uuid.uuid4(), "Plan a garden")
        await asyncio.wait_for(provider.is_silent.wait(), 60)
        await asyncio.wait_for(runner.shutdown(), 60)
    await session.arefresh_from_db()
    assert session.title == "Plan a garden"


async def test_a_side_request_ends_after_a_while(
    transactional_db: None, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions_app.runs.side_requests.LONGEST_SECONDS", 0.05)
    session = await Session.objects.acreate(owner=alice, model="gemini-3-flash-preview")
    gateway = Gateway(api_key="test", transport=SilentProvider(answers=0))
    with pytest.raises(RunError):
        await asyncio.wait_for(draft_summary(gateway, session, [user_task("a", "Beans?")], SHORTEN), 60)
    await gateway.aclose()
