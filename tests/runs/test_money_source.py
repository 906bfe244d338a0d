"""Whose tokens a request counts: those of a provider, or of an emulator, which nobody pays."""

import pytest
from django.contrib.auth.models import User

from sessions_app.emulator.delivery import NAME_HEADER
from sessions_app.gemini.http_evidence import EMULATOR_HEADER, RESPONSE_HEADERS
from sessions_app.gemini.routes import route_of
from sessions_app.hosts import EMULATOR, GOOGLE
from sessions_app.models import Booking, Exchange, ExchangeAttempt, Session
from sessions_app.prompt.bookings import SpendingCause
from sessions_app.prompt.pricing import MoneySource
from sessions_app.runs.money_source import source_of, source_of_cache, source_of_session
from tests.factories import NOW, finish, make_exchange, make_run, make_session

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


@pytest.mark.django_db
def test_a_request_beside_the_chat_has_the_source_of_the_last_exchange(alice: User) -> None:
    session = make_session(alice)
    route = answered(session, STUB, UNNAMED).route
    assert source_of_session(session, route) is MoneySource.PROVIDER
    answered(session, STUB, NAMED)
    assert source_of_session(session, route) is MoneySource.EMULATOR


@pytest.mark.django_db
def test_a_cache_keeps_the_source_with_which_it_was_made(alice: User) -> None:
    session = make_session(alice)
    route = answered(session, STUB, NAMED).route
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
