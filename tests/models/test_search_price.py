"""Prices of searches: which holds, how they are counted, and that a charged one stays."""

from datetime import date
from decimal import Decimal

import pytest
from django.contrib.auth.models import User

from sessions_app.catalogue import CATALOGUE
from sessions_app.errors import PriceUsed
from sessions_app.models import Booking, SearchPrice, SeededSearchPrice
from sessions_app.models.search_price import seed_search_prices
from sessions_app.prompt.bookings import SpendingCause
from sessions_app.prompt.pricing import MoneySource
from sessions_app.runs.budgets import RESERVED_SEARCHES, most_of_request
from tests import factories

pytestmark = pytest.mark.django_db
MODEL, DAY = "gemini-3-flash-preview", date(2026, 11, 25)


def test_every_priced_search_of_the_catalogue_is_seeded_with_its_source() -> None:
    listed = {(name, one.valid_from) for name, entry in CATALOGUE.items() for one in entry.search_prices}
    assert set(SearchPrice.objects.values_list("model", "valid_from")) == listed
    assert not SearchPrice.objects.filter(source="").exists()


def test_a_deleted_price_does_not_come_back() -> None:
    SearchPrice.objects.filter(model=MODEL).delete()
    seed_search_prices("default")
    assert not SearchPrice.objects.filter(model=MODEL).exists() and SeededSearchPrice.objects.exists()


def test_the_newest_of_the_day_holds_also_for_a_revision() -> None:
    SearchPrice.objects.create(model=MODEL, valid_from=DAY, usd=20, per="query")
    SearchPrice.objects.create(model=MODEL, valid_from=date(2027, 1, 1), usd=30, per="query")
    found = SearchPrice.objects.of(f"models/{MODEL}-001", DAY)
    assert found is not None and found.usd == 20
    assert SearchPrice.objects.of("somebody-elses", DAY) is None


@pytest.mark.parametrize(("per", "counted"), [("query", 3), ("prompt", 1)])
def test_a_prompt_counts_once_whatever_it_asked(per: str, counted: int) -> None:
    assert SearchPrice(per=per).counted(3) == counted and SearchPrice(per=per).counted(0) == 0


def test_a_charged_price_does_not_change(alice: User) -> None:
    price = SearchPrice.objects.get(model=MODEL)
    booking = Booking.of(
        factories.make_session(alice),
        SpendingCause.ANSWER,
        MoneySource.PROVIDER,
        None,
        model=MODEL,
        day=DAY,
        searches=1,
        search_price=price,
    )
    Booking.objects.book(booking)
    with pytest.raises(PriceUsed):
        price.save()
    with pytest.raises(PriceUsed):
        SearchPrice.objects.filter(pk=price.pk).update(usd=1)


def test_a_request_that_may_search_reserves_for_searches() -> None:
    plain = most_of_request(MODEL, [b'[{"functionDeclarations":[]}]'])
    search = most_of_request(MODEL, [b'[{"googleSearch":{}}]          '])
    assert search - plain >= RESERVED_SEARCHES * Decimal("0.014")
