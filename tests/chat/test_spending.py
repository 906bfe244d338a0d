import csv
import io
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from sessions_app.chat.answer_cost import AnswerCost
from sessions_app.chat.spending import SpendingPage
from sessions_app.models import Allowance, Booking, Exchange, Session, Spending
from sessions_app.prompt.bookings import SpendingCause
from sessions_app.prompt.pricing import Money, MoneySource, Rates, cost
from sessions_app.prompt.reply import Usage
from sessions_app.spreadsheets import escape_formulas
from tests.factories import make_session

RATES = Rates(Decimal("0.50"), Decimal("0.05"), Decimal(3))
MONEY = cost(Usage(prompt=1_204, cached=1_024, output=96), RATES)


def make_exchange(number: int, money: Money | None = MONEY, **more: Any) -> Exchange:
    return Exchange(number=number, prompt_tokens=1_204, money=(money.stored() if money else {}) | more)


def make_booking(owner: User, **fields: Any) -> Spending:
    booked = {"day": timezone.now().date(), "model": "gemini-3-flash-preview", "exchanges": 2, "usd": "0.5"}
    return Spending.objects.create(owner=owner, **{**booked, **fields})


def test_an_answer_costs_the_sum_of_its_requests() -> None:
    found = AnswerCost.of([make_exchange(1), make_exchange(2)])
    assert found is not None and found.total == "$0.00086"


@pytest.mark.parametrize(
    ("exchanges", "total"),
    [
        ([make_exchange(1), make_exchange(2, None)], "≥\xa0$0.00043"),
        ([make_exchange(1, Money(MONEY.terms, at_least=True))], "≥\xa0$0.00043"),
        ([make_exchange(1), make_exchange(2, replace(MONEY, estimated=True))], "≈\xa0$0.00086"),
        ([make_exchange(1), make_exchange(2, replace(MONEY, other_price=True))], "≈\xa0$0.00086"),
        ([make_exchange(1, None)], "cost unknown"),
        ([make_exchange(1, replace(MONEY, source=MoneySource.EMULATOR))], "would have cost $0.00043"),
    ],
)
def test_what_is_not_known_whole_says_so(exchanges: list[Exchange], total: str) -> None:
    found = AnswerCost.of(exchanges)
    assert found is not None and found.total == total


def test_nothing_is_said_of_what_was_never_counted() -> None:
    assert AnswerCost.of([Exchange(number=1)]) is None


def test_the_page_shows_days_models_and_the_sum(client: Client, alice: User) -> None:
    make_booking(alice, cache_usd="0.25", storage_usd="0.125", caches=1)
    make_session(alice, title="Dear one", spent_usd="0.5")
    page = client.get(reverse("spending")).content.decode()
    assert "$0.8750" in page and "gemini-3-flash-preview" in page and "Dear one" in page


def test_tokens_of_the_providers_tools_stand_beside_the_prompt(client: Client, alice: User) -> None:
    make_booking(alice, prompt_tokens=1_204, tool_use_tokens=20_567)
    page = client.get(reverse("spending")).content.decode()
    assert "1,204 + 20,567 tool use" in page
    row = next(csv.DictReader(io.StringIO(client.get(reverse("spending-csv")).content.decode())))
    assert (row["prompt_tokens"], row["tool_use_tokens"]) == ("1204", "20567")


def test_what_programs_paid_themselves_is_told_apart_from_what_budgets_count(
    client: Client, alice: User
) -> None:
    make_booking(alice, usd="0.5", source=MoneySource.PROVIDER)
    make_booking(alice, usd="0.25", source=MoneySource.CLIENT, cut_off=1)
    page = client.get(reverse("spending"))
    assert page.context["page"].programs_amount == "≥\xa0$0.2500"
    assert page.content.decode().count("keys of programs</span>") == 1


def test_without_programs_nothing_is_said_of_them(client: Client, alice: User) -> None:
    make_booking(alice, source=MoneySource.PROVIDER)
    assert client.get(reverse("spending")).context["page"].programs_amount == ""


def make_booked(
    owner: User, cause: SpendingCause, usd: str, *, emulated: bool = False, **facts: Any
) -> Session:
    session = make_session(owner)
    source = MoneySource.EMULATOR if emulated else MoneySource.PROVIDER
    day = timezone.now().date()
    booking = Booking.of(session, cause, source, None, model="m", day=day, usd=Decimal(usd), **facts)
    Booking.objects.book(booking)
    return session


def test_the_drawing_and_the_table_have_the_same_figures(client: Client, alice: User) -> None:
    make_booked(alice, SpendingCause.ANSWER, "0.5")
    make_booked(alice, SpendingCause.CACHE_MADE, "0.25")
    make_booked(alice, SpendingCause.CACHE_KEPT, "-0.0625")
    page = client.get(reverse("spending")).content.decode()
    figures = ("$0.5000", "$0.2500", "−$0.0625", "$0.6875")
    drawing, table = page.split("<figure>")[1], page.split('id="paid-table"')[1]
    assert all(figure in table for figure in figures)
    assert all(f"{figure} for" in drawing for figure in figures[:3])
    assert drawing.count("<rect") >= 3 and 'role="img"' in drawing


def test_the_emulators_money_stands_apart(client: Client, alice: User) -> None:
    make_booked(alice, SpendingCause.ANSWER, "0.5", emulated=True)
    page = client.get(reverse("spending")).content.decode()
    assert 'id="emulated-table"' in page and 'id="paid-table"' not in page
    assert page.count("would have cost $0.5000") >= 2
    make_booked(alice, SpendingCause.ANSWER, "0.25")
    both = client.get(reverse("spending")).content.decode()
    assert "$0.2500, and the emulator’s would have cost $0.5000" in both and 'id="paid-table"' in both


def test_budgets_are_shown_with_who_can_change_them(client: Client, alice: User) -> None:
    Allowance.objects.create(owner=alice, usd_per_day=1)
    make_booking(alice)
    page = client.get(reverse("spending")).content.decode()
    assert "Your budget for today: $0.5000 of $1.00, 50 %" in page and "administrator" in page


def test_an_unknown_price_is_never_shown_as_nothing(client: Client, alice: User) -> None:
    make_booking(alice, usd=0, unpriced=2)
    page = client.get(reverse("spending")).content.decode()
    assert ">cost unknown<" in page and "At least this much" in page


def test_what_was_not_received_to_its_end_makes_a_lower_bound_of_every_sum(
    client: Client, alice: User
) -> None:
    make_booked(alice, SpendingCause.ANSWER, "0.25", cut_off=True)
    page = client.get(reverse("spending")).content.decode()
    scale = page.count(">$0.2500</text>")
    # Of the month, of the day by cause and by model, of the drawing and of the chat.
    assert page.count("$0.2500") == page.count("≥\xa0$0.2500") + scale >= 7
    assert "1 answer was not received to its end" in page and "1 cut off" in page
    rows = list(csv.DictReader(io.StringIO(client.get(reverse("spending-csv")).content.decode())))
    assert [row["cut_off"] for row in rows] == ["1"]


def test_an_estimate_makes_one_of_every_sum(client: Client, alice: User) -> None:
    make_booked(alice, SpendingCause.ANSWER, "0.25", estimated=True)
    Allowance.objects.create(owner=alice, usd_per_day=1)
    page = client.get(reverse("spending")).content.decode()
    scale = page.count(">$0.2500</text>")
    # As for lower bounds, and of the budget with its percentage.
    assert page.count("$0.2500") == page.count("≈\xa0$0.2500") + scale >= 8
    assert "≈\xa025 %" in page and "1 estimated" in page and "of 1 request the provider" in page
    (row,) = csv.DictReader(io.StringIO(client.get(reverse("spending-csv")).content.decode()))
    assert (row["estimates"], row["unjudged"]) == ("1", "0")


def test_a_sum_with_a_bound_and_an_estimate_stands_behind_the_bound(client: Client, alice: User) -> None:
    make_booked(alice, SpendingCause.ANSWER, "0.25", estimated=True)
    make_booked(alice, SpendingCause.ANSWER, "0.5", cut_off=True, estimated=False)
    page = client.get(reverse("spending")).content.decode()
    assert "≥\xa0$0.7500" in page and "≈\xa0$0.7500" not in page
    assert "What has an estimate and a lower bound in it" in page


def test_what_an_earlier_version_did_not_keep_is_told(client: Client, alice: User) -> None:
    make_booked(alice, SpendingCause.TITLE, "0.25")
    make_booked(alice, SpendingCause.ANSWER, "0.5", emulated=True, estimated=None)
    make_booked(alice, SpendingCause.ANSWER, "0.5", estimated=False)
    page = client.get(reverse("spending")).content.decode()
    assert "For 2 bookings an earlier version did not keep whether their sums are estimates" in page
    assert "≈" not in page
    rows = csv.DictReader(io.StringIO(client.get(reverse("spending-csv")).content.decode()))
    assert {row["source"]: row["unjudged"] for row in rows} == {"provider": "1", "emulator": "1"}


def test_other_peoples_spending_does_not_exist(stranger: Client, alice: User) -> None:
    make_booking(alice)
    assert "Nothing was spent" in stranger.get(reverse("spending")).content.decode()
    assert len(stranger.get(reverse("spending-csv")).content.decode().splitlines()) == 1


def test_a_month_has_its_own_days_and_no_others(alice: User) -> None:
    answer, source = SpendingCause.ANSWER, MoneySource.PROVIDER
    session = make_session(alice)
    for day, usd in {"2025-10-31": 64, "2025-11-01": 1, "2025-11-30": 2, "2025-12-01": 16}.items():
        when = date.fromisoformat(day)
        Booking.objects.book(Booking.of(session, answer, source, None, model="m", day=when, usd=Decimal(usd)))
    emulated: dict[str, Any] = {"model": "m", "day": date(2025, 11, 1), "usd": Decimal(8)}
    Booking.objects.book(Booking.of(session, answer, MoneySource.EMULATOR, None, **emulated))
    page = SpendingPage.of(alice.pk, date(2025, 11, 1))
    assert [one.day.day for one in page.days] == [30, 1]
    assert (page.usd, page.emulated_usd) == (Decimal(3), Decimal(8))
    assert (page.paid.sums[0].usd, page.emulated.sums[0].usd) == (Decimal(3), Decimal(8))
    assert (page.earlier, page.later) == (date(2025, 10, 1), date(2025, 12, 1))
    this_month = timezone.now().date().replace(day=1)
    before = SpendingPage.of(alice.pk, SpendingPage.of(alice.pk, this_month).earlier)
    assert before.later == this_month and SpendingPage.of(alice.pk, this_month).later is None


def test_the_dearest_chats_are_ones_own_that_cost_something(alice: User, bob: User) -> None:
    make_session(bob, title="Theirs", spent_usd="9")
    make_session(alice, title="Deleted", spent_usd="8", deleted_at=timezone.now())
    make_session(alice, title="Free")
    for usd in (1, 3, 2):
        make_session(alice, title=f"Of {usd}", spent_usd=str(usd))
    listed = SpendingPage.of(alice.pk, date(2026, 11, 1)).sessions
    assert [one.session.title for one in listed] == ["Of 3", "Of 2", "Of 1"]


def test_what_all_people_may_spend_is_on_nobodys_page(alice: User) -> None:
    Allowance.objects.create(is_ceiling=True, usd_per_month=Decimal(5))
    Allowance.objects.create(owner=alice, usd_per_month=Decimal(4))
    (budget,) = SpendingPage.of(alice.pk, date(2026, 11, 1)).budgets
    assert budget.limit == 4


def test_the_csv_has_a_row_for_each_booking(client: Client, alice: User) -> None:
    make_booking(alice)
    make_booking(alice, day=date(2026, 1, 5))
    rows = list(csv.DictReader(io.StringIO(client.get(reverse("spending-csv")).content.decode())))
    assert len(rows) == 2 and rows[0]["usd"] == "0.50000000"
    of_month = client.get(reverse("spending-csv"), {"month": "2026-01"}).content.decode()
    assert len(of_month.splitlines()) == 2


def test_a_spreadsheet_runs_nothing() -> None:
    assert escape_formulas(["=1+1", 3, "m", "", None]) == ["'=1+1", 3, "m", "", None]


def test_sums_of_a_spreadsheet_have_no_exponent() -> None:
    assert escape_formulas([Decimal("0E-8"), Decimal("-1.5")]) == ["0.00000000", "-1.5"]


def test_a_temporary_chat_is_in_no_list_but_in_the_sums(client: Client, alice: User) -> None:
    make_booking(alice)
    make_session(alice, title="Listed", spent_usd="0.25")
    make_session(alice, title="For today only", temporary=True, spent_usd="0.5")
    page = client.get(reverse("spending")).content.decode()
    assert "Listed" in page and "For today only" not in page and "$0.5000" in page


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"caches": 1, "cache_usd": "0.25", "storage_usd": "0.125"}, "1: $0.2500 + $0.1250"),
        ({"caches": 0, "storage_usd": "0.125"}, "0: $0.00 + $0.1250"),
        ({"caches": 1, "cache_usd": "0.25", "unpriced": 1}, "1: $0.2500 + unknown"),
        ({}, "–"),
    ],
    ids=["both", "kept only", "unknown storage", "neither"],
)
def test_the_caches_of_a_day_say_making_and_keeping(
    client: Client, alice: User, fields: dict[str, Any], told: str
) -> None:
    make_booking(alice, **fields)
    assert f">{told}<" in client.get(reverse("spending")).content.decode()


def test_a_lower_bound_of_one_source_is_none_of_the_other(client: Client, alice: User) -> None:
    make_booking(alice, usd="0.25", source="client")
    make_booking(alice, usd="0.5", source="emulator", cut_off=1)
    page = client.get(reverse("spending")).content.decode()
    assert "$0.2500, and the emulator’s would have cost ≥\xa0$0.5000" in page
    assert "≥\xa0$0.2500" not in page


def test_an_answer_has_a_bound_for_each_source() -> None:
    emulated = make_exchange(2, replace(MONEY, source=MoneySource.EMULATOR, at_least=True))
    found = AnswerCost.of([make_exchange(1), emulated])
    assert found is not None
    assert found.total == "$0.00043, and the emulator’s would have cost ≥\xa0$0.00043"


@pytest.mark.parametrize("month", ["", "x", "2026-13", "0001-01", "9999-12"])
def test_a_month_that_is_none_is_this_one(client: Client, month: str) -> None:
    assert client.get(reverse("spending"), {"month": month}).status_code == 200


def test_the_page_needs_a_constant_number_of_statements(
    client: Client, alice: User, django_assert_max_num_queries: Any
) -> None:
    for day in range(1, 20):
        make_booking(alice, day=timezone.now().date().replace(day=day))
    with django_assert_max_num_queries(10):
        client.get(reverse("spending"))
