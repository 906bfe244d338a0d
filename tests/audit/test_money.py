"""The audit of money: of sessions that the product made, sound and with one thing broken."""

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any
from unittest.mock import Mock

import pytest
from django.core.management import call_command

from sessions_app.audit.differences import MoneyFigure
from sessions_app.audit.session_money import audit_left_caches
from sessions_app.audit.shown import ShownSession
from sessions_app.hosts import GOOGLE
from sessions_app.management.commands.audit import of_spending
from sessions_app.management.shown_money import shown_session
from sessions_app.models import Booking, CacheEntry, Price, Session, Spending
from sessions_app.prompt.bookings import SpendingCause
from sessions_app.prompt.caching import EntryReason
from sessions_app.prompt.reply import fold
from sessions_app.runs import side_requests
from tests.audit.money import audited, figures
from tests.factories import text_chunk
from tests.prices import make_price

CENT = Decimal("0.01")
F_ = MoneyFigure


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


def test_caches_of_erased_sessions_are_audited(session: Session) -> None:
    Session.objects.get(pk=session.pk).erase()
    assert list(audit_left_caches()) == []
    Booking.objects.filter(cause="cache_made").update(usd=Decimal(3))
    assert F_.BOOKED_USD in {one.figure for one in audit_left_caches()}


@pytest.mark.parametrize("cause", [SpendingCause.TITLE, SpendingCause.SUMMARY])
def test_titles_and_summaries_are_priced_by_what_they_were_counted(
    session: Session, cause: SpendingCause
) -> None:
    usage = {"promptTokenCount": 7_000, "candidatesTokenCount": 9, "totalTokenCount": 7_009}
    route = session.exchanges.values_list("route", flat=True)[0]
    counted = fold([text_chunk("A title", usage=usage)])
    side_requests.Paying(session, cause, Mock(route=route, base_url=GOOGLE), None).book(counted, b"{}")
    assert audited(session) == []
    rebooked(cause.value, usd=CENT)(session)
    assert figures(session) == {F_.BOOKED_USD}
    rebooked(cause.value, price=None, usd=None)(session)
    assert figures(session) == {F_.BOOKED_USD, F_.BOOKED_PRICE}


def test_a_cache_that_ended_early_and_gave_nothing_back_is_noticed(
    session: Session,
) -> None:
    for entry in CacheEntry.objects.all():
        entry.drop(EntryReason.NOT_LISTED)
    assert figures(session) == {F_.GIVEN_BACK_SECONDS}
    Booking.objects.filter(cause="cache_kept").delete()
    assert F_.BOOKED_FOR in figures(session)


def test_what_is_stored_while_the_command_reads_is_no_difference(
    session: Session, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    session.refresh_from_db()
    sums = iter([CENT, session.spent_usd])

    def read(one: Session) -> ShownSession:
        Session.objects.filter(pk=one.pk).update(spent_usd=next(sums))
        return shown_session(one)

    monkeypatch.setattr("sessions_app.management.commands.audit.shown_session", read)
    call_command("audit", str(session.public))
    assert "0 differences" in capsys.readouterr().out


def test_the_command_names_the_person_and_the_day(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("audit", "--all")
    day = session.bookings.values_list("day", flat=True)[0]
    Spending.objects.update(usd=7)
    with pytest.raises(SystemExit) as exit_:
        call_command("audit", "--all")
    assert exit_.value.code == 1
    out = capsys.readouterr().out
    assert f"person {session.owner_id}, {day}, {session.model}, provider: day_sums is stored as" in out
    assert f"person {session.owner_id}, {day:%Y-%m}: month_sums is stored as" in out
