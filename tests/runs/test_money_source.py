"""Whose tokens a request counts: those of a provider, or of an emulator, which nobody pays."""

import asyncio
import uuid
from unittest.mock import Mock

import httpx2
import pytest
from django.contrib.auth.models import User

from sessions_app.emulator import Emulator, EmulatorTransport
from sessions_app.emulator.delivery import NAME_HEADER
from sessions_app.gemini.gateway import Gateway
from sessions_app.gemini.http_evidence import EMULATOR_HEADER, RESPONSE_HEADERS, HttpEvidence
from sessions_app.gemini.routes import route_of
from sessions_app.hosts import EMULATOR, GOOGLE
from sessions_app.models import Booking, Exchange, ExchangeAttempt, Session
from sessions_app.prompt.bookings import SpendingCause
from sessions_app.prompt.pricing import MoneySource
from sessions_app.runs.money_source import source_of, source_of_answer, source_of_cache
from tests.factories import NOW, finish, make_exchange, make_run, make_session
from tests.runs.running import running, until

STUB = "http://127.0.0.1:9000"
NAMED, UNNAMED = [["server", "x"], [EMULATOR_HEADER, "1"]], [["server", "x"]]


def answered(session: Session, base_url: str, *heads: list[list[str]]) -> Exchange:
    """An exchange with an attempt for each head of a response."""
    exchange = make_exchange(make_run(session), base_url=base_url, route=route_of(base_url, "emulator"))
    finish(exchange.run)
    for number, head in enumerate(heads, 1):
        ExchangeAttempt.objects.create(
            exchange=exchange, number=number, started_at=NOW, status=200, response_headers=head
        )
    return exchange


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("base_url", "heads", "source"),
    [
        (EMULATOR, [], MoneySource.EMULATOR),
        (STUB, [NAMED], MoneySource.EMULATOR),
        (STUB, [UNNAMED], MoneySource.PROVIDER),
        (STUB, [], MoneySource.PROVIDER),
        (STUB, [NAMED, UNNAMED], MoneySource.PROVIDER),
        (STUB, [UNNAMED, NAMED], MoneySource.EMULATOR),
        (GOOGLE, [NAMED], MoneySource.PROVIDER),
    ],
)
def test_the_last_response_says_whether_an_emulator_answered(
    alice: User, base_url: str, heads: list[list[list[str]]], source: MoneySource
) -> None:
    assert source_of(answered(make_session(alice), base_url, *heads)) is source


@pytest.mark.django_db
def test_an_exchange_without_a_route_is_of_an_unknown_source(alice: User) -> None:
    assert source_of(make_exchange(make_run(make_session(alice)), route="")) is MoneySource.UNKNOWN


@pytest.mark.parametrize(
    ("base_url", "heads", "source"),
    [
        (EMULATOR, [], MoneySource.EMULATOR),
        (STUB, [NAMED], MoneySource.EMULATOR),
        (STUB, [], MoneySource.PROVIDER),
        (STUB, [NAMED, UNNAMED], MoneySource.PROVIDER),
        (GOOGLE, [NAMED], MoneySource.PROVIDER),
    ],
)
def test_a_request_beside_the_chat_is_known_by_its_own_response(
    base_url: str, heads: list[list[list[str]]], source: MoneySource
) -> None:
    evidence = HttpEvidence()
    for head in heads:
        attempt = evidence.begin(httpx2.Request("GET", base_url))
        attempt.answered(httpx2.Response(200, headers=[(name, value) for name, value in head]))
    # Repeated, without a response so far.
    evidence.begin(httpx2.Request("GET", base_url))
    gateway = Mock(route=route_of(base_url, "emulator"), base_url=base_url)
    assert source_of_answer(gateway, evidence) is source


class Meanwhile(EmulatorTransport):
    """The cache is made while the second message is asked, and booked before its answer begins."""

    def __init__(self) -> None:
        super().__init__(Emulator(delay=0))
        self.asked = asyncio.Event()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if b"And then?" in await request.aread():
            self.asked.set()
            await until(Booking.objects.filter(cause=SpendingCause.CACHE_MADE).aexists)
        elif request.url.path.endswith("cachedContents"):
            await self.asked.wait()
        return await super().handle_async_request(request)


async def test_nobody_pays_an_emulator_behind_an_address(transactional_db: None, alice: User) -> None:
    """Neither for a cache that is made during a later request, which has no evidence yet."""
    fields = {"purpose": "Try everything.", "settings": {"auto_title": "model"}}
    session = await Session.objects.acreate(owner=alice, model="gemini-3-flash-preview", **fields)
    async with running(Gateway(api_key="ours", base_url=STUB, transport=Meanwhile())) as runner:
        for text in ("Hello", "And then?"):
            await runner.send(session.pk, uuid.uuid4(), text)
        await runner.drain()
    booked = {(one.cause, one.source) async for one in Booking.objects.all()}
    assert booked == {(cause, "emulator") for cause in ("answer", "title", "cache_made", "cache_kept")}


@pytest.mark.django_db
def test_a_cache_keeps_the_source_with_which_it_was_made(alice: User) -> None:
    session = make_session(alice)
    route = answered(session, STUB, NAMED).route
    answered(session, STUB)
    assert source_of_cache("cachedContents/one", session, route) is MoneySource.EMULATOR
    booking = Booking.of(
        session,
        SpendingCause.CACHE_MADE,
        MoneySource.PROVIDER,
        None,
        model="m",
        day=NOW.date(),
        usd=None,
        cache_name="cachedContents/one",
    )
    Booking.objects.book(booking)
    assert source_of_cache("cachedContents/one", None, route) is MoneySource.PROVIDER


def test_the_emulator_and_the_evidence_know_one_name() -> None:
    assert NAME_HEADER == EMULATOR_HEADER
    assert EMULATOR_HEADER in RESPONSE_HEADERS
