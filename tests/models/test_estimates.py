"""Migration 0117: what is known of earlier bookings, and what of them is an estimate."""

from importlib import import_module
from typing import Any
from unittest.mock import Mock

import pytest
from django.apps import apps
from django.contrib.auth.models import User

from sessions_app.models import Booking, Exchange, Spending
from sessions_app.prompt.bookings import SpendingCause
from sessions_app.prompt.pricing import MoneySource
from tests.factories import MODEL, USAGE, answered, make_session
from tests.models.money import assert_sums_agree
from tests.models.test_booking import booking

pytestmark = pytest.mark.django_db

COUNTED: dict[str, Any] = {"terms": [], "at_least": True, "estimated": False}

EARLIER: dict[str, tuple[dict[str, Any], dict[str, Any], bool, bool]] = {
    "counted": (USAGE, COUNTED, False, True),
    "estimated": ({}, COUNTED | {"estimated": True}, True, False),
    "another service, not kept": (USAGE | {"serviceTier": "priority"}, COUNTED, True, False),
    "another price": (USAGE, COUNTED | {"other_price": True}, True, False),
}
"""By name: usage and money of an exchange; whether its booking is an estimate, and a bound."""


def fill() -> None:
    import_module("sessions_app.migrations.0117_estimates").fill(apps, Mock(connection=Mock(alias="default")))


def test_what_the_exchanges_tell_is_filled_in(alice: User) -> None:
    session, other = make_session(alice), make_session(alice)
    for usage, money, *_ in EARLIER.values():
        exchange = answered(session, "What?", "That.")
        Exchange.objects.filter(pk=exchange.pk).update(usage=usage, money=money)
    Booking.objects.all().delete()
    Spending.objects.all().delete()
    exchanges = session.exchanges.order_by("number")
    Booking.objects.book(*(booking(session, exchange=one, cut_off=True) for one in exchanges))
    Booking.objects.book(booking(other, SpendingCause.TITLE, cut_off=True))
    session.refresh_from_db()
    assert (session.cut_off, session.estimates, Spending.objects.get().cut_off) == (4, 0, 5)
    fill()
    filled = Booking.objects.filter(session=session).order_by("pk").values_list("estimated", "cut_off")
    assert list(filled) == [tuple(known) for *_, known in ((*one[:2], one[2:]) for one in EARLIER.values())]
    assert_sums_agree()


def test_what_has_no_evidence_is_unknown(alice: User) -> None:
    session = make_session(alice)
    erased = booking(session, SpendingCause.ANSWER, cut_off=True)
    unpriced = booking(session, SpendingCause.SUMMARY, usd=None)
    made, kept = (
        booking(session, cause, cache_name="cachedContents/a")
        for cause in (SpendingCause.CACHE_MADE, SpendingCause.CACHE_KEPT)
    )
    Booking.objects.book(erased, unpriced, made, kept)
    fill()
    known = dict(Booking.objects.values_list("cause", "estimated"))
    assert known == {"answer": None, "summary": False, "cache_made": False, "cache_kept": False}
    assert Booking.objects.get(cause="answer").cut_off
    assert_sums_agree()


def test_a_day_of_nobody_in_several_rows_counts_each_estimate_once(alice: User) -> None:
    exchange = answered(make_session(alice), "What?", "That.")
    Exchange.objects.filter(pk=exchange.pk).update(money=COUNTED | {"estimated": True})
    Booking.objects.all().delete()
    Spending.objects.all().delete()
    Booking.objects.book(booking(exchange.session, exchange=exchange, cut_off=True))
    Booking.objects.update(owner=None)
    Spending.objects.update(owner=None, cut_off=0)
    day = Booking.objects.get().day
    Spending.objects.create(owner=None, day=day, model=MODEL, source=MoneySource.PROVIDER.value, cut_off=1)
    fill()
    assert sorted(Spending.objects.values_list("estimates", "cut_off")) == [(0, 0), (1, 0)]
