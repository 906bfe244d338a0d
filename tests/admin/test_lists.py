"""Lists of many rows: what is counted, filtered and exported, and that none of it is a text."""

import csv
import io
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from sessions_app.admin import base, bounded_list, filters
from sessions_app.admin.base import RecordAdmin
from sessions_app.admin.lists import LARGEST
from sessions_app.models import Booking, Exchange, Run, Session
from sessions_app.prompt.bookings import SpendingCause
from sessions_app.prompt.pricing import MoneySource
from tests.admin.pages import MARKER, list_of, marked_session
from tests.factories import finish, make_history, make_run, make_session

RECORDS = [
    model._meta.model_name or ""
    for model, listing in admin.site._registry.items()
    if isinstance(listing, RecordAdmin)
]


def rows_of(client: Client, name: str, query: dict[str, str] | None = None) -> list[list[str]]:
    response: Any = client.get(list_of(name) + "csv/", query or {})
    assert response.status_code == 200
    return list(csv.reader(io.StringIO(response.getvalue().decode())))


@pytest.mark.parametrize("name", RECORDS)
def test_a_csv_has_what_the_list_shows_and_no_text_of_a_person(root: Client, alice: User, name: str) -> None:
    marked_session(alice)
    rows = rows_of(root, name)
    listing = next(one for model, one in admin.site._registry.items() if model._meta.model_name == name)
    sums = [name for name in listing.list_display if hasattr(getattr(listing, str(name), None), "summed_usd")]
    assert len(rows[0]) == len(listing.list_display) + len(sums)
    assert MARKER not in str(rows)
    assert MARKER not in root.get(list_of(name)).content.decode()


def test_a_csv_is_of_what_is_filtered(root: Client, alice: User, bob: User) -> None:
    for owner, model in ((alice, "gemini-3.5-flash"), (bob, "gemini-3.5-flash"), (bob, "gemini-2.5-pro")):
        make_session(owner, model=model, spent_usd=Decimal("0.25"))
    assert len(rows_of(root, "session")) == 4
    assert len(rows_of(root, "session", {"of": str(bob.pk)})) == 3
    assert len(rows_of(root, "session", {"of": str(bob.pk), "model": "gemini-2.5-pro"})) == 2
    assert "$0.25" in str(rows_of(root, "session"))


@pytest.mark.parametrize("name", ["booking", "spending", "session", "exchange"])
def test_a_file_has_sums_that_can_be_added_up(root: Client, alice: User, name: str) -> None:
    session = make_session(alice)
    for exchange in make_history(session, 2):
        Exchange.objects.filter(pk=exchange.pk).update(usd=Decimal("0.00123456"))
        facts: dict[str, Any] = {"model": "m", "day": date(2026, 11, 21), "usd": Decimal("0.00123456")}
        Booking.objects.book(Booking.of(session, SpendingCause.ANSWER, MoneySource.PROVIDER, None, **facts))
    headings, *rows = rows_of(root, name)
    place = next(index for index, heading in enumerate(headings) if heading.endswith(", US dollars"))
    assert sum(Decimal(row[place]) for row in rows) == Decimal("0.00246912")


def test_errors_are_found_by_their_kind_only(root: Client, alice: User) -> None:
    for kind in ("BadKey", "QuotaExceeded"):
        run = finish(make_run(make_session(alice)))
        Run.objects.filter(pk=run.pk).update(error={"kind": kind, "message": MARKER})
    assert "BadKey" in filters.error_kinds()
    assert len(rows_of(root, "run", {"failed_with": "BadKey"})) == 2
    assert len(rows_of(root, "run", {"failed_with": MARKER})) == 1
    assert root.get(list_of("run"), {"failed_with__startswith": "B"}).status_code == 400


def test_a_csv_needs_the_permission_of_the_list(alice: User) -> None:
    person = User.objects.create_user("steward", is_staff=True)
    person.user_permissions.set(Permission.objects.filter(codename="view_run"))
    client = Client()
    client.force_login(person)
    assert client.get(reverse("admin:run-csv")).status_code == 200
    assert client.get(reverse("admin:session-csv")).status_code == 403


def test_a_name_that_is_a_formula_is_no_formula_in_a_csv(root: Client, alice: User) -> None:
    make_session(alice, model="=1+1")
    assert "'=1+1" in rows_of(root, "session")[1]


@pytest.mark.parametrize("name", ["session", "run", "exchange", "turn"])
def test_no_list_counts_its_rows(root: Client, alice: User, name: str, monkeypatch: Any) -> None:
    make_history(make_session(alice), 4)
    monkeypatch.setattr(bounded_list, "COUNTED", 3)
    for _ in range(4):
        make_session(alice)
    with CaptureQueriesContext(connection) as queries:
        page = root.get(list_of(name)).content.decode()
    counting = [one["sql"] for one in queries if one["sql"].startswith("SELECT COUNT(*)")]
    assert counting == []
    assert "3 or more" in page


def test_a_list_that_is_cut_says_how_many_rows_its_file_has(
    root: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        make_session(alice)
    told = f"{LARGEST:,} rows at most"
    assert told not in root.get(list_of("session")).content.decode()
    for module in (bounded_list, base):
        monkeypatch.setattr(module, "COUNTED", 2)
    assert told in root.get(list_of("session")).content.decode()
    assert len(rows_of(root, "session")) == 4
    monkeypatch.setattr("sessions_app.admin.lists.LARGEST", 2)
    assert len(rows_of(root, "session")) == 3


def test_a_short_list_says_how_many_there_are(root: Client, alice: User) -> None:
    make_history(make_session(alice), 4)
    assert "4 exchanges" in root.get(list_of("exchange")).content.decode()
    assert Exchange.objects.count() == 4 and Session.objects.count() == 1
