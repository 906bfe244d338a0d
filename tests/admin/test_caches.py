"""Caches in the admin: what they cost, and the two things that can be done to them."""

import csv
import io
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from sessions_app.models import CacheEntry, Price
from sessions_app.prompt.caching import EntryReason
from tests.admin.pages import signed_in
from tests.factories import MODEL
from tests.prices import make_price

LIST = reverse("admin:sessions_app_cacheentry_changelist")


@pytest.fixture
def entry(db: None) -> CacheEntry:
    rates = {"input": Decimal(1), "cached": Decimal("0.1"), "output": 3, "storage": Decimal(2)}
    Price.objects.update_or_create(model=MODEL, valid_from=date(2026, 11, 20), defaults=rates)
    now = timezone.now()
    return CacheEntry.objects.create(
        fingerprint="a" * 64,
        route="0123456789abcdef",
        model=MODEL,
        name="cachedContents/a",
        tokens=1_000_000,
        made_at=now - timedelta(hours=3),
        expires_at=now + timedelta(minutes=31),
    )


def act(client: Client, action: str, entry: CacheEntry) -> str:
    chosen = {"action": action, "_selected_action": [entry.pk]}
    page = client.post(LIST, chosen, follow=True).content.decode()
    entry.refresh_from_db()
    return page


def test_the_list_says_how_old_how_long_and_how_dear(root: Client, entry: CacheEntry) -> None:
    page = root.get(LIST).content.decode()
    assert "3.0\N{NO-BREAK SPACE}h" in page and "31\N{NO-BREAK SPACE}min" in page
    assert "$6.00" in page and "1,000,000" in page


def test_storage_is_priced_as_the_model_that_serves_it(root: Client, entry: CacheEntry) -> None:
    """Its route names it; the asked name has a price of its own."""
    make_price("gemini-9-other", storage="5")
    CacheEntry.objects.update(route="0123456789abcdef/gemini-9-other")
    page = root.get(LIST).content.decode()
    assert "$15.00" in page and "$6.00" not in page


def test_storage_is_priced_as_of_the_day_on_which_it_was_made(root: Client, entry: CacheEntry) -> None:
    made = datetime(2026, 11, 21, 12, tzinfo=UTC)
    over = {"state": CacheEntry.State.GONE, "changed_at": made + timedelta(hours=3)}
    CacheEntry.objects.update(made_at=made, expires_at=made + timedelta(hours=4), **over)
    make_price(MODEL, made.date() + timedelta(days=1), storage="40")
    assert "$6.00" in root.get(LIST).content.decode()


def test_a_file_of_the_list_has_the_sum_itself(root: Client, entry: CacheEntry) -> None:
    made = datetime(2026, 11, 21, 12, tzinfo=UTC)
    over = {"state": CacheEntry.State.GONE, "changed_at": made + timedelta(seconds=1)}
    CacheEntry.objects.update(made_at=made, **over)
    CacheEntry.objects.create(fingerprint="b" * 64, model=MODEL)
    response: Any = root.get(LIST + "csv/")
    rows = csv.DictReader(io.StringIO(response.getvalue().decode()))
    assert {row["storage, US dollars"] for row in rows} == {"0.00055556", ""}


def test_a_refused_entry_has_no_time_of_the_cache_before_it(root: Client, entry: CacheEntry) -> None:
    CacheEntry.objects.update(state=CacheEntry.State.PENDING)
    CacheEntry.objects.refuse(entry.fingerprint, "Too small.")
    entry.refresh_from_db()
    assert entry.state == CacheEntry.State.REFUSED
    assert "3.0\N{NO-BREAK SPACE}h" not in root.get(LIST).content.decode()


def test_a_cache_that_was_not_made_again_shows_neither_time_nor_cost(root: Client, entry: CacheEntry) -> None:
    """What the one before had cost stands in its bookings."""
    entry.drop(EntryReason.PROVIDER)
    assert "$6.00" in root.get(LIST).content.decode()
    CacheEntry.objects.claim(entry.fingerprint, model=MODEL, route=entry.route)
    CacheEntry.objects.release(entry.fingerprint, "The model is overloaded.")
    page = root.get(LIST).content.decode()
    assert (
        "3.0\N{NO-BREAK SPACE}h" not in page
        and "$" not in page.partition("<tbody>")[2].partition("</tbody>")[0]
    )


def test_deleting_marks_it_for_the_janitor(root: Client, entry: CacheEntry) -> None:
    assert "1 will be deleted at the provider" in act(root, "delete_at_provider", entry)
    assert (entry.state, entry.reason) == (CacheEntry.State.TO_DELETE, EntryReason.ADMIN)


def test_extending_asks_for_an_hour_from_now(root: Client, entry: CacheEntry) -> None:
    act(root, "extend_at_provider", entry)
    assert entry.wanted_until and entry.wanted_until > timezone.now() + timedelta(minutes=59)


def test_a_cache_that_lives_longer_is_not_shortened(root: Client, entry: CacheEntry) -> None:
    CacheEntry.objects.update(expires_at=timezone.now() + timedelta(hours=5))
    page = act(root, "extend_at_provider", entry)
    assert entry.wanted_until is None and "since they live longer: 1." in page and "None of them" not in page


def test_what_is_gone_cannot_be_extended(root: Client, entry: CacheEntry) -> None:
    entry.drop(EntryReason.PROVIDER, "403")
    assert "None of them is a cache of ours" in act(root, "extend_at_provider", entry)
    assert entry.wanted_until is None


def test_who_may_only_look_has_no_actions(entry: CacheEntry) -> None:
    looker = User.objects.create_user("looker", is_staff=True)
    looker.user_permissions.add(Permission.objects.get(codename="view_cacheentry"))
    client = signed_in(looker)
    assert "delete_at_provider" not in client.get(LIST).content.decode()
    act(client, "delete_at_provider", entry)
    assert entry.state == CacheEntry.State.LIVE
