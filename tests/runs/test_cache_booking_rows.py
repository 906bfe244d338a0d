"""The rows that making, keeping and ending a cache leave, column by column."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User

from sessions_app.models import Booking, CacheEntry, Price, Session
from sessions_app.models.cache_event import CausedBy
from sessions_app.prompt.caching import CacheAction, EntryReason
from sessions_app.prompt.pricing import MoneySource
from sessions_app.runs.cache_bookings import (
    KeptCache,
    book_creation,
    book_early_end,
    book_extension,
    record_end,
    session_that_made,
)
from tests.factories import MODEL, finish, make_exchange, make_run, make_session
from tests.models.money import assert_sums_agree
from tests.prices import make_price

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
DAY = date(2026, 11, 21)
NAME, ROUTE = "cachedContents/a", f"route-a/{MODEL}"
COLUMNS = ("owner_id", "session_id", "day", "model", "source", "usd", "cache_name", "stored_seconds")
PROVIDER = MoneySource.PROVIDER.value


def cache(tokens: int = 1_000_000, at: datetime = NOON, name: str = NAME) -> KeptCache:
    return KeptCache(name, MODEL, ROUTE, tokens, at)


def booked(cause: str) -> list[tuple[Any, ...]]:
    return list(Booking.objects.filter(cause=cause).order_by("pk").values_list(*COLUMNS))


@pytest.fixture
def price(db: None) -> Price:
    """$0.50 for a million tokens of input, $1 for keeping them an hour."""
    return make_price(MODEL)


@pytest.fixture
def maker(alice: User, price: Price) -> Session:
    return make_session(alice)


def row(session: Session, usd: str, seconds: float, day: date = DAY) -> tuple[Any, ...]:
    return (session.owner_id, session.pk, day, MODEL, PROVIDER, Decimal(usd), NAME, seconds)


def test_making_and_keeping_are_two_rows_at_the_price_of_the_day(maker: Session, price: Price) -> None:
    make_price(MODEL, DAY + timedelta(days=1), input="9", storage="9")
    book_creation(cache(), maker, HOUR / 2)
    assert booked("cache_made") == [row(maker, "0.5", 0)]
    assert booked("cache_kept") == [row(maker, "0.5", 1_800)]
    assert set(Booking.objects.values_list("price", "estimated")) == {(price.pk, False)}
    book_creation(cache(at=NOON + timedelta(days=1)), maker, HOUR)
    assert booked("cache_made")[1] == row(maker, "9", 0, DAY + timedelta(days=1))
    assert_sums_agree()


def test_the_tier_is_that_of_the_tokens_of_the_cache(maker: Session) -> None:
    make_price(MODEL, DAY, above=999_999, input_above="4")
    book_creation(cache(), maker, timedelta())
    book_creation(cache(999_999), maker, timedelta())
    assert [usd for *_, usd, _, _ in booked("cache_made")] == [Decimal(4), Decimal("0.49999950")]


def test_what_is_kept_for_no_time_is_made_all_the_same(maker: Session) -> None:
    book_creation(cache(), maker, timedelta())
    assert booked("cache_made") == [row(maker, "0.5", 0)] and booked("cache_kept") == []
    book_creation(cache(), maker, timedelta(microseconds=1))
    assert len(booked("cache_kept")) == 1


def test_without_a_session_the_person_pays_and_who_pays_may_be_told(alice: User, price: Price) -> None:
    book_creation(cache(), None, HOUR, alice.pk, source=MoneySource.CLIENT)
    book_extension(cache(), None, alice.pk, HOUR)
    assert set(Booking.objects.values_list("owner", "source")) == {(alice.pk, "client")}
    assert not Booking.objects.exclude(session=None).exists()
    book_creation(cache(name="cachedContents/b"), None, HOUR, alice.pk)
    assert set(Booking.objects.filter(cache_name="cachedContents/b").values_list("source")) == {(PROVIDER,)}


@pytest.mark.parametrize("has_price", [True, False])
def test_an_unknown_price_is_no_amount(alice: User, price: Price, has_price: bool) -> None:
    """Of keeping alone, or of both."""
    Price.objects.filter(pk=price.pk).update(storage=None)
    if not has_price:
        Price.objects.all().delete()
    maker = make_session(alice)
    book_creation(cache(), maker, HOUR)
    book_early_end(cache(), alice.pk, HOUR / 2)
    made, kept, back = Booking.objects.order_by("pk")
    assert (made.usd, made.price_id) == ((Decimal("0.5"), price.pk) if has_price else (None, None))
    assert (kept.usd, kept.stored_seconds, back.usd, back.stored_seconds) == (None, 3_600, None, -1_800)
    assert_sums_agree()


def test_an_extension_costs_what_is_gained_and_gives_back_what_is_lost(maker: Session, bob: User) -> None:
    other = make_session(bob)
    book_extension(cache(), other, maker.owner_id, timedelta())
    assert not Booking.objects.exists()
    book_creation(cache(), maker, HOUR)
    book_extension(cache(), other, maker.owner_id, HOUR / 4)
    book_extension(cache(), None, maker.owner_id, -HOUR / 2)
    assert booked("cache_kept") == [
        row(maker, "1", 3_600),
        row(other, "0.25", 900),
        row(other, "-0.25", -900),
        row(maker, "-0.25", -900),
    ]
    assert_sums_agree()


def test_what_is_given_back_names_what_was_paid_and_the_day_of_the_end(maker: Session, price: Price) -> None:
    book_creation(cache(), maker, HOUR)
    Booking.objects.update(model="an-older-name", source="emulator", estimated=None)
    make_price(MODEL, DAY, storage="40")
    book_early_end(cache(at=NOON + timedelta(days=1)), None, HOUR / 2)
    back = Booking.objects.get(stored_seconds__lt=0)
    assert (back.owner_id, back.session_id, back.price_id) == (maker.owner_id, maker.pk, price.pk)
    assert (back.model, back.source, back.cause) == ("an-older-name", "emulator", "cache_kept")
    assert (back.day, back.usd, back.cache_name) == (DAY + timedelta(days=1), Decimal("-0.5"), NAME)
    assert back.estimated is None


def test_more_than_was_booked_is_given_back_only_where_its_making_was_not_booked_either(
    maker: Session, bob: User
) -> None:
    """Earlier versions booked a cache without its name, to the day of its owner."""
    book_creation(cache(), maker, HOUR / 2)
    book_early_end(cache(), maker.owner_id, HOUR)
    assert sum(seconds for *_, seconds in booked("cache_kept")) == 0
    assert not Booking.objects.exclude(estimated=False).exists()
    earlier = cache(name="cachedContents/b")
    book_extension(earlier, maker, bob.pk, HOUR / 2)
    book_early_end(earlier, bob.pk, HOUR / 4)
    assert Booking.objects.filter(cache_name=earlier.name).count() == 2
    book_early_end(earlier, bob.pk, HOUR * 3 / 4)
    found = Booking.objects.filter(cache_name="cachedContents/b").order_by("pk")
    assert list(found.values_list("owner", "session", "usd", "stored_seconds")) == [
        (maker.owner_id, maker.pk, Decimal("0.5"), 1_800),
        (maker.owner_id, maker.pk, Decimal("-0.25"), -900),
        (maker.owner_id, maker.pk, Decimal("-0.25"), -900),
        (bob.pk, None, Decimal("-0.5"), -1_800),
    ]
    assert_sums_agree()


def entry(**facts: Any) -> CacheEntry:
    known = {"name": NAME, "model": MODEL, "route": ROUTE, "tokens": 1_000_000, "state": "live"}
    return CacheEntry.objects.create(fingerprint="f" * 64, **known | facts)


def test_the_end_of_a_cache_gives_back_what_was_kept_beyond_it(maker: Session) -> None:
    book_creation(cache(), maker, HOUR)
    one = entry(expires_at=NOON + HOUR, owner=maker.owner)
    for _ in range(2):
        record_end(one, EntryReason.PROVIDER, "not found", by=CausedBy(at=NOON + HOUR / 4))
    assert booked("cache_kept") == [row(maker, "1", 3_600), row(maker, "-0.75", -2_700)]
    one.refresh_from_db()
    assert (one.state, one.reason, one.said) == ("gone", "provider", "not found")
    assert one.events.get(kind="gone").at == NOON + HOUR / 4


@pytest.mark.parametrize("expires", [None, NOON - HOUR, NOON])
def test_an_end_without_time_left_gives_nothing_back(maker: Session, expires: datetime | None) -> None:
    book_creation(cache(), maker, HOUR)
    one = entry(expires_at=expires)
    record_end(one, EntryReason.PROVIDER, by=CausedBy(at=NOON))
    one.refresh_from_db()
    assert one.state == "gone" and len(booked("cache_kept")) == 1


def test_the_session_that_made_a_cache_is_the_newest_of_its_owner_that_planned_it(
    maker: Session, bob: User
) -> None:
    def planned(session: Session, fingerprint: str, action: CacheAction) -> None:
        run = make_run(session)
        make_exchange(run, fingerprint=fingerprint, cache_action=action.value)
        finish(run)

    one = entry(owner=maker.owner)
    assert session_that_made(one) is None
    newer = make_session(maker.owner)
    planned(maker, "f" * 64, CacheAction.CREATE)
    assert session_that_made(one) == maker
    planned(newer, "f" * 64, CacheAction.CREATE)
    planned(maker, "e" * 64, CacheAction.CREATE)
    planned(maker, "f" * 64, CacheAction.HIT)
    planned(make_session(bob), "f" * 64, CacheAction.CREATE)
    assert session_that_made(one) == newer


def test_a_cache_is_at_its_time_or_now(maker: Session) -> None:
    one = entry(tokens=7)
    assert KeptCache.of(one, NOON) == KeptCache(NAME, MODEL, ROUTE, 7, NOON)
    assert abs(KeptCache.of(one).at - datetime.now(UTC)) < timedelta(minutes=1)
    assert KeptCache.of(one, NOON).serving_model == MODEL
