"""The audit of money while a rule of the product or of its pages is broken."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from sessions_app.audit.differences import MoneyFigure
from sessions_app.inspector.losses import CauseLoss, Losses
from sessions_app.inspector.savings import savings_in
from sessions_app.inspector.session_cost import causes_of
from sessions_app.models import Booking, Price, Session
from sessions_app.prompt.billing import ItemChange, share_out
from sessions_app.prompt.bookings import SpendingCause
from sessions_app.prompt.pricing import MoneySource, Rates
from sessions_app.prompt.saving_causes import SavingCause
from sessions_app.prompt.savings import ExchangeLoss, savings_of
from sessions_app.runs.cache_bookings import book_creation
from tests.audit.money import figures, talked
from tests.audit.test_money import BY_DUE, BY_SUMS
from tests.runs.patient_person import PatientPerson

F_ = MoneyFigure


def broken_share(items: Any, count: Any) -> list[tuple[int, int]]:
    shares = share_out(items, count)
    return [(shares[0][0] + 1, shares[0][1]), *shares[1:]]


WRONG = savings_of([ExchangeLoss(1, SavingCause.ORDER, 2, None)], answered=1).causes

PATCHES: dict[str, tuple[str, Any, set[MoneyFigure]]] = {
    "shares": ("sessions_app.prompt.billing.share_out", broken_share, {F_.LEDGER_ITEMS, F_.LEDGER_TOTAL}),
    "changes": (
        "sessions_app.inspector.tabs.cache_tab.changes_of",
        lambda before, now, *, same: [ItemChange.NEW for _ in now],
        {F_.LEDGER_ITEMS},
    ),
    "causes": (
        "sessions_app.management.shown_money.causes_of",
        lambda session: causes_of(session)[1:],
        {F_.SESSION_CAUSES},
    ),
    "next month": (
        "sessions_app.chat.spending.next_month",
        lambda month: month,
        {F_.MONTH_SUMS, F_.DAY_CAUSES},
    ),
    "losses": (
        "sessions_app.management.shown_money.losses_of",
        lambda exchanges: Losses([CauseLoss("unknown", 1, 2, Decimal(3), 0, 0)]),
        {F_.SESSION_LOSSES},
    ),
    "savings": (
        "sessions_app.management.shown_money.savings_in",
        lambda session, now: replace(savings_in(session, now), causes=WRONG),
        {F_.SESSION_SAVINGS},
    ),
    "what could have been reused": (
        "sessions_app.management.shown_money.savings_in",
        lambda session, now: replace(savings_in(session, now), missed=WRONG),
        {F_.SESSION_MISSED},
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


booking_of = Booking.of


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
        lambda exchange: MoneySource.EMULATOR,
        {F_.BOOKED_SOURCE},
    ),
    "source of caches": (
        "sessions_app.runs.cache_lifecycle.source_of_answer",
        lambda gateway, evidence: MoneySource.EMULATOR,
        {F_.BOOKED_SOURCE},
    ),
    "end": (
        "sessions_app.runs.accounting.Booking.of",
        lambda *terms, **facts: booking_of(*terms, **facts | {"cut_off": True}),
        {F_.BOOKED_CUT_OFF},
    ),
    "estimate": (
        "sessions_app.runs.accounting.Booking.of",
        lambda *terms, **facts: booking_of(*terms, **facts | {"estimated": True}),
        {F_.BOOKED_ESTIMATE},
    ),
    "storage": (
        "sessions_app.prompt.pricing.storage_cost",
        lambda tokens, hours, rates: tokens * Decimal(hours) * rates.storage / 500_000,
        {F_.BOOKED_USD},
    ),
    "nothing booked": ("sessions_app.runs.accounting.book_cost", lambda *_, **__: None, {F_.BOOKED_FOR}),
    "cache for nobody": (
        "sessions_app.runs.cache_lifecycle.book_creation",
        lambda cache, session, lifetime, source: book_creation(cache, None, lifetime, session.owner_id),
        {F_.BOOKED_PAYER},
    ),
    "lifetime": (
        "sessions_app.runs.cache_lifecycle.book_creation",
        lambda cache, session, lifetime, source: book_creation(cache, session, lifetime / 2),
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


def test_every_figure_of_money_is_broken_by_a_test() -> None:
    cases = [noticed for _, noticed in (BY_DUE | BY_SUMS).values()]
    cases += [noticed for *_, noticed in (PATCHES | RULES).values()]
    # The last one in tests/runs/test_budgets.py, searches in tests/audit/test_searches.py.
    elsewhere = {F_.GIVEN_BACK_SECONDS, F_.ALL_SESSIONS, F_.RESERVATIONS, F_.SEARCHES, F_.SEARCH_PRICE}
    assert set[MoneyFigure]().union(elsewhere, *cases) == set(MoneyFigure)
