"""The audit of a cache whose rows are written by hand: a sound life, and one with one thing wrong."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User

from sessions_app.audit.cache_bookings import CacheBookings, cache_findings, caches_of
from sessions_app.audit.differences import MoneyFigure
from sessions_app.audit.money_sources import EMULATOR_ENDPOINT
from sessions_app.audit.prices import PriceRows
from sessions_app.models import Booking, CacheEntry, CacheEvent, Exchange, Price, Session
from tests.factories import MODEL, make_exchange, make_run, make_session
from tests.prices import make_price

NAME = "cachedContents/a"
ROUTE = f"0123456789abcdef/{MODEL}"
AT = datetime(2026, 11, 21, 9, tzinfo=UTC)
F_ = MoneyFigure


@dataclass
class Life:
    """A million tokens, made for an hour, kept half an hour longer by another one, deleted at 9:45.

    Making it was $0.50 and an hour $1. What was paid last comes back first.
    """

    maker: Session
    user: Session
    entry: CacheEntry
    made: CacheEvent
    longer: CacheEvent
    end: CacheEvent
    making: Booking
    hour: Booking
    half: Booking
    half_back: Booking
    quarter_back: Booking


@pytest.fixture
def life(alice: User, bob: User) -> Life:
    maker, user, price = make_session(alice), make_session(bob), make_price(MODEL)
    entry = CacheEntry.objects.create(
        fingerprint="f" * 64, route=ROUTE, model=MODEL, name=NAME, tokens=1_000_000, owner=alice
    )

    def event(kind: str, minutes: int, until: int | None, session: Session | None) -> CacheEvent:
        expires = None if until is None else AT + timedelta(minutes=until)
        moment = AT + timedelta(minutes=minutes)
        return CacheEvent.objects.create(
            entry=entry, kind=kind, at=moment, name=NAME, expires=expires, session=session
        )

    def booking(session: Session, usd: str, seconds: float) -> Booking:
        return Booking.objects.create(
            owner=session.owner,
            session=session,
            price=price,
            day=AT.date(),
            model=MODEL,
            cause="cache_kept" if seconds else "cache_made",
            source="provider",
            usd=Decimal(usd),
            cache_name=NAME,
            stored_seconds=seconds,
        )

    return Life(
        maker,
        user,
        entry,
        event("made", 0, 60, maker),
        event("extended", 30, 90, user),
        event("deleted", 45, None, None),
        booking(maker, "0.5", 0),
        booking(maker, "1", 3_600),
        booking(user, "0.5", 1_800),
        booking(user, "-0.5", -1_800),
        booking(maker, "-0.25", -900),
    )


def figures(ahead: timedelta = timedelta()) -> set[MoneyFigure]:
    """Those that differ; `ahead`: as much the provider's clock is before ours."""
    findings = cache_findings(CacheBookings(NAME, PriceRows(), ahead))
    return {figure for figure, stored, due in findings if stored != due}


def set_to(row: str, **changes: Any) -> Callable[[Life], None]:
    """Changes columns of a row; what is callable is asked for the value."""

    def change(life: Life) -> None:
        one = getattr(life, row)
        for name, value in changes.items():
            setattr(one, name, value(life) if callable(value) else value)
        one.save()

    return change


def dropped(row: str) -> Callable[[Life], None]:
    return lambda life: getattr(life, row).delete()


def doubled(row: str) -> Callable[[Life], None]:
    return set_to(row, pk=None)


def given_back_first(life: Life) -> None:
    """Before anything was paid."""
    life.half_back.delete()
    Booking.objects.filter(pk=life.making.pk).update(
        cause="cache_kept", usd=Decimal("-0.5"), stored_seconds=-1_800
    )


def of_another_price(life: Life) -> Price:
    return make_price("gemini-9-other")


WRONG: dict[str, tuple[Callable[[Life], None], set[MoneyFigure]]] = {
    "made twice": (doubled("making"), {F_.BOOKED_FOR}),
    "kept twice": (doubled("half"), {F_.BOOKED_FOR}),
    "longer for nothing": (
        set_to("longer", kind="named"),
        {F_.BOOKED_FOR, F_.GIVEN_BACK_SECONDS},
    ),
    "a refund to another session": (set_to("half_back", session=lambda life: life.maker), {F_.BOOKED_PAYER}),
    "a refund to another person": (
        set_to("half_back", owner=lambda life: life.maker.owner),
        {F_.BOOKED_PAYER},
    ),
    "a refund at another price": (set_to("half_back", price=of_another_price), {F_.BOOKED_PAYER}),
    "a refund of another model": (set_to("half_back", model="gemini-9-other"), {F_.BOOKED_PAYER}),
    "a refund of another source": (set_to("half_back", source="emulator"), {F_.BOOKED_PAYER}),
    "a whole refund of less": (set_to("half_back", usd=Decimal("-0.49")), {F_.BOOKED_USD}),
    "a part of a refund of more": (set_to("quarter_back", usd=Decimal("-0.26")), {F_.BOOKED_USD}),
    "a refund without a sum": (set_to("half_back", usd=None), {F_.BOOKED_USD}),
    "nothing given back": (dropped("quarter_back"), {F_.GIVEN_BACK_SECONDS}),
    "too little given back": (
        set_to("quarter_back", stored_seconds=-880, usd=Decimal("-0.24444444")),
        {F_.GIVEN_BACK_SECONDS},
    ),
    "given back before it was paid": (given_back_first, {F_.BOOKED_FOR, F_.GIVEN_BACK_SECONDS}),
    "an end that came later": (
        set_to("end", at=AT + timedelta(minutes=50)),
        {F_.GIVEN_BACK_SECONDS},
    ),
    "a longer extension": (
        set_to("half", stored_seconds=1_801, usd=Decimal("0.50027778")),
        {F_.STORED_SECONDS, F_.BOOKED_PAYER},
    ),
    "a shorter life": (set_to("made", expires=AT + timedelta(minutes=50)), {F_.STORED_SECONDS}),
    "other tokens": (set_to("entry", tokens=1_000_001), {F_.BOOKED_TOKENS, F_.BOOKED_USD}),
    "another who made it": (set_to("making", session=lambda life: life.user), {F_.BOOKED_PAYER}),
    "another who kept it": (set_to("hour", session=lambda life: life.user), {F_.BOOKED_PAYER}),
    "the day after": (set_to("hour", day=AT.date() + timedelta(days=1)), {F_.BOOKED_DAY}),
    "another model": (set_to("making", model="gemini-9-other"), {F_.BOOKED_MODEL}),
    "another source": (set_to("making", source="emulator"), {F_.BOOKED_SOURCE}),
    "making it for more": (set_to("making", usd=Decimal("0.51")), {F_.BOOKED_USD}),
    "an hour for more": (set_to("hour", usd=Decimal("1.01")), {F_.BOOKED_USD}),
    "an hour without a price": (set_to("hour", price=None, usd=None), {F_.BOOKED_PRICE, F_.BOOKED_USD}),
}
"""What is wrong in the rows, and of the figures that differ those that tell it."""


def test_a_sound_life_has_no_difference(life: Life) -> None:
    assert figures() == set()


@pytest.mark.parametrize("name", WRONG)
def test_each_wrong_row_is_noticed(life: Life, name: str) -> None:
    change, told = WRONG[name]
    change(life)
    assert figures() >= told


def test_a_few_seconds_between_the_end_and_its_booking_are_no_difference(life: Life) -> None:
    set_to("end", at=AT + timedelta(minutes=45, seconds=9))(life)
    assert figures() == set()


def test_a_cache_that_lives_gives_nothing_back(life: Life) -> None:
    life.end.delete()
    assert figures() == {F_.GIVEN_BACK_SECONDS}
    Booking.objects.filter(stored_seconds__lt=0).delete()
    assert figures() == set()


@pytest.mark.parametrize("kind", ["deleted", "gone"])
def test_any_end_gives_back(life: Life, kind: str) -> None:
    set_to("end", kind=kind)(life)
    assert figures() == set()
    life.quarter_back.delete()
    assert figures() == {F_.GIVEN_BACK_SECONDS}


def test_a_shorter_life_than_was_paid_gives_back_as_an_end_does(life: Life) -> None:
    """Extended by an admin to less than there was: a quarter of an hour was paid for and not used."""
    Booking.objects.filter(pk__in=[life.half.pk, life.half_back.pk]).delete()
    life.end.delete()
    set_to("longer", expires=AT + timedelta(minutes=45))(life)
    assert figures() == set()
    life.quarter_back.delete()
    assert figures() == {F_.GIVEN_BACK_SECONDS}


def test_a_cache_that_ended_after_its_time_gives_nothing_back(life: Life) -> None:
    Booking.objects.filter(stored_seconds__lt=0).delete()
    set_to("end", at=AT + timedelta(minutes=95))(life)
    assert figures() == set()


def test_a_cache_that_was_never_extended_gives_back_as_well(life: Life) -> None:
    for row in ("longer", "half", "half_back"):
        dropped(row)(life)
    assert figures() == set()
    life.quarter_back.delete()
    assert figures() == {F_.GIVEN_BACK_SECONDS}


def test_what_an_admin_extended_is_of_no_session(life: Life) -> None:
    set_to("longer", session=None)(life)
    assert figures() == {F_.BOOKED_PAYER}
    Booking.objects.filter(session=life.user).update(session=None)
    assert figures() == set()


@pytest.mark.parametrize(
    ("causes", "is_sound"),
    [
        (["cache_made"], True),
        (["cache_made", "cache_kept"], True),
        (["cache_kept"], False),
        (["cache_made", "cache_made"], False),
    ],
)
def test_a_cache_that_was_not_needed_is_booked_once(life: Life, causes: list[str], is_sound: bool) -> None:
    """No event has it."""
    CacheEvent.objects.all().delete()
    Booking.objects.all().delete()
    for cause in causes:
        set_to("making", pk=None, cause=cause)(life)
    assert figures() == (set() if is_sound else {F_.BOOKED_FOR})


def test_a_cache_of_an_earlier_version_was_booked_without_its_name(life: Life) -> None:
    Booking.objects.all().delete()
    assert F_.BOOKED_FOR in figures()
    set_to("made", session=None)(life)
    assert figures() == set()


def test_an_adopted_cache_is_of_the_session_that_planned_it(life: Life) -> None:
    set_to("made", session=None)(life)
    assert figures() == {F_.BOOKED_PAYER}
    for session in (life.user, life.maker):
        exchange = make_exchange(make_run(session), route=ROUTE)
        rows = Exchange.objects.filter(pk=exchange.pk)
        rows.update(fingerprint=life.entry.fingerprint, cache_action="create")
        assert (figures() == set()) is (session == life.maker)


@pytest.mark.parametrize(
    ("late", "ahead", "is_sound"),
    [(60, 0, True), (61, 0, False), (120, 60, True), (-60, 0, True), (-61, 0, False)],
)
def test_the_end_that_the_provider_names_may_be_a_minute_from_what_was_asked_for(
    life: Life, late: int, ahead: int, is_sound: bool
) -> None:
    """Or as much later as its clock is ahead."""
    for row in ("longer", "half", "half_back", "end", "quarter_back"):
        dropped(row)(life)
    set_to("made", expires=AT + timedelta(minutes=60, seconds=late))(life)
    assert figures(timedelta(seconds=ahead)) == (set() if is_sound else {F_.STORED_SECONDS})


@pytest.mark.parametrize(("second", "is_sound"), [(51, True), (49, False)])
def test_a_booking_right_after_midnight_is_of_the_day_that_began(
    life: Life, second: int, is_sound: bool
) -> None:
    for row in ("longer", "half", "half_back", "end", "quarter_back"):
        dropped(row)(life)
    made = AT.replace(hour=23, minute=59, second=second)
    set_to("made", at=made, expires=made + timedelta(hours=1))(life)
    Booking.objects.update(day=AT.date() + timedelta(days=1))
    assert figures() == (set() if is_sound else {F_.BOOKED_DAY})


def at_another_price(**rates: Any) -> None:
    """As if a later price, which differs in these, had held when everything was booked."""
    price = Price.objects.get(model=MODEL)
    said = {name: getattr(price, name) for name in ("input", "cached", "output", "storage")} | rates
    Booking.objects.update(price=Price.objects.create(model=MODEL, valid_from=AT.date(), **said))


def test_what_making_it_cost_says_how_many_tokens_a_cache_had_that_is_gone(life: Life) -> None:
    """The entry has another one by now; the second tier of the price holds for so many tokens."""
    set_to("entry", name="cachedContents/b", tokens=7)(life)
    at_another_price(above=200_000, input_above=Decimal(1))
    assert figures() == {F_.BOOKED_USD}
    Booking.objects.filter(pk=life.making.pk).update(usd=1)
    assert figures() == set()


def test_storage_without_a_price_has_no_sum(life: Life) -> None:
    at_another_price(storage=None)
    assert figures() == {F_.BOOKED_USD}
    Booking.objects.filter(cause="cache_kept").update(usd=None)
    assert figures() == set()


def test_the_family_of_a_route_serves_unless_it_is_a_hash(life: Life) -> None:
    set_to("entry", route="0123456789abcdef/0123456789abcdef")(life)
    assert figures() == set()
    set_to("entry", route="0123456789abcdef/gemini-9-other")(life)
    assert F_.BOOKED_MODEL in figures()


def test_requests_over_another_route_do_not_say_who_paid(life: Life) -> None:
    make_exchange(make_run(life.maker), route=f"{EMULATOR_ENDPOINT}/{MODEL}")
    Booking.objects.update(source="emulator")
    assert figures() == {F_.BOOKED_SOURCE}
    set_to("entry", route=f"{EMULATOR_ENDPOINT}/{MODEL}")(life)
    assert figures() == set()


def test_rows_of_another_cache_are_none_of_this(life: Life) -> None:
    other = CacheEntry.objects.create(fingerprint="e" * 64, route="other/x", model="m", name="b", tokens=7)
    CacheEvent.objects.create(entry=other, kind="made", at=AT, name="b", expires=AT, session=life.maker)
    set_to("half", pk=None, cache_name="b")(life)
    make_exchange(make_run(life.maker), route=ROUTE, cache_name="b", cached_tokens=7)
    assert figures() == set()


@pytest.mark.parametrize(("cached", "told"), [(1_000_000, set()), (999_999, {F_.BOOKED_TOKENS}), (0, set())])
def test_it_holds_as_many_tokens_as_an_answer_from_it_was_given(
    life: Life, cached: int, told: set[MoneyFigure]
) -> None:
    exchange = make_exchange(make_run(life.maker), route=ROUTE, cache_name=NAME)
    Exchange.objects.filter(pk=exchange.pk).update(cached_tokens=cached)
    assert figures() == told


def test_without_a_price_no_sum_is_known(life: Life) -> None:
    rows = Booking.objects.filter(cache_name=NAME)
    rows.update(price=None, usd=None)
    Price.objects.all().delete()
    assert figures() == set()
    rows.filter(pk=life.half_back.pk).update(usd=Decimal("-0.5"))
    assert figures() == {F_.BOOKED_USD}


def test_a_session_has_the_caches_that_it_paid_for_and_those_that_it_caused(life: Life) -> None:
    assert [*caches_of(life.maker.pk)] == [*caches_of(life.user.pk)] == [NAME]
    Booking.objects.update(session=None)
    assert [*caches_of(life.maker.pk)] == [*caches_of(life.user.pk)] == [*caches_of(None)] == [NAME]
    CacheEvent.objects.update(kind="named")
    assert [*caches_of(life.maker.pk)] == []
