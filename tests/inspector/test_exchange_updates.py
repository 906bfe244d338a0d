import re
from html import unescape
from typing import Any
from urllib.parse import parse_qsl

import pytest
from django.db.models import QuerySet
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from sessions_app.inspector import exchange_list
from sessions_app.inspector.exchange_list import list_exchanges, totals_of
from sessions_app.inspector.exchange_updates import updates_of
from sessions_app.inspector.still_lists import StillList
from sessions_app.inspector.tabs import TABS
from sessions_app.models import Exchange, RawChunk, Run, Session
from tests.factories import answered, make_exchange, make_history, make_run, receive, text_chunk
from tests.inspector.reading import read, read_list


def updates(client: Client, session: Session, **asked: str | int) -> str:
    return client.get(reverse("exchanges-news", args=[session.public]), asked).content.decode()


def news_of(session: Session) -> str:
    return reverse("exchanges-news", args=[session.public])


def live(client: Client, exchange: Exchange, tab: str, was: str) -> str:
    return client.get(exchange.get_absolute_url(), {"tab": tab, "live": was}).content.decode()


@pytest.fixture
def waiting(session: Session) -> Exchange:
    """A request without an answer in a run that goes on."""
    exchange = make_exchange(make_run(session), [])
    Exchange.objects.filter(pk=exchange.pk).update(ended_at=None, outcome="", verdict="")
    return exchange


def test_a_list_asks_again_whether_a_run_goes_on_or_not(
    client: Client, session: Session, waiting: Exchange
) -> None:
    assert "every 2s" in read_list(client, session)
    Run.objects.update(status=Run.Status.COMPLETED)
    Exchange.objects.update(ended_at=waiting.started_at)
    assert "every 2s" in read_list(client, session)


def asked_by(page: str) -> dict[str, str]:
    """What the page says of itself when it asks again."""
    (query,) = re.findall(r'id="live"[^>]* hx-get="[^"?]*\?([^"]*)"', page)
    return dict(parse_qsl(unescape(query), keep_blank_values=True))


def test_a_new_run_comes_with_its_rows(client: Client, session: Session, waiting: Exchange) -> None:
    told = updates(client, session, after=0)
    assert 'hx-swap-oob="afterend:#rows-head"' in told and 'id="exchange-1"' in told
    assert asked_by(told) == {"after": "1", "open": "1-0", "refused": "0", "active": "1"}
    assert 'id="totals" hx-swap-oob' in told


@pytest.mark.parametrize("asked", [{}, {"sort": "cost"}, {"page": "2"}])
@pytest.mark.parametrize("meanwhile", ["begins", "ends"])
def test_what_happens_while_a_list_is_read_is_told_afterwards(
    session: Session,
    waiting: Exchange,
    monkeypatch: pytest.MonkeyPatch,
    meanwhile: str,
    asked: dict[str, str],
) -> None:
    def add_up(found: QuerySet[Exchange]) -> dict[str, Any]:
        added = totals_of(found)
        if meanwhile == "begins":
            Run.objects.update(status=Run.Status.COMPLETED)
            make_exchange(make_run(session), [])
        else:
            Exchange.objects.update(ended_at=waiting.started_at)
        return added

    if "page" in asked:
        monkeypatch.setattr(exchange_list, "PAGE_SIZE", 1)
        Run.objects.update(status=Run.Status.COMPLETED)
        make_exchange(make_run(session), [])
        session.refresh_from_db()
    monkeypatch.setattr(exchange_list, "totals_of", add_up)
    found = list_exchanges(session, asked)
    session.refresh_from_db()
    assert (found.still is None) == (asked == {})
    if found.still:
        told = StillList.since(session, asked, found.still.seen)
        assert (told.new, told.ended) == ((1, 0) if meanwhile == "begins" else (0, 1))
    else:
        assert [row.exchange.number for row in found.rows] == [waiting.number]
        news = updates_of(session, found.state)
        assert news and news.totals
        assert len(news.fresh) == (meanwhile == "begins") and len(news.changed) == (meanwhile == "ends")


@pytest.mark.parametrize("change", ["", "chunk", "end", "exchange", "run"])
def test_a_page_hears_of_each_change_once(
    client: Client, session: Session, waiting: Exchange, change: str
) -> None:
    asked = asked_by(read_list(client, session))
    apply(change, waiting)
    response = client.get(news_of(session), asked)
    assert response.status_code == (200 if change else 204)
    if change:
        again = asked_by(response.content.decode())
        assert client.get(news_of(session), again).status_code == 204


def apply(change: str, exchange: Exchange) -> None:
    if change == "chunk":
        RawChunk.objects.append([(exchange.pk, 0, 9.0, text_chunk("Y"))])
    elif change == "end":
        receive(exchange, [text_chunk("Yes.", finish="STOP")])
    elif change == "exchange":
        make_exchange(exchange.run, step=2)
    elif change == "run":
        Run.objects.update(status=Run.Status.COMPLETED)


def test_an_answer_replaces_the_rows_of_its_run(client: Client, session: Session, waiting: Exchange) -> None:
    receive(waiting, [text_chunk("Yes.", finish="STOP")])
    told = updates(client, session, after=1, open="1-0", active=1)
    assert f'<tbody id="run-{waiting.run.public}" hx-swap-oob="true">' in told
    assert "afterend" not in told and asked_by(told)["open"] == ""


def test_a_second_request_puts_its_run_under_a_heading(
    client: Client, session: Session, waiting: Exchange
) -> None:
    make_exchange(waiting.run, step=2)
    told = updates(client, session, after=1, open="1-0", active=1)
    assert 'class="heading"' in told and "2 requests" in told
    assert told.index('id="exchange-1"') < told.index('id="exchange-2"')


def test_what_is_still_open_stays_watched(client: Client, session: Session, waiting: Exchange) -> None:
    Run.objects.update(status=Run.Status.COMPLETED)
    answered(session, "Hello", "Hi")
    told = updates(client, session, after=1, open="1-0")
    assert asked_by(told)["open"] == "1-0" and 'id="exchange-2"' in told


def test_more_than_a_response_can_hold_loads_the_page_again(
    client: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions_app.inspector.exchange_updates.MAX_ROWS", 2)
    make_history(session, 2)
    assert client.get(news_of(session), {"after": 0})["HX-Refresh"] == "true"
    assert "HX-Refresh" not in client.get(news_of(session), {"after": 1})


def test_an_answer_that_comes_is_not_told_as_waiting(
    client: Client, session: Session, waiting: Exchange
) -> None:
    assert "waiting" in read_list(client, session)
    RawChunk.objects.append([(waiting.pk, seq, 40.0 + seq, text_chunk("Y")) for seq in range(3)])
    shown = read_list(client, session)
    assert "streaming" in shown and "waiting" not in shown
    assert "No answer has come yet" not in shown


def test_asking_in_vain_costs_little(
    client: Client,
    session: Session,
    waiting: Exchange,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    asked = asked_by(read_list(client, session))
    with django_assert_max_num_queries(6) as queries:
        assert client.get(news_of(session), asked).status_code == 204
    # The words of the columns that are large.
    assert not any("manifest" in one["sql"] or "ledger" in one["sql"] for one in queries.captured_queries)


@pytest.mark.parametrize("count", [1, 20])
def test_what_is_told_costs_the_same_however_long(
    client: Client, session: Session, count: int, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    make_history(session, count)
    with django_assert_max_num_queries(12):
        assert "afterend" in updates(client, session, after=0)


def test_the_first_exchange_loads_an_empty_page_again(client: Client, session: Session) -> None:
    assert "&amp;empty" in read_list(client, session)
    address = reverse("exchanges-news", args=[session.public])
    waits = client.get(address, {"after": "0", "empty": ""})
    assert waits.status_code == 204
    answered(session, "Hello", "Hi")
    assert client.get(address, {"after": "0", "empty": ""})["HX-Refresh"] == "true"


def test_a_refusal_loads_the_page_again_once(client: Client, session: Session) -> None:
    answered(session, "Hello", "Hi")
    run = make_run(session)
    run.end(Run.Status.FAILED)
    Run.objects.filter(pk=run.pk).update(stages=[{"name": "check", "status": "blocked"}])
    address = reverse("exchanges-news", args=[session.public])
    assert client.get(address, {"after": 1, "refused": 0})["HX-Refresh"] == "true"
    assert "HX-Refresh" not in client.get(address, {"after": 1, "refused": 1})


def test_a_refusal_on_a_later_page_is_known_to_the_first(
    client: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions_app.inspector.exchange_list.PAGE_SIZE", 1)
    run = make_run(session)
    run.end(Run.Status.FAILED)
    Run.objects.filter(pk=run.pk).update(stages=[{"name": "check", "status": "blocked"}])
    for _ in range(2):
        answered(session, "Hello", "Hi")
    assert "refused=1" in read_list(client, session)


@pytest.mark.parametrize(
    "asked", [{"after": "x"}, {"after": "9" * 30}, {"open": "1,x,,-4"}, {"open": "," * 999}]
)
def test_nonsense_is_no_trouble(client: Client, session: Session, asked: dict[str, str]) -> None:
    answered(session, "Hello", "Hi")
    assert "#rows-head" in updates(client, session, **asked)


@pytest.mark.parametrize("tab", TABS, ids=lambda tab: tab.id)
def test_an_open_exchange_renews_what_follows_the_answer(
    client: Client, waiting: Exchange, tab: object
) -> None:
    RawChunk.objects.append([(waiting.pk, 0, 9.0, text_chunk("Y"))])
    told = live(client, waiting, getattr(tab, "id", ""), "open-0-11")
    assert ('id="tab"' in told) is (getattr(tab, "refresh", "") == "always")
    assert 'id="head" hx-swap-oob="true"' in told and "every 2s" in told


def state_of(page: str) -> str:
    (state,) = re.findall(r"live=([\w-]+)", page)
    return str(state)


@pytest.mark.parametrize("change", ["", "chunk", "end", "exchange", "run"])
def test_an_open_page_of_an_exchange_hears_of_each_change_once(
    client: Client, waiting: Exchange, change: str
) -> None:
    seen = state_of(read(client, waiting, "wire"))
    apply(change, waiting)
    response = client.get(waiting.get_absolute_url(), {"tab": "wire", "live": seen})
    assert response.status_code == (200 if change else 204)
    if change:
        again = state_of(response.content.decode())
        found = client.get(waiting.get_absolute_url(), {"tab": "wire", "live": again})
        assert found.status_code == 204


def test_the_head_counts_the_chunks_of_an_answer_that_comes(client: Client, waiting: Exchange) -> None:
    RawChunk.objects.append([(waiting.pk, seq, 40.0 + seq, text_chunk("Y")) for seq in range(3)])
    for tab in ("response", "stream"):
        page = read(client, waiting, tab)
        assert "first chunk 40 ms, 3 chunks so far, the last after 42 ms" in page
        assert "No answer has come yet" not in page
    assert "It has not ended yet." in read(client, waiting, "response")


def test_at_the_end_the_tab_is_shown_once_more(client: Client, waiting: Exchange) -> None:
    receive(waiting, [text_chunk("Yes.", finish="STOP")])
    Run.objects.update(status=Run.Status.COMPLETED)
    assert 'id="tab"' in live(client, waiting, "wire", "open-1-11")
    assert 'id="tab"' not in live(client, waiting, "layers", "open-1-11")
    assert 'id="tab"' not in live(client, waiting, "wire", "ended-0-11")


def test_an_exchange_that_has_a_next_one_does_not_ask(client: Client, session: Session) -> None:
    first, last = make_history(session, 2)
    assert "every 2s" not in read(client, first) and "every 2s" in read(client, last)


def test_asking_of_one_exchange_in_vain_costs_little(
    client: Client, waiting: Exchange, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    asked = {"tab": "wire", "live": state_of(read(client, waiting, "wire"))}
    with django_assert_max_num_queries(5):
        assert client.get(waiting.get_absolute_url(), asked).status_code == 204


def test_another_persons_news_do_not_exist(stranger: Client, session: Session, waiting: Exchange) -> None:
    assert stranger.get(reverse("exchanges-news", args=[session.public])).status_code == 404


def test_the_chat_and_the_inspector_lead_to_each_other(client: Client, session: Session) -> None:
    (exchange,) = make_history(session, 1)
    chat = client.get(session.get_absolute_url()).content.decode()
    assert exchange.get_absolute_url() in chat and f'id="run-{exchange.run.public}"' in chat
    assert f"#run-{exchange.run.public}" in client.get(exchange.get_absolute_url()).content.decode()
