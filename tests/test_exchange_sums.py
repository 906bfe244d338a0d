"""What exchanges cost in rows, headings and totals, and how sure that is."""

from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from sessions_app.exchange_sums import cost_of, cost_of_sums, sums, sums_by_run
from sessions_app.models import Exchange, Session
from sessions_app.prompt.pricing import Money
from sessions_app.wording import costs
from tests import factories
from tests.prices import make_price

USD = Decimal("0.0021")
CUT_OFF = {"usd": USD, "money": Money((), at_least=True).stored()}
ESTIMATED = {"usd": USD, "money": Money((), estimated=True).stored()}
OTHER_PRICE = {"usd": USD, "money": Money((), at_least=True, other_price=True).stored()}
"""Of another service tier, and cut off besides: at that price it may have cost less."""
EARLIER = {"usd": USD, "money": {"terms": [], "at_least": True}}
"""Of a version that did not say whether tokens were estimated."""
ESTIMATED_IN_PART = {"usd": USD, "money": Money((), at_least=True, estimated=True).stored()}
"""Of an answer that was cut off before anything was counted: our estimate is no bound."""
SEARCHED = {"usd": USD, "money": Money((), unpriced_searches=2).stored()}
EARLIER_PRICE = {"usd": USD, "money": Money((), at_least=True).stored(), "usage": {"serviceTier": "flex"}}
EXACT = {"usd": USD, "money": Money(()).stored()}
UNPRICED: dict[str, Any] = {"usd": None, "money": {}}
REFUSED: dict[str, Any] = {**UNPRICED, "first_chunk_ms": None, "prompt_tokens": None}


@pytest.fixture
def session(alice: User) -> Session:
    return factories.make_session(alice)


def answered(session: Session, **fields: Any) -> Exchange:
    exchange = factories.answered(session, "Hello", "Hi")
    Exchange.objects.filter(pk=exchange.pk).update(**fields)
    return Exchange.objects.get(pk=exchange.pk)


@pytest.mark.parametrize(
    ("fields", "text", "case"),
    [
        (EXACT, "$0.0021", ""),
        (CUT_OFF, "≥\xa0$0.0021", "bound"),
        (SEARCHED, "≥\xa0$0.0021", "bound"),
        (ESTIMATED, "≈\xa0$0.0021", "estimated"),
        (ESTIMATED_IN_PART, "≈\xa0$0.0021", "estimated"),
        (OTHER_PRICE, "≈\xa0$0.0021", "other_price"),
        (EARLIER_PRICE, "≈\xa0$0.0021", "other_price"),
        (UNPRICED, "–", "unpriced"),
        (REFUSED, "–", "uncounted"),
        ({**REFUSED, "ended_at": None}, "–", ""),
    ],
)
def test_the_cost_of_one_says_how_sure_it_is(
    session: Session, fields: dict[str, Any], text: str, case: str
) -> None:
    cost = cost_of(answered(session, **fields))
    assert (cost.text, cost.title) == (text, costs.sum_title(case))


@pytest.mark.parametrize(
    ("others", "text", "case"),
    [
        ([EXACT], "$0.0042", ""),
        ([EXACT, REFUSED], "$0.0042", ""),
        ([CUT_OFF], "≥\xa0$0.0042", "bound"),
        ([SEARCHED], "≥\xa0$0.0042", "bound"),
        ([EARLIER], "≥\xa0$0.0042", "bound"),
        ([ESTIMATED], "≈\xa0$0.0042", "about"),
        ([ESTIMATED_IN_PART], "≈\xa0$0.0042", "about"),
        ([OTHER_PRICE], "≈\xa0$0.0042", "about"),
        ([ESTIMATED, CUT_OFF], "≥\xa0$0.0063", "bound"),
        ([ESTIMATED, UNPRICED], "≥\xa0$0.0042", "some_unpriced"),
        ([UNPRICED], "≥\xa0$0.0021", "some_unpriced"),
        ([UNPRICED, CUT_OFF], "≥\xa0$0.0042", "some_unpriced"),
    ],
)
def test_a_sum_says_how_sure_it_is(
    session: Session, others: list[dict[str, Any]], text: str, case: str
) -> None:
    for fields in (EXACT, *others):
        answered(session, **fields)
    cost = cost_of_sums(Exchange.objects.order_by().aggregate(**sums()))
    assert (cost.text, cost.title) == (text, costs.sum_title(case, 1))


@pytest.mark.parametrize(("fields", "case"), [(UNPRICED, "unpriced"), (REFUSED, "uncounted")])
def test_nothing_priced_has_no_sum(session: Session, fields: dict[str, Any], case: str) -> None:
    exchange = answered(session, **fields)
    counted = sums_by_run(Exchange.objects.all())[exchange.run_id]
    assert cost_of_sums(counted).title == costs.sum_title(case)


def test_a_stopped_answer_is_a_lower_bound_on_every_page(client: Client, session: Session) -> None:
    make_price(session.model)
    bodies = [factories.text_chunk("It is on", usage=factories.USAGE)]
    exchange = factories.stop_answer(session, bodies).exchanges.get()
    cost = cost_of(exchange).text
    page = client.get(reverse("exchanges", args=[session.public])).content.decode()
    assert cost.startswith("≥\xa0$") and page.count(cost) >= 3  # Row, totals, whole session.
    of_person = [reverse("outlook", args=[session.public]), reverse("spending"), session.get_absolute_url()]
    assert_is_lower_bound(client, of_person, cost)
    admin = User.objects.create_superuser("root")
    client.force_login(admin)
    lists = ("exchange", "session", "booking", "spending")
    of_admin = [reverse(f"admin:sessions_app_{name}_changelist") for name in lists]
    assert_is_lower_bound(client, [*of_admin, reverse("admin:index")], cost)


def assert_is_lower_bound(client: Client, addresses: list[str], cost: str) -> None:
    """Nowhere is the sum without its mark, but at the scale of a drawing."""
    for address in addresses:
        page = client.get(address).content.decode()
        bare = cost.removeprefix("≥\xa0")
        scale = page.count(f">{bare}</text>")
        assert page.count(cost) and page.count(bare) == page.count(cost) + scale, address


def test_a_list_that_follows_a_run_keeps_what_the_session_cost(client: Client, session: Session) -> None:
    make_price(session.model)
    run = factories.stop_answer(session, [factories.text_chunk("It is", usage=factories.USAGE)])
    news = reverse("exchanges-news", args=[session.public])
    text = client.get(f"{news}?after=0&active=1").content.decode()
    assert f"exchange-{run.exchanges.get().number}" in text and "the whole session" in text


def test_the_whole_session_is_a_lower_bound_whatever_is_listed(client: Client, session: Session) -> None:
    make_price(session.model)
    factories.answered(session, "Hello", "Hi")
    factories.stop_answer(session, [factories.text_chunk("It is", usage=factories.USAGE)])
    address = reverse("exchanges", args=[session.public])
    for listed in ("", "?end=answered", "?sort=oldest"):
        assert "the whole session ≥\xa0$" in client.get(address + listed).content.decode()
