from datetime import date

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from sessions_app.models import Price, Spending


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


def test_bookings_cannot_be_edited(staff: Client) -> None:
    assert staff.get(reverse("admin:sessions_app_spending_add")).status_code == 403


def test_an_admin_enters_a_new_price(staff: Client) -> None:
    row = {"model": "gemini-9", "valid_from": "2027-02-01", "input": "1", "cached": "0.1", "output": "5"}
    staff.post(reverse("admin:sessions_app_price_add"), row)
    assert Price.objects.get(model="gemini-9").storage is None


def test_allowances_are_set_here(staff: Client, bob: User) -> None:
    row = {"owner": bob.pk, "usd_per_day": "1", "usd_per_month": "", "warn_percent": "80"}
    staff.post(reverse("admin:sessions_app_allowance_add"), row)
    bob.refresh_from_db()
    assert bob.allowance.usd_per_day == 1
