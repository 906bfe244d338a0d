"""Lists that stand still, filtered or on a later page: how much came since, told without focus."""

import re
from html import unescape
from urllib.parse import parse_qsl

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from sessions_app.models import Exchange, Session
from tests.factories import make_exchange, make_history, make_run, receive, text_chunk
from tests.inspector.reading import read_list

LATER = [{"sort": "oldest"}, {"end": "answered"}, {"page": 2}]


def asked_by(page: str) -> dict[str, str]:
    (query,) = re.findall(r'id="live"[^>]* hx-get="[^"?]*/since/\?([^"]*)"', page)
    return dict(parse_qsl(unescape(query), keep_blank_values=True))


def numbers_in(page: str) -> list[str]:
    return re.findall(r'aria-label="Exchange (\d+)"', page)


def assert_live(page: str) -> None:
    assert re.search(r'id="live"[^>]* hx-get="[^"?]*/news/\?', page)


def poll(client: Client, session: Session, asked: dict[str, str]) -> HttpResponse:
    return client.get(reverse("exchanges-since", args=[session.public]), asked)  # type: ignore[return-value]


@pytest.fixture
def two_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sessions_app.inspector.exchange_list.PAGE_SIZE", 2)


@pytest.mark.parametrize("params", LATER, ids=lambda one: next(iter(one)))
def test_it_asks_by_itself_and_hears_of_a_new_exchange_once(
    client: Client, session: Session, two_a_page: None, params: dict[str, str | int]
) -> None:
    make_history(session, 3)
    page = read_list(client, session, **params)
    assert "every 2s" in page and "No new exchange since this list was read." in page
    asked = asked_by(page)
    assert poll(client, session, asked).status_code == 204
    make_history(session, 2)
    told = poll(client, session, asked)
    assert asked_by(told.content.decode())["told"] == "2-0" and "Show</a>" in told.content.decode()
    assert poll(client, session, asked_by(told.content.decode())).status_code == 204


@pytest.mark.parametrize("page", ["", "1", "01", " 1", "x", "1.5", "²", "1" * 5000])
def test_whatever_shows_the_first_page_is_live(
    client: Client, session: Session, two_a_page: None, page: str
) -> None:
    make_history(session, 3)
    assert_live(read_list(client, session, page=page))


@pytest.mark.parametrize("page", ["0", "-1", "7", "9" * 4000])
def test_the_only_page_is_live_by_any_number(client: Client, session: Session, page: str) -> None:
    make_history(session, 2)
    shown = read_list(client, session, page=page)
    assert_live(shown)
    assert numbers_in(shown) == ["2", "1"]


@pytest.mark.parametrize("page", ["0", "-1", "3", "9" * 4000])
def test_a_number_without_a_page_shows_the_last_one_which_stands_still(
    client: Client, session: Session, two_a_page: None, page: str
) -> None:
    make_history(session, 3)
    shown = read_list(client, session, page=page)
    assert "Page 2 of 2" in shown and numbers_in(shown) == ["1"]
    assert asked_by(shown)


@pytest.mark.parametrize("page", ["", "0", "x", "7"])
def test_a_filtered_list_stands_still_on_any_page(client: Client, session: Session, page: str) -> None:
    make_history(session, 2)
    shown = read_list(client, session, page=page, end="answered")
    assert numbers_in(shown) == ["2", "1"]
    assert asked_by(shown)


def test_only_what_passes_the_filters_is_new(client: Client, session: Session) -> None:
    make_history(session, 1)
    asked = asked_by(read_list(client, session, end="error"))
    make_history(session, 1)
    assert poll(client, session, asked).status_code == 204
    Exchange.objects.filter(number=2).update(error={"kind": "BadRequest"})
    told = poll(client, session, asked).content.decode()
    assert asked_by(told)["told"] == "1-0" and '<a href="?end=error">Show</a>' in told


def test_an_exchange_that_was_open_and_filtered_out_is_told_when_it_ends(
    client: Client, session: Session
) -> None:
    exchange = make_exchange(make_run(session), [])
    Exchange.objects.update(ended_at=None, outcome="", verdict="")
    asked = asked_by(read_list(client, session, end="answered"))
    receive(exchange, [text_chunk("Yes.", finish="STOP")])
    assert asked_by(poll(client, session, asked).content.decode())["told"] == "0-1"


def test_a_text_is_not_looked_for_again_and_that_is_said(client: Client, session: Session) -> None:
    make_history(session, 1)
    asked = asked_by(read_list(client, session, q="rye"))
    make_history(session, 1)
    assert "the text was not looked for" in poll(client, session, asked).content.decode()


def test_asking_in_vain_costs_little(
    client: Client, session: Session, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    make_history(session, 2)
    asked = asked_by(read_list(client, session, sort="oldest"))
    with django_assert_max_num_queries(4):
        assert poll(client, session, asked).status_code == 204


def test_another_persons_list_does_not_exist(stranger: Client, session: Session) -> None:
    assert stranger.get(reverse("exchanges-since", args=[session.public])).status_code == 404
