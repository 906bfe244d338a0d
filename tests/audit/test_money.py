"""The audit of money: of sessions that the product made, sound and with one thing broken."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User

from sessions_app.audit.differences import Difference, MoneyFigure
from sessions_app.audit.session_money import audit_money
from sessions_app.inspector.losses import CauseLoss, Losses
from sessions_app.inspector.session_cost import causes_of
from sessions_app.management.commands.audit import of_spending
from sessions_app.management.shown_money import shown_session
from sessions_app.models import Booking, CacheEntry, Price, Session, Spending
from sessions_app.prompt.billing import ItemChange, share_out
from sessions_app.prompt.bookings import SpendingCause
from sessions_app.prompt.caching import EntryReason
from sessions_app.prompt.pricing import MoneySource, Rates
from sessions_app.runs.cache_bookings import book_creation
from tests.prices import make_price
from tests.runs.test_unkind_sessions import PatientPerson

MODEL = "gemini-3-flash-preview"
CENT = Decimal("0.01")


@pytest.fixture
def person(alice: User, transactional_db: None) -> Iterator[PatientPerson]:
    """Before a kind provider; the second tier of the price begins within their requests."""
    make_price(
        MODEL,
        above=6_100,
        cached="0.050001",
        storage="1.000003",
        input_above="0.75",
        cached_above="0.06",
        output_above="4",
    )
    person = PatientPerson(1, alice)
    person.provider.be_kind(True)
    yield person
    person.process.end()


@pytest.fixture
def session(person: PatientPerson) -> Session:
    """Some messages with tool rounds, and a cache."""
    return talked(person)


def talked(person: PatientPerson) -> Session:
    for rounds in (1, 0, 0):
        person.send(rounds, 1)
    return person.session


def audited(session: Session) -> list[Difference]:
    found = audit_money(session.pk, str(session.public), shown_session(session))
    return [*found, *of_spending()]


def figures(session: Session) -> set[Any]:
    return {one.figure for one in audited(session)}


def test_what_the_product_booked_follows_from_the_raw_rows(session: Session) -> None:
    causes = set(session.bookings.values_list("cause", flat=True))
    assert causes >= {"answer", "cache_made", "cache_kept"}
    assert audited(session) == []


def first(session: Session, **facts: Any) -> Any:
    row = Booking.objects.filter(session=session, **facts).order_by("pk").first()
    assert row is not None
    return row


def doubled(session: Session) -> None:
    row = first(session, cause="answer")
    row.pk = None
    row.save(force_insert=True)


def changed(cause: str, **changes: Any) -> Callable[[Session], None]:
    """Changes the first booking of that cause."""

    def change(session: Session) -> None:
        Booking.objects.filter(pk=first(session, cause=cause).pk).update(**changes)

    return change


def dropped(cause: str) -> Callable[[Session], None]:
    return lambda session: first(session, cause=cause).delete()


def rebooked(paid_for: str, **changes: Any) -> Callable[[Session], None]:
    """As if the product had booked it so, in all sums: only what was due tells the mistake."""

    def change(session: Session) -> None:
        row = first(session, cause=paid_for)
        row.delete()
        row.pk = None
        for name, value in changes.items():
            setattr(row, name, value(row) if callable(value) else value)
        Booking.objects.book(row)
        sum_anew(session)

    return change


def sum_anew(session: Session) -> None:
    """The sums follow from the bookings again."""
    Spending.objects.all().delete()
    Session.objects.filter(pk=session.pk).update(
        spent_usd=0, emulated_usd=0, unpriced=0, prompt_tokens=0, cached_tokens=0
    )
    rows = list(Booking.objects.order_by("pk"))
    Booking.objects.all().delete()
    Booking.objects.book(*rows)


def another_price(_: Any) -> Price:
    return make_price("gemini-9-other", input="7", storage="7")


F_ = MoneyFigure
BY_DUE: dict[str, tuple[Callable[[Session], None], set[MoneyFigure]]] = {
    "cause": (rebooked("answer", cause="retry"), {F_.BOOKED_FOR}),
    "source": (rebooked("answer", source="emulator"), {F_.BOOKED_SOURCE}),
    "model": (rebooked("answer", model="gemini-9-other"), {F_.BOOKED_MODEL}),
    "day": (rebooked("answer", day=lambda row: row.day - timedelta(days=1)), {F_.BOOKED_DAY}),
    "price": (rebooked("answer", price=another_price), {F_.BOOKED_PRICE}),
    "rate": (rebooked("answer", usd=lambda row: row.usd + CENT), {F_.BOOKED_USD}),
    "tokens": (rebooked("answer", prompt_tokens=7), {F_.BOOKED_TOKENS}),
    "no price": (rebooked("answer", price=None, usd=None), {F_.BOOKED_PRICE, F_.BOOKED_USD}),
    "cache source": (rebooked("cache_made", source="emulator"), {F_.BOOKED_SOURCE}),
    "cache day": (rebooked("cache_kept", day=lambda row: row.day - timedelta(days=1)), {F_.BOOKED_DAY}),
    "cache rate": (rebooked("cache_made", usd=lambda row: row.usd * 2), {F_.BOOKED_USD}),
    "storage rate": (rebooked("cache_kept", usd=lambda row: row.usd + CENT), {F_.BOOKED_USD}),
    "seconds": (
        rebooked("cache_kept", stored_seconds=lambda row: row.stored_seconds * 2),
        {F_.STORED_SECONDS},
    ),
    "refund": (rebooked("cache_kept", stored_seconds=lambda row: -row.stored_seconds), {F_.BOOKED_FOR}),
}
"""What the product might book by a wrong rule, with all sums in agreement, and what the auditor finds."""

BY_SUMS: dict[str, tuple[Callable[[Session], None], set[MoneyFigure]]] = {
    "doubled": (doubled, {F_.BOOKED_FOR, F_.SESSION_SUMS, F_.DAY_SUMS}),
    "dropped": (dropped("answer"), {F_.BOOKED_FOR, F_.SESSION_SUMS, F_.DAY_SUMS}),
    "storage dropped": (dropped("cache_kept"), {F_.BOOKED_FOR, F_.SESSION_SUMS}),
    "payer": (changed("answer", session=None), {F_.BOOKED_PAYER, F_.SESSION_SUMS}),
    "cache payer": (changed("cache_made", session=None), {F_.BOOKED_PAYER, F_.SESSION_SUMS}),
    "person": (changed("answer", owner=None), {F_.BOOKED_PAYER, F_.DAY_SUMS}),
    "for nothing": (changed("answer", exchange=None), {F_.BOOKED_FOR}),
}
"""Rows that were changed after they were booked."""


@pytest.mark.parametrize("name", [*BY_DUE, *BY_SUMS])
def test_each_mistake_is_noticed(session: Session, name: str) -> None:
    break_it, noticed = (BY_DUE | BY_SUMS)[name]
    break_it(session)
    assert figures(session) >= noticed


def test_sums_made_anew_are_the_sums_that_were_kept(session: Session) -> None:
    """So the mistakes above are noticed by what was due, not by a sum."""
    sum_anew(session)
    assert audited(session) == []


def test_the_rest_of_an_erased_session_stays_in_the_sums(session: Session) -> None:
    Session.objects.get(pk=session.pk).erase()
    assert list(of_spending()) == []
    Booking.objects.filter(cause="answer").delete()
    assert {one.figure for one in of_spending()} >= {F_.DAY_SUMS, F_.ALL_SESSIONS, F_.MONTH_SUMS}


def broken_share(items: Any, count: Any) -> list[tuple[int, int]]:
    shares = share_out(items, count)
    return [(shares[0][0] + 1, shares[0][1]), *shares[1:]]


PATCHES: dict[str, tuple[str, Any, set[MoneyFigure]]] = {
    "shares": ("sessions_app.prompt.billing.share_out", broken_share, {F_.LEDGER_ITEMS, F_.LEDGER_TOTAL}),
    "changes": (
        "sessions_app.inspector.tabs.cache_tab.changes_of",
        lambda before, now: [ItemChange.NEW for _ in now],
        {F_.LEDGER_ITEMS},
    ),
    "causes": (
        "sessions_app.management.shown_money.causes_of",
        lambda session: causes_of(session)[1:],
        {F_.SESSION_CAUSES},
    ),
    "next month": (
        "sessions_app.chat.spending.next_month",
        lambda month: month + timedelta(days=1),
        {F_.MONTH_SUMS, F_.DAY_CAUSES},
    ),
    "losses": (
        "sessions_app.management.shown_money.losses_of",
        lambda exchanges: Losses([CauseLoss("unknown", 1, 2, Decimal(3), 0, 0)]),
        {F_.SESSION_LOSSES},
    ),
}
"""Rules of the pages, broken."""


@pytest.mark.parametrize("name", PATCHES)
def test_each_broken_rule_of_a_page_is_noticed(
    session: Session, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    place, broken, noticed = PATCHES[name]
    monkeypatch.setattr(place, broken)
    assert figures(session) == noticed


def first_tier(price: Price, _: int) -> Rates:
    return Rates(price.input, price.cached, price.output, price.storage)


RULES: dict[str, tuple[str, Any, set[MoneyFigure]]] = {
    "tier": ("sessions_app.models.Price.rates", first_tier, {F_.BOOKED_USD}),
    "cause": (
        "sessions_app.runs.accounting.cause_of",
        lambda exchange: SpendingCause.RETRY,
        {F_.BOOKED_FOR},
    ),
    "source": (
        "sessions_app.runs.accounting.source_of",
        lambda route: MoneySource.EMULATOR,
        {F_.BOOKED_SOURCE},
    ),
    "source of caches": (
        "sessions_app.runs.cache_bookings.source_of",
        lambda route: MoneySource.EMULATOR,
        {F_.BOOKED_SOURCE},
    ),
    "storage": (
        "sessions_app.prompt.pricing.storage_cost",
        lambda tokens, hours, rates: tokens * Decimal(hours) * rates.storage / 500_000,
        {F_.BOOKED_USD},
    ),
    "nothing booked": ("sessions_app.runs.accounting.book_cost", lambda *_: None, {F_.BOOKED_FOR}),
    "cache for nobody": (
        "sessions_app.runs.cache_lifecycle.book_creation",
        lambda cache, session, lifetime: book_creation(cache, None, lifetime, session.owner_id),
        {F_.BOOKED_PAYER},
    ),
    "lifetime": (
        "sessions_app.runs.cache_lifecycle.book_creation",
        lambda cache, session, lifetime: book_creation(cache, session, lifetime / 2),
        {F_.STORED_SECONDS},
    ),
}
"""Rules of the product, broken while it runs."""


@pytest.mark.parametrize("name", RULES)
def test_each_broken_rule_of_the_product_is_noticed(
    person: PatientPerson, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    place, broken, noticed = RULES[name]
    monkeypatch.setattr(place, broken)
    assert figures(talked(person)) >= noticed


def test_a_cache_that_ended_early_and_gave_nothing_back_is_noticed(
    session: Session,
) -> None:
    for entry in CacheEntry.objects.all():
        entry.drop(EntryReason.NOT_LISTED)
    assert figures(session) == {F_.GIVEN_BACK_SECONDS}
    Booking.objects.filter(cause="cache_kept").delete()
    assert F_.BOOKED_FOR in figures(session)


def test_every_figure_of_money_is_broken_by_a_test() -> None:
    cases = [noticed for _, noticed in (BY_DUE | BY_SUMS).values()]
    cases += [noticed for *_, noticed in (PATCHES | RULES).values()]
    elsewhere = {F_.GIVEN_BACK_SECONDS, F_.ALL_SESSIONS}
    assert set[MoneyFigure]().union(elsewhere, *cases) == set(MoneyFigure)
