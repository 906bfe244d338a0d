from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from sessions_app.models import Booking, Price, Spending
from sessions_app.prompt.bookings import SpendingCause
from sessions_app.prompt.pricing import MoneySource
from tests.factories import make_session
from tests.prices import make_price


@pytest.fixture
def staff(alice: User, client: Client) -> Client:
    alice.is_staff = alice.is_superuser = True
    alice.save()
    return client


def test_staff_see_the_sum_of_each_person(staff: Client, alice: User, bob: User) -> None:
    for owner, usd in ((alice, "0.5"), (bob, "2"), (bob, "3")):
        Spending.objects.create(owner=owner, day=date(2026, 11, 21), model=usd, exchanges=1, usd=usd)
    page = staff.get(reverse("admin:sessions_app_spending_changelist")).content.decode()
    assert page.index("$5.00") < page.index("$0.5000")


def test_what_erased_people_spent_is_nobodys(staff: Client, bob: User) -> None:
    Spending.objects.create(owner=bob, day=date(2026, 11, 21), model="m", exchanges=1, usd=2)
    Spending.objects.create(owner=bob, day=date(2026, 11, 21), model="m", usd=3, source="emulator")
    staff.post(reverse("admin:auth_user_delete", args=[bob.pk]), {"post": "yes"})
    assert not User.objects.filter(pk=bob.pk).exists()
    page = staff.get(reverse("admin:sessions_app_spending_changelist")).content.decode()
    assert "Erased people" in page and "$2.00, and the emulator’s would have cost $3.00" in page


def test_a_csv_has_an_empty_cell_for_erased_people(staff: Client) -> None:
    Spending.objects.create(day=date(2026, 11, 21), model="m", usd=2)
    (row,) = _lines(staff)
    assert row.startswith(",2026-11-21,m,")


def test_what_keeping_caches_cost_is_a_lower_bound_without_a_price(staff: Client, alice: User) -> None:
    of_day = {"owner": alice, "day": date(2026, 11, 21), "unpriced": 1}
    Spending.objects.create(model="kept", usd=2, caches=1, cache_usd=Decimal("0.25"), **of_day)
    Spending.objects.create(model="none", usd=2, **of_day)
    cells = [line.split(",")[-2:] for line in _lines(staff)]
    assert cells == [["≥\xa0$0.2500", "0.25000000"], ["$0.00", "0.00000000"]]


def _lines(staff: Client) -> list[str]:
    written: str = staff.get(reverse("admin:spending-csv")).getvalue().decode()
    return written.splitlines()[1:]


def test_every_sum_of_the_admin_says_that_it_is_an_estimate(staff: Client, alice: User) -> None:
    """Of a person and of a day, of its answers, of a booking, and of the month on the first page."""
    source, day = MoneySource.PROVIDER, timezone.now().date()
    facts: dict[str, Any] = {"model": "m", "day": day, "usd": Decimal("0.25"), "estimated": True}
    Booking.objects.book(Booking.of(make_session(alice), SpendingCause.ANSWER, source, None, **facts))
    for name, sums in (("spending_changelist", 3), ("booking_changelist", 1), ("session_changelist", 1)):
        page = staff.get(reverse(f"admin:sessions_app_{name}")).content.decode()
        assert page.count("$0.2500") == page.count("≈\xa0$0.2500") == sums
    assert "≈\xa0$0.2500" in staff.get(reverse("admin:index")).content.decode()


def test_bookings_cannot_be_edited(staff: Client) -> None:
    assert staff.get(reverse("admin:sessions_app_spending_add")).status_code == 403


def test_an_admin_enters_a_new_price(staff: Client) -> None:
    row = {"model": "gemini-9", "valid_from": "2027-02-01", "input": "1", "cached": "0.1", "output": "5"}
    staff.post(reverse("admin:sessions_app_price_add"), row)
    assert Price.objects.get(model="gemini-9").storage is None


@pytest.mark.parametrize("field", ["input", "cached", "output", "input_above", "storage"])
def test_no_price_is_negative(staff: Client, field: str) -> None:
    row = {"model": "gemini-9", "valid_from": "2027-02-01", "input": "1", "cached": "0.1", "output": "5"}
    refused = staff.post(reverse("admin:sessions_app_price_add"), row | {field: "-1"})
    assert list(refused.context["adminform"].form.errors) == [field]
    search = {"model": "gemini-9", "valid_from": "2027-02-01", "usd": "-1", "per": "query"}
    refused = staff.post(reverse("admin:sessions_app_searchprice_add"), search)
    assert list(refused.context["adminform"].form.errors) == ["usd"]


@pytest.mark.parametrize("charged", [False, True])
def test_a_used_price_is_only_shown(staff: Client, alice: User, charged: bool) -> None:
    price = make_price("gemini-9")
    if charged:
        Booking.objects.create(price=price, owner=alice, day=date(2026, 11, 21), model="m", cause="answer")
    place = reverse("admin:sessions_app_price_change", args=[price.pk])
    page = staff.get(place).content.decode()
    assert ("Its own first day keeps this price" in page) is charged
    assert ('name="input"' in page) is not charged
    row = {"model": "gemini-9", "valid_from": "2020-01-01", "input": "7", "cached": "0.1", "output": "5"}
    assert staff.post(place, row).status_code == (403 if charged else 302)
    assert (Price.objects.get(pk=price.pk).input == 7) is not charged


def test_a_used_price_is_corrected_from_a_later_past_day_and_not_on_its_first(
    staff: Client, alice: User
) -> None:
    price = make_price("gemini-9")
    booked = Booking.objects.create(
        price=price, owner=alice, day=date(2026, 11, 21), model="gemini-9", cause="answer", usd=2
    )
    row = {"model": "gemini-9", "input": "7", "cached": "0.1", "output": "5"}
    add = reverse("admin:sessions_app_price_add")
    refused = staff.post(add, row | {"valid_from": str(price.valid_from)})
    assert (
        "a day has one price" in refused.content.decode()
        and Price.objects.filter(model="gemini-9").count() == 1
    )
    later = price.valid_from + timedelta(days=1)
    assert staff.post(add, row | {"valid_from": str(later)}).status_code == 302
    kept = Booking.objects.get(pk=booked.pk)
    assert kept.price == price and kept.usd == 2
    assert getattr(Price.objects.of("gemini-9", later), "input", None) == 7


def test_allowances_are_set_here(staff: Client, bob: User) -> None:
    row = {"owner": bob.pk, "usd_per_day": "1", "usd_per_month": "", "warn_percent": "80"}
    staff.post(reverse("admin:sessions_app_allowance_add"), row)
    bob.refresh_from_db()
    assert bob.allowance.usd_per_day == 1


def test_only_what_was_erased_is_said_to_be(staff: Client) -> None:
    """Neither a cache that was not made nor a search that was not charged."""
    row = Booking.objects.create(day=date(2026, 11, 21), model="m", cause="answer", usd=2)
    listed = staff.get(reverse("admin:sessions_app_booking_changelist")).content.decode()
    shown = staff.get(reverse("admin:sessions_app_booking_change", args=[row.pk])).content.decode()
    assert listed.count(">erased<") == 2 and ">erased<" not in shown
