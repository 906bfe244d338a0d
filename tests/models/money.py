"""The law of money: sessions, and days of people, hold exactly the sums of their bookings."""

from collections import defaultdict
from decimal import Decimal
from typing import Any

from sessions_app.models import Booking, Exchange, Session, Spending
from sessions_app.prompt.bookings import OF_CACHES

NOTHING = Decimal(0)


def assert_sums_agree() -> None:
    bookings = list(Booking.objects.all())
    assert_sessions_agree(bookings)
    assert_days_agree(bookings)
    # What is left of erased sessions makes the sums of the sessions those of the days.
    of_sessions = sum((one.spent_usd for one in Session.objects.all()), NOTHING)
    left = sum((one.usd or NOTHING for one in bookings if one.session_id is None), NOTHING)
    assert of_sessions + left == sum((row.total for row in Spending.objects.all()), NOTHING)


def assert_sessions_agree(bookings: list[Booking]) -> None:
    for session in Session.objects.all():
        own = [one for one in bookings if one.session_id == session.pk]
        assert session.spent_usd == sum((one.usd or NOTHING for one in own), NOTHING)
        assert session.emulated_usd == sum((one.usd or NOTHING for one in own if one.is_emulated), NOTHING)
        assert session.cut_off == sum(one.cut_off for one in own)


def assert_days_agree(bookings: list[Booking]) -> None:
    booked: dict[Any, list[Decimal]] = defaultdict(lambda: [NOTHING] * 4)
    for one in bookings:
        kind = 0 if one.cause not in OF_CACHES else 1 if one.cause == "cache_made" else 2
        sums = booked[one.owner_id, one.day, one.model, one.source]
        sums[kind] += one.usd or NOTHING
        sums[3] += one.cut_off
    held: dict[Any, list[Decimal]] = defaultdict(lambda: [NOTHING] * 4)
    for row in Spending.objects.all():
        sums = held[row.owner_id, row.day, row.model, row.source]
        for kind, amount in enumerate((row.usd, row.cache_usd, row.storage_usd, Decimal(row.cut_off))):
            sums[kind] += amount
    keys = booked.keys() | held.keys()
    assert {key: booked[key] for key in keys} == {key: held[key] for key in keys}


def sums_of_sessions_and_days_are_those_of_their_bookings() -> None:
    assert_sums_agree()
    booked = set(Booking.objects.filter(session=None).values_list("cause", flat=True))
    assert {"cache_made", "cache_kept"} <= booked
    priced = Exchange.objects.exclude(usd=None)
    assert priced.exists()
    booked_usd = dict(Booking.objects.exclude(exchange=None).values_list("exchange_id", "usd"))
    assert all(booked_usd[one.pk] == one.usd for one in priced)


def answers_without_their_end_are_bounds_in_every_sum() -> None:
    assert_sums_agree()
    bounds = set(Exchange.objects.filter(money__at_least=True).values_list("pk", flat=True))
    assert bounds and set(Booking.objects.filter(cut_off=True).values_list("exchange", flat=True)) == bounds
