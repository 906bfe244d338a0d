"""The money that pages show, as they compute it and before it is put into words: for the audit."""

from collections.abc import Iterator
from dataclasses import astuple
from datetime import date

from django.utils import timezone

from sessions_app.audit.shown import (
    CauseMoney,
    LedgerLine,
    Loss,
    SavedBy,
    ShownLedger,
    ShownMonth,
    ShownSession,
)
from sessions_app.chat.spending import SpendingPage
from sessions_app.chat.spending_chart import MonthByCause
from sessions_app.inspector.losses import losses_of
from sessions_app.inspector.savings import savings_in
from sessions_app.inspector.session_cost import causes_of
from sessions_app.inspector.tabs.cache_tab import bill_for
from sessions_app.models import Exchange, Session
from sessions_app.prompt.bookings import CauseSum
from sessions_app.prompt.pricing import Money
from sessions_app.prompt.savings import Saving


def shown_session(session: Session) -> ShownSession:
    exchanges = session.exchanges.select_related("previous")
    losses = losses_of(session.exchanges.all()).causes
    now = timezone.now()
    savings = savings_in(session, now)
    return ShownSession(
        at=now,
        causes=tuple(_cause(one) for one in causes_of(session)),
        losses=tuple(Loss(*astuple(one)) for one in losses),
        savings=tuple(map(_saved_by, savings.causes)),
        missed=tuple(map(_saved_by, savings.missed)),
        ledgers={one.number: shown_ledger(one) for one in exchanges if one.ledger and not one.is_open},
    )


def shown_ledger(exchange: Exchange) -> ShownLedger:
    bill, money = bill_for(exchange), Money.restored(exchange.money)
    lines = (
        LedgerLine(int(str(one.entry.identity)), one.change.value, one.billed.value, one.cached, one.new)
        for one in bill.items
    )
    return ShownLedger(tuple(lines), money.total if money else None, bill.total)


def shown_month(owner: int | None, month: date) -> ShownMonth:
    page = SpendingPage.of(owner, month)
    return ShownMonth(page.usd, page.emulated_usd, dict(_days(page.paid)), dict(_days(page.emulated)))


def _days(month: MonthByCause) -> Iterator[tuple[tuple[date, str], CauseMoney]]:
    for day in month.days:
        yield from (((day.day, one.cause.value), _cause(one)) for one in day.sums)


def _saved_by(one: Saving) -> SavedBy:
    return SavedBy(one.cause.value, one.requests, one.tokens, one.usd, one.unpriced)


def _cause(one: CauseSum) -> CauseMoney:
    return CauseMoney(
        one.cause.value, one.usd, one.bookings, one.unpriced, one.cut_off, one.estimates, one.unjudged
    )
