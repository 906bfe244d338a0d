from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from sessions_app.inspector.attempts import ShownAttempt
from sessions_app.inspector.tabs.wire_tab import WireTab
from sessions_app.models import Exchange, Session
from tests.factories import answered, finish, make_exchange, make_run
from tests.inspector.evidence import REFUSAL, add_attempt, add_refusal
from tests.inspector.reading import read


@pytest.fixture
def series(session: Session) -> tuple[Exchange, Exchange]:
    """A refused request and the one that repeated it after a pause."""
    run = make_run(session)
    first = make_exchange(run, [])
    add_refusal(first)
    second = make_exchange(run, resend_of=first)
    add_attempt(second, waited_ms=2_000.0)
    finish(run)
    return first, second


def shown(exchange: Exchange) -> list[ShownAttempt]:
    return WireTab().context(Exchange.objects.get(pk=exchange.pk), raw=True).attempts


def test_both_requests_are_in_the_series_of_each(series: tuple[Exchange, Exchange]) -> None:
    for exchange in series:
        found = shown(exchange)
        assert [one.exchange.number for one in found] == [1, 2]
        assert [one.is_of_page for one in found] == [exchange.number == 1, exchange.number == 2]
        assert [one.attempt.waited_ms for one in found if one.attempt] == [0, 2_000]


def test_a_step_that_was_sent_once_has_one_attempt(session: Session) -> None:
    run = make_run(session)
    for _ in range(2):
        add_attempt(make_exchange(run, []))
    assert [[one.exchange.number for one in shown(each)] for each in Exchange.objects.all()] == [[1], [2]]


def test_the_page_has_status_headers_body_and_pause(
    client: Client, series: tuple[Exchange, Exchange]
) -> None:
    page = read(client, series[0], "wire")
    assert "429 Too Many Requests" in page and "after a pause of 2.00 s" in page
    assert "retry-after" in page and "google-genai-sdk/3" in page
    assert "Slow down." in page
    assert "Only the beginning is stored." not in page and "Not stored" not in page


def test_the_body_of_a_refusal_is_shown_as_received(series: tuple[Exchange, Exchange]) -> None:
    assert [part.text.encode() for part in shown(series[0])[0].body] == [REFUSAL]


def test_an_exchange_of_an_earlier_version_has_nothing_made_up(client: Client, session: Session) -> None:
    exchange = answered(session, "Hello", "Hi")
    assert [one.attempt for one in shown(exchange)] == [None]
    page = read(client, exchange, "wire")
    assert "Not stored: an earlier version" in page and "none came" not in page


def test_an_open_exchange_says_that_it_is_not_over(client: Client, session: Session) -> None:
    exchange = answered(session, "Hello", "Hi")
    Exchange.objects.update(ended_at=None)
    assert "Stored when it is over." in read(client, exchange, "wire")


def test_what_was_cut_or_not_read_says_so(client: Client, session: Session) -> None:
    exchange = answered(session, "Hello", "Hi")
    add_refusal(exchange, is_cut=True)
    assert "Only the beginning is stored." in read(client, exchange, "wire")
    exchange.attempts.update(body=None)
    assert "The body was not read." in read(client, exchange, "wire")


def test_a_body_that_is_a_page_is_shown_as_text(client: Client, session: Session) -> None:
    exchange = answered(session, "Hello", "Hi")
    add_refusal(exchange, b"<script>alert(1)</script>\xff")
    page = read(client, exchange, "wire")
    assert "&lt;script&gt;alert(1)" in page and "<script>alert" not in page


def test_a_long_body_is_loaded_when_asked_for(client: Client, stranger: Client, session: Session) -> None:
    exchange = answered(session, "Hello", "Hi")
    add_refusal(exchange, b"x" * 60_000 + b"THE-END")
    assert "THE-END" not in read(client, exchange, "wire")
    address = reverse("exchange-whole", args=[session.public, exchange.number, "attempt", 1])
    assert "THE-END" in client.get(address).content.decode()
    assert client.get(address.replace("attempt/1", "attempt/2")).status_code == 404
    assert stranger.get(address).status_code == 404


def test_the_wire_tab_costs_the_same_however_often_it_was_sent(
    client: Client, session: Session, django_assert_max_num_queries: Any
) -> None:
    run, earlier = make_run(session), None
    for _ in range(12):
        earlier = make_exchange(run, [], resend_of=earlier)
        add_refusal(earlier)
    assert earlier is not None
    with django_assert_max_num_queries(25):
        assert len(shown(earlier)) == 12
        read(client, earlier, "wire")
