from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from sessions_app.hosts import EMULATOR, GOOGLE
from sessions_app.inspector.exchange_list import PAGE_SIZE
from sessions_app.inspector.tabs import TABS
from sessions_app.models import Exchange, Run, Session
from tests.factories import answered, make_exchange, make_history, make_run, make_session, play_flight
from tests.inspector.reading import read

PLACES = ["exchange", "exchange-request", "exchange-response"]


def list_of(session: Session) -> str:
    return reverse("exchanges", args=[session.public])


def test_the_list_shows_each_exchange_with_its_figures(client: Client, session: Session) -> None:
    play_flight(session)
    page = client.get(list_of(session)).content.decode()
    assert page.count('<td class="ordinal">') == 2
    assert "Is AA100 late?" in page
    assert "1,204 prompt tokens, 85 % cached" in page


@pytest.mark.parametrize(
    ("base_url", "provider", "host"),
    [
        ("http://127.0.0.1:21030/gemini", "Gemini", "127.0.0.1:21030"),
        (GOOGLE, "generativelanguage.googleapis.com", "generativelanguage.googleapis.com"),
        (EMULATOR, "emulator", "emulator"),
        ("", "Gemini", "unknown host"),
        ("", "Emulator", "emulator"),
    ],
)
def test_the_host_that_answered_is_named(
    client: Client, session: Session, base_url: str, provider: str, host: str
) -> None:
    exchange = answered(session, "Hello", "Hi")
    Exchange.objects.update(base_url=base_url, provider=provider)
    page = client.get(exchange.get_absolute_url()).content.decode()
    head = page[page.index("<title>") : page.index("</title>")]
    assert f"Exchange 1 at {host} " in head
    assert f">{host}</span>" in page[page.index("<main") :]
    listed = client.get(list_of(session)).content.decode()
    assert f' at {host}"' in listed
    assert "Google Gemini" not in page + listed


def test_an_empty_session_is_explained(client: Client, session: Session) -> None:
    assert "Nothing has been sent yet" in client.get(list_of(session)).content.decode()


@pytest.mark.parametrize("count", [5, 50])
def test_the_list_costs_the_same_however_long(
    client: Client,
    session: Session,
    count: int,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    make_history(session, count)
    with django_assert_max_num_queries(15) as queries:
        client.get(list_of(session))
    assert not any("manifest" in query["sql"] or "blob" in query["sql"] for query in queries.captured_queries)


def test_the_list_comes_in_pages(client: Client, session: Session) -> None:
    make_history(session, PAGE_SIZE + 1)
    second = client.get(list_of(session), {"page": "2"}).content.decode()
    assert "Page 2 of 2" in second
    assert second.count('<td class="ordinal">') == 1


@pytest.mark.parametrize("tab", [tab.id for tab in TABS])
@pytest.mark.parametrize("count", [2, 20])
def test_a_tab_costs_the_same_however_long_the_history(
    client: Client,
    session: Session,
    tab: str,
    count: int,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    exchanges = make_history(session, count)
    with django_assert_max_num_queries(18):
        read(client, exchanges[count // 2], tab)


def test_an_unknown_tab_shows_the_first(client: Client, session: Session) -> None:
    exchange = answered(session, "Hello", "Hi")
    assert 'class="tab layers"' in read(client, exchange, "no-such-tab")


def test_the_header_tells_the_usage_as_an_equation(client: Client, session: Session) -> None:
    page = read(client, answered(session, "Hello", "Hi"))
    assert "1,204 prompt = 180 new + 1,024 cached; 96 output + 40 thoughts" in page


def test_the_header_says_that_no_usage_came(client: Client, session: Session) -> None:
    exchange = answered(session, "Hello", "Hi")
    Exchange.objects.filter(pk=exchange.pk).update(prompt_tokens=None)
    assert "The provider reported no usage." in read(client, exchange)


def test_the_header_leads_to_the_neighbours_and_to_the_answer(client: Client, session: Session) -> None:
    first, second, third = make_history(session, 3)
    page = read(client, second, "wire")
    assert f'rel="prev" href="{first.get_absolute_url()}?tab=wire"' in page
    assert f'rel="next" href="{third.get_absolute_url()}?tab=wire"' in page
    assert f"/s/{session.public}/#run-{second.run.public}" in page


def test_an_error_shows_its_words_and_hint(client: Client, session: Session) -> None:
    exchange = make_exchange(make_run(session), [])
    error = {"kind": "QuotaExceeded", "message": "Too many requests.", "hint": "Wait.", "code": 429}
    Exchange.objects.filter(pk=exchange.pk).update(error=error)
    page = read(client, exchange)
    assert all(words in page for words in ("error 429", "Too many requests.", "Wait."))


@pytest.mark.parametrize("place", PLACES)
def test_another_persons_exchange_does_not_exist(
    stranger: Client, bob: User, session: Session, place: str
) -> None:
    exchange = answered(session, "Hello", "Hi")
    User.objects.filter(pk=bob.pk).update(is_staff=True, is_superuser=True)
    assert stranger.get(list_of(session)).status_code == 404
    assert stranger.get(reverse(place, args=[session.public, exchange.number])).status_code == 404


@pytest.mark.parametrize("what", ["item", "layer", "request", "chunk", "reply"])
def test_another_persons_texts_do_not_exist(stranger: Client, session: Session, what: str) -> None:
    exchange = answered(session, "Hello", "Hi")
    place = reverse("exchange-whole", args=[session.public, exchange.number, what, 0])
    assert stranger.get(place).status_code == 404


def test_a_session_of_mine_does_not_open_an_exchange_of_another(
    client: Client, session: Session, bob: User
) -> None:
    answered(make_session(bob), "Hello", "Hi")
    assert client.get(reverse("exchange", args=[session.public, 1])).status_code == 404


def test_a_deleted_session_is_gone(client: Client, session: Session) -> None:
    session.soft_delete()
    assert client.get(list_of(session)).status_code == 404
    assert client.get(reverse("exchanges", args=[uuid4()])).status_code == 404


def test_who_is_not_signed_in_is_asked_to(db: None, alice: User) -> None:
    response = Client().get(list_of(make_session(alice)))
    assert response.status_code == 302
    assert "sign-in" in response["Location"]


def test_an_exchange_that_waits_for_its_answer_opens(client: Client, session: Session) -> None:
    exchange = make_exchange(make_run(session), [])
    Exchange.objects.filter(pk=exchange.pk).update(
        ended_at=None, outcome="", usage={}, verdict="", total_ms=None, first_chunk_ms=None
    )
    Run.objects.update(status=Run.Status.RUNNING)
    for tab in TABS:
        assert "waiting" in read(client, exchange, tab.id)
