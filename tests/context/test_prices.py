"""Prices that a process keeps in memory."""

from datetime import date

import pytest

from sessions_app.context import prices
from sessions_app.context.prices import price_now
from sessions_app.models import Price
from tests.prices import make_price

pytestmark = pytest.mark.django_db

TODAY = date(2026, 11, 21)


def test_a_price_is_read_once(django_assert_num_queries: pytest.FixtureRequest) -> None:
    price = make_price("gemini-9")
    for statements in (1, 0):
        with django_assert_num_queries(statements):  # type: ignore[operator]
            assert price_now("gemini-9", TODAY) == price


def test_that_there_is_none_is_kept_too(django_assert_num_queries: pytest.FixtureRequest) -> None:
    for statements in (1, 0):
        with django_assert_num_queries(statements):  # type: ignore[operator]
            assert price_now("gemini-9", TODAY) is None


def test_a_new_price_and_a_deleted_one_hold_at_once() -> None:
    assert price_now("gemini-9", TODAY) is None
    price = make_price("gemini-9")
    assert price_now("gemini-9", TODAY) == price
    price.delete()
    assert price_now("gemini-9", TODAY) is None


def test_what_another_process_changed_holds_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    price = make_price("gemini-9")
    assert price_now("gemini-9", TODAY) == price
    # Without a signal, as when another process does it.
    Price.objects.filter(pk=price.pk).update(model="gemini-10")
    assert price_now("gemini-9", TODAY) == price
    monkeypatch.setattr(prices, "monotonic", lambda: prices._memo["gemini-9", TODAY, ""][0] + 31)
    assert price_now("gemini-9", TODAY) is None
