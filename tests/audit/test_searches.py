"""The audit of searches: what they cost follows from the raw answer, and a wrong figure is noticed."""

from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User

from sessions_app.audit.differences import MoneyFigure
from sessions_app.models import Booking, Exchange, SearchPrice, Session
from sessions_app.prompt.reply import fold
from sessions_app.runs.accounting import account_for
from tests import factories
from tests.audit.money import audited, figures
from tests.audit.test_money import sum_anew

F_ = MoneyFigure


def grounded(*queries: str) -> bytes:
    beside = {"groundingMetadata": {"webSearchQueries": list(queries)}}
    return factories.text_chunk("Bees dance.", finish="STOP", usage=factories.USAGE, beside=beside)


@pytest.fixture
def session(alice: User) -> Session:
    session = factories.make_session(alice)
    run = factories.make_run(session, "Do bees dance?")
    bodies = [grounded("", "bees"), grounded("bees", "bee dance", " ")]
    exchange = factories.make_exchange(run, bodies)
    reply = fold(bodies)
    exchange.searches = reply.searches
    account_for(exchange, reply)
    exchange.save()
    factories.finish(run)
    return session


def booking(session: Session) -> Booking:
    return Booking.objects.get(session=session)


def test_a_query_counts_once_and_an_empty_one_not_at_all(session: Session) -> None:
    assert (booking(session).searches, Exchange.objects.get(session=session).searches) == (2, 2)
    assert audited(session) == []


@pytest.mark.parametrize(
    ("changes", "noticed"),
    [
        ({"searches": 3}, {F_.SEARCHES}),
        ({"usd": Decimal("0.5")}, {F_.BOOKED_USD}),
    ],
)
def test_a_wrong_figure_is_noticed(session: Session, changes: dict[str, Any], noticed: set[Any]) -> None:
    Booking.objects.filter(session=session).update(**changes)
    sum_anew(session)
    assert noticed <= figures(session)


def test_the_price_of_another_model_is_noticed(session: Session) -> None:
    other = SearchPrice.objects.get(model="gemini-2.5-flash")
    Booking.objects.filter(session=session).update(search_price=other)
    assert F_.SEARCH_PRICE in figures(session)


def test_what_is_priced_later_changes_no_booking(session: Session) -> None:
    paid = booking(session)
    SearchPrice.objects.create(model=paid.model, valid_from=paid.day, usd=99, per="query")
    assert audited(session) == []


def test_an_exchange_of_an_earlier_version_was_not_charged_for_searches(session: Session) -> None:
    row, exchange = booking(session), Exchange.objects.get(session=session)
    tokens = sum(Decimal(t["rate"]) * t["tokens"] / 1_000_000 for t in exchange.money["terms"][:-1])
    exchange.searches, exchange.usd = None, tokens.quantize(Decimal("0.00000001"))
    exchange.money["terms"].pop()
    exchange.save()
    Booking.objects.filter(pk=row.pk).update(searches=0, search_price=None, usd=exchange.usd)
    sum_anew(session)
    assert audited(session) == []
