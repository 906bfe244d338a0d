"""Any two requests of one person can be compared, also of two sessions; nobody else's."""

import pytest
from django.contrib.auth.models import User
from django.http import Http404
from django.test import Client
from django.urls import reverse

from sessions_app.inspector.comparison import comparison_of
from sessions_app.inspector.request_diff import pairs_of
from sessions_app.inspector.tabs.diff_tab import INLINE_BYTES
from sessions_app.models import Exchange, Session
from sessions_app.prompt.comparisons import ComparisonProblem
from sessions_app.wording import comparisons
from tests.factories import answered, make_history, make_session


@pytest.fixture
def exchange(session: Session) -> Exchange:
    return answered(session, "Hello", "Hi")


@pytest.fixture
def other(exchange: Exchange) -> Exchange:
    return make_history(make_session(exchange.session.owner, title="Trains"), 2)[1]


def test_a_session_with_a_number_and_the_address_of_a_page_name_an_exchange(
    exchange: Exchange, other: Exchange
) -> None:
    public = other.session.public
    for wanted in (
        f"{public}/2",
        f" {str(public).upper()}/2 ",
        f"https://pipeweb.example{other.get_absolute_url()}",
        f"http://localhost:8000{other.get_absolute_url()}?tab=wire#attempts",
    ):
        assert comparison_of(exchange, wanted, 0).other == other


def test_nobody_compares_with_what_is_not_theirs(
    client: Client, exchange: Exchange, other: Exchange, bob: User
) -> None:
    Session.objects.filter(pk=other.session_id).update(owner=bob)
    wanted = f"{other.session.public}/2"
    found = comparison_of(exchange, wanted, 0)
    assert (found.other, found.problem) == (None, ComparisonProblem.NOT_FOUND)
    response = client.get(exchange.get_absolute_url(), {"tab": "diff", "with": wanted})
    page = response.content.decode()
    assert response.status_code == 200 and comparisons.PROBLEMS[ComparisonProblem.NOT_FOUND] in page
    assert "Trains" not in page and f'value="{wanted}"' in page


def test_what_is_not_there_is_refused_like_what_belongs_to_others(
    exchange: Exchange, other: Exchange
) -> None:
    for wanted in (f"{other.session.public}/99", "00000000-0000-4000-8000-000000000000/1"):
        assert comparison_of(exchange, wanted, 0).problem is ComparisonProblem.NOT_FOUND
    with pytest.raises(Http404):
        comparison_of(exchange, "99", 0)


def test_what_names_nothing_says_how_to_name_one(exchange: Exchange) -> None:
    for wanted in ("nonsense", "1/2", "-1", "½"):
        assert comparison_of(exchange, wanted, 0).problem is ComparisonProblem.NOT_READ
    assert comparison_of(exchange, "", 0).problem is None


def test_messages_of_two_sessions_are_matched_by_their_bytes(exchange: Exchange, session: Session) -> None:
    copy = make_session(session.owner)
    answered(copy, "Hello", "Hi")
    longer = answered(copy, "And?", "Yes")
    statuses = [pair.status for pair in pairs_of(exchange, longer) if pair.shown.name.startswith("turn:")]
    assert statuses == ["same", "new", "new"]


def test_the_page_says_whose_request_it_is_and_links_to_it(
    client: Client, exchange: Exchange, other: Exchange
) -> None:
    asked = {"tab": "diff", "with": f"{other.session.public}/2"}
    page = client.get(exchange.get_absolute_url(), asked).content.decode()
    assert "exchange 2 of “Trains”" in page and f'href="{other.get_absolute_url()}"' in page


def test_a_large_item_of_another_session_is_compared_when_it_is_opened(
    client: Client, stranger: Client, other: Exchange, session: Session
) -> None:
    exchange = answered(session, "long " * INLINE_BYTES + "THE-VERY-END", "Hi")
    asked = {"tab": "diff", "with": f"{other.session.public}/2"}
    page = client.get(exchange.get_absolute_url(), asked).content.decode()
    place = f"{len(exchange.sent_items()) - 1}"
    begin = reverse("exchange-change", args=[session.public, exchange.number, 2, "x"]).removesuffix("x/")
    links = [line.split('"')[0] for line in page.split('href="') if line.startswith(begin)]
    (address,) = {link for link in links if link.split("?")[0].rstrip("/").endswith(f"-{place}")}
    assert address.endswith(f"?of={other.session.public}")
    assert "THE-VERY-END" in client.get(address).content.decode()
    assert stranger.get(address).status_code == 404
    assert client.get(address.split("?")[0] + "?of=00000000-0000-4000-8000-000000000000").status_code == 404
