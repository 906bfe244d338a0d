"""The line below an answer, its card, and what a session adds up to."""

import importlib
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from sessions_app.chat.account import Account, RequestAccount, break_words
from sessions_app.models import Exchange, Session
from sessions_app.prompt.breaks import BreakLine
from sessions_app.prompt.pricing import Rates, cost
from sessions_app.prompt.reply import Usage
from tests import factories

BREAK = BreakLine(
    item=2,
    kind="changed",
    layer="dynamic",
    source="panel:todos",
    turn=0,
    byte=12,
    part=None,
    line=3,
    before="",
    was="a",
    now="b",
    lost_tokens=1_500,
    usd="0.00067500",
)
MONEY = cost(Usage(prompt=1_000, cached=900, output=50), Rates(Decimal("0.50"), Decimal("0.05"), Decimal(3)))


def exchange(**fields: Any) -> Exchange:
    counted = {"number": 1, "prompt_tokens": 1_000, "cached_tokens": 925, "verdict": "hit"}
    return Exchange(**{**counted, "money": MONEY.stored(), **fields})


def account(*exchanges: Exchange) -> Account:
    found = Account.of(exchanges)
    assert found is not None
    return found


def test_several_requests_fold_into_one_line() -> None:
    both = account(exchange(cached_tokens=0, verdict="first"), exchange(number=2))
    assert (both.share, both.verdict, both.requests) == ("46 % cached", "cache hit", 2)
    assert both.cost and both.cost.words == "$0.00049"


@pytest.mark.parametrize(
    ("verdict", "word"),
    [
        ("hit", "cache hit"),
        ("partial", "partly cached"),
        ("first", "first request"),
        ("layer_changed", "not cached"),
        ("provider_miss", "not cached"),
        ("unknown", ""),
        ("", ""),
    ],
)
def test_a_verdict_is_a_badge_that_claims_no_more_than_is_known(verdict: str, word: str) -> None:
    assert account(exchange(verdict=verdict)).verdict == word


def test_what_was_not_counted_is_not_called_uncached() -> None:
    assert account(exchange(prompt_tokens=None, cached_tokens=None)).share == "no usage reported"


def test_almost_all_is_not_all() -> None:
    assert account(exchange(cached_tokens=999)).share == "99 % cached"


def test_a_run_that_sent_nothing_has_no_account() -> None:
    assert Account.of([]) is None


def test_the_card_sums_tokens_without_counting_any_twice() -> None:
    one = RequestAccount.of(exchange(output_tokens=50, thought_tokens=7))
    assert one.tokens == "1,000 prompt = 75 new + 925 cached; 50 output + 7 thoughts"
    assert one.equation.startswith("100 new × $0.50 + 900 cached × $0.05")


def test_the_card_keeps_the_two_facts_apart() -> None:
    one = RequestAccount.of(
        exchange(verdict_words="Our bytes: same. The provider: 0 of 9 tokens cached. Why.")
    )
    assert (one.ours, one.theirs) == ("Our bytes: same.", "The provider: 0 of 9 tokens cached. Why.")


def test_the_break_is_one_sentence_with_its_price() -> None:
    words = RequestAccount.of(exchange(break_line=BREAK.stored())).broken
    assert words == (
        "They part at panel “todos”, line 3, byte 12 of the dynamic layer. About 1,500 tokens behind it "
        "were sent again as new: $0.00068 more than from a cache."
    )


def test_a_break_without_a_price_and_one_without_a_loss_say_so() -> None:
    assert "at an unknown price" in break_words(replace(BREAK, usd=""))
    assert "cost nothing" in break_words(replace(BREAK, lost_tokens=0))


def test_an_unknown_price_is_said() -> None:
    assert RequestAccount.of(exchange(money={})).equation == "price unknown"
    assert RequestAccount.of(exchange(money={}, prompt_tokens=None)).equation == ""


def test_the_card_has_a_section_for_each_request(client: Client, alice: User) -> None:
    session = factories.make_session(alice)
    first, _ = factories.play_flight(session)
    page = client.get(reverse("account", args=[session.public, first.run.public])).content.decode()
    assert "Request 1 of 2" in page and page.count("Open in the inspector") == 2
    assert "1,204 prompt = 180 new + 1,024 cached; 96 output + 40 thoughts" in page


def test_the_card_costs_the_same_for_a_long_run(
    client: Client, alice: User, django_assert_num_queries: Any
) -> None:
    session = factories.make_session(alice)
    run = factories.answered(session, "Hello", "Hi").run
    for number in range(2, 9):
        Exchange.objects.create(session=session, run=run, number=number, step=number, request_size=1)
    with django_assert_num_queries(5):
        client.get(reverse("account", args=[session.public, run.public]))


def test_other_peoples_accounts_do_not_exist(stranger: Client, alice: User) -> None:
    session = factories.make_session(alice)
    run = factories.answered(session, "Hello", "Hi").run
    assert stranger.get(reverse("account", args=[session.public, run.public])).status_code == 404
    assert stranger.get(reverse("outlook", args=[session.public])).status_code == 404


def test_sessions_from_before_the_sums_get_them(alice: User) -> None:
    session = factories.make_session(alice)
    factories.make_history(session, 2)
    importlib.import_module("sessions_app.migrations.0010_session_totals").sum_up(apps, None)
    session = Session.objects.get(pk=session.pk)
    assert (session.prompt_tokens, session.cached_tokens, session.unpriced) == (2_408, 2_048, 2)
