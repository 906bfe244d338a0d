"""The law of money: sessions, and days of people, hold exactly the sums of their bookings."""

from collections import defaultdict
from decimal import Decimal
from typing import Any

from django.db.models import Q

from sessions_app.models import Allowance, Booking, Exchange, SearchPrice, Session, Spending
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
        assert session.estimates == sum(one.estimated is True for one in own)


def assert_days_agree(bookings: list[Booking]) -> None:
    booked: dict[Any, list[Decimal]] = defaultdict(lambda: [NOTHING] * 5)
    for one in bookings:
        kind = 0 if one.cause not in OF_CACHES else 1 if one.cause == "cache_made" else 2
        sums = booked[one.owner_id, one.day, one.model, one.source]
        sums[kind] += one.usd or NOTHING
        sums[3] += one.cut_off
        sums[4] += one.estimated is True
    held: dict[Any, list[Decimal]] = defaultdict(lambda: [NOTHING] * 5)
    for row in Spending.objects.all():
        sums = held[row.owner_id, row.day, row.model, row.source]
        counts = Decimal(row.cut_off), Decimal(row.estimates)
        for kind, amount in enumerate((row.usd, row.cache_usd, row.storage_usd, *counts)):
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
    booked = Booking.objects.filter(Q(cut_off=True) | Q(estimated=True, exchange__in=bounds))
    assert bounds and set(booked.values_list("exchange", flat=True)) == bounds


def has_other_price(usage: Any) -> bool:
    """Of the dumps, whose service tier is the standard one."""
    return any(f"'{modality}'" in str(usage) for modality in ("IMAGE", "VIDEO"))


def what_is_an_estimate_is_known_where_there_is_evidence() -> None:
    assert_sums_agree()
    priced = Exchange.objects.exclude(usd=None)
    estimated = {one.pk for one in priced if one.money.get("estimated") or has_other_price(one.usage)}
    kept = Booking.objects.exclude(exchange=None)
    assert set(kept.filter(estimated=True).values_list("exchange", flat=True)) == estimated
    assert set(kept.filter(estimated=False).values_list("exchange", flat=True)) == {
        one.pk for one in priced if one.pk not in estimated
    }
    unknown = Booking.objects.filter(estimated=None)
    assert all(not one.exchange_id and one.cause in ("earlier", "title", "summary") for one in unknown)


def bookings_know_their_answers() -> None:
    kept = Booking.objects.exclude(exchange=None)
    keys = list(kept.values_list("answer_key", flat=True))
    assert keys and all(len(key) == 64 for key in keys) and len(set(keys)) == len(keys)
    assert not Booking.objects.filter(exchange=None).exclude(answer_key="").exists()


def every_amount_is_a_booking_whose_source_is_unknown() -> None:
    assert Booking.objects.exists() and not Booking.objects.exclude(source="unknown").exists()
    assert not Spending.objects.exclude(source="unknown").exists()
    assert not Allowance.objects.filter(counts_emulator=True).exists()


def searches_have_prices_and_no_old_exchange_was_counted() -> None:
    priced = set(SearchPrice.objects.values_list("model", "per"))
    assert ("gemini-3.8-flash", "query") in priced and ("gemini-2.5-flash", "prompt") in priced
    assert Exchange.objects.exists() and not Exchange.objects.exclude(searches=None).exists()
    assert not Booking.objects.exclude(searches=0, search_price=None).exists()


def no_old_booking_has_tokens_of_tools() -> None:
    assert not Booking.objects.exclude(tool_use_tokens=0).exists()
    assert not Spending.objects.exclude(tool_use_tokens=0).exists()
