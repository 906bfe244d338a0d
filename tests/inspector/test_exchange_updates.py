import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from sessions_app.inspector.tabs import TABS
from sessions_app.models import Exchange, Run, Session
from tests.factories import answered, make_exchange, make_history, make_run, receive, text_chunk
from tests.inspector.reading import read_list


def updates(client: Client, session: Session, **asked: str | int) -> str:
    return client.get(reverse("exchanges-news", args=[session.public]), asked).content.decode()


def live(client: Client, exchange: Exchange, tab: str, was: str) -> str:
    return client.get(exchange.get_absolute_url(), {"tab": tab, "live": was}).content.decode()


@pytest.fixture
def waiting(session: Session) -> Exchange:
    """A request without an answer in a run that goes on."""
    exchange = make_exchange(make_run(session), [])
    Exchange.objects.filter(pk=exchange.pk).update(ended_at=None, outcome="", verdict="")
    return exchange


def test_a_list_asks_again_only_while_a_run_goes_on(
    client: Client, session: Session, waiting: Exchange
) -> None:
    assert "every 2s" in read_list(client, session)
    Run.objects.update(status=Run.Status.COMPLETED)
    Exchange.objects.update(ended_at=waiting.started_at)
    assert "every 2s" not in read_list(client, session)


def test_a_filtered_list_stands_still(client: Client, session: Session, waiting: Exchange) -> None:
    assert 'id="live"' not in read_list(client, session, sort="oldest")


def test_a_new_exchange_comes_as_one_row(client: Client, session: Session, waiting: Exchange) -> None:
    told = updates(client, session, after=0)
    assert 'hx-swap-oob="afterbegin:#rows"' in told and 'id="exchange-1"' in told
    assert "after=1&amp;open=1" in told and 'id="totals" hx-swap-oob' in told


def test_nothing_new_brings_nothing(client: Client, session: Session, waiting: Exchange) -> None:
    assert "<tr" not in updates(client, session, after=1)


def test_an_answer_replaces_its_row_and_the_asking_ends(
    client: Client, session: Session, waiting: Exchange
) -> None:
    receive(waiting, [text_chunk("Yes.", finish="STOP")])
    Run.objects.update(status=Run.Status.COMPLETED)
    told = updates(client, session, after=1, open="1")
    assert '<tr id="exchange-1" hx-swap-oob="true">' in told
    assert "every 2s" not in told


def test_asking_costs_little(
    client: Client,
    session: Session,
    waiting: Exchange,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    with django_assert_max_num_queries(8):
        updates(client, session, after=1, open="1")


def test_the_first_exchange_loads_an_empty_page_again(client: Client, session: Session) -> None:
    assert "&amp;empty" in read_list(client, session)
    address = reverse("exchanges-news", args=[session.public])
    waits = client.get(address, {"after": "0", "empty": ""})
    assert "HX-Refresh" not in waits and "&amp;empty" in waits.content.decode()
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
    assert "#rows" in updates(client, session, **asked)


@pytest.mark.parametrize("tab", TABS, ids=lambda tab: tab.id)
def test_an_open_exchange_renews_what_follows_the_answer(
    client: Client, waiting: Exchange, tab: object
) -> None:
    told = live(client, waiting, getattr(tab, "id", ""), "open")
    assert ('id="tab"' in told) is (getattr(tab, "refresh", "") == "always")
    assert 'id="head" hx-swap-oob="true"' in told and "every 2s" in told


def test_at_the_end_the_tab_is_shown_once_more(client: Client, waiting: Exchange) -> None:
    receive(waiting, [text_chunk("Yes.", finish="STOP")])
    Run.objects.update(status=Run.Status.COMPLETED)
    assert 'id="tab"' in live(client, waiting, "wire", "open")
    assert 'id="tab"' not in live(client, waiting, "layers", "open")
    told = live(client, waiting, "wire", "ended")
    assert 'id="tab"' not in told and "every 2s" not in told


def test_another_persons_news_do_not_exist(stranger: Client, session: Session, waiting: Exchange) -> None:
    assert stranger.get(reverse("exchanges-news", args=[session.public])).status_code == 404


def test_the_chat_and_the_inspector_lead_to_each_other(client: Client, session: Session) -> None:
    (exchange,) = make_history(session, 1)
    chat = client.get(session.get_absolute_url()).content.decode()
    assert exchange.get_absolute_url() in chat and f'id="run-{exchange.run.public}"' in chat
    assert f"#run-{exchange.run.public}" in client.get(exchange.get_absolute_url()).content.decode()
