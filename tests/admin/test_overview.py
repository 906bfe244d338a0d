"""The admin's first page: each figure beside a sum that is written down here a second time."""

import uuid
from collections import Counter
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from sessions_app.admin import overview
from sessions_app.admin.charts import HEIGHT, BarChart
from sessions_app.admin.users import totals_of
from sessions_app.error_codes import CaptureFault
from sessions_app.health.probe import HealthProbe, ProbeReport
from sessions_app.key_codes import KeyOrigin
from sessions_app.models import (
    Booking,
    CacheEntry,
    Exchange,
    ExchangeAttempt,
    ModelLifecycle,
    QueuedMessage,
    Run,
    Session,
    Spending,
)
from sessions_app.models.branches import copy_session
from sessions_app.models.origin import Origin
from sessions_app.prompt.bookings import SpendingCause
from sessions_app.prompt.pricing import MoneySource, dollars
from sessions_app.wording.api_key import IN_SHORT
from tests.factories import finish, make_exchange, make_history, make_run, make_session

CAUSES = {SpendingCause.ANSWER: "Answers", SpendingCause.CACHE_KEPT: "Keeping caches"}

SECRET = "XYZZY-SECRET"
INDEX = "admin:index"


def book(owner: User | None, usd: str | None, *, days_ago: int = 0, **fields: Any) -> Booking:
    day = timezone.now().date() - timedelta(days=days_ago)
    facts = {"model": "m", "cause": SpendingCause.ANSWER.value, "source": MoneySource.PROVIDER.value}
    amount = None if usd is None else Decimal(usd)
    return Booking.objects.create(owner=owner, day=day, usd=amount, **{**facts, **fields})


def failed_run(session: Session, kind: str, *, hours_ago: int = 0) -> Run:
    run = finish(make_run(session))
    began = timezone.now() - timedelta(hours=hours_ago)
    error = {"kind": kind, "message": SECRET}
    Run.objects.filter(pk=run.pk).update(error=error, started_at=began, ended_at=began)
    return run


def test_failures_are_those_of_a_day_by_their_kind(alice: User) -> None:
    session = make_session(alice)
    for kind, hours in (("RateLimited", 1), ("RateLimited", 23), ("BadKey", 2), ("BadKey", 25)):
        failed_run(session, kind, hours_ago=hours)
    finish(make_run(session))
    since = timezone.now() - timedelta(days=1)
    kinds = Counter(run.error["kind"] for run in Run.objects.all() if run.error and run.started_at > since)
    assert overview.recent_failures(timezone.now()) == kinds.most_common()
    assert kinds == {"RateLimited": 2, "BadKey": 1}


def test_a_copied_run_did_not_fail_here(alice: User) -> None:
    session = make_session(alice)
    failed = failed_run(session, "BadKey", hours_ago=1)
    assert failed.trigger is not None
    copy = copy_session(session, failed.trigger).runs.get()
    assert copy.error["kind"] == "BadKey"
    assert overview.recent_failures(timezone.now()) == [("BadKey", 1)]


@pytest.mark.parametrize("fault", list(CaptureFault))
def test_a_program_that_hung_up_is_no_failure(alice: User, fault: CaptureFault) -> None:
    run = failed_run(make_session(alice), "RelayRefused", hours_ago=1)
    Run.objects.filter(pk=run.pk).update(error={"kind": "RelayRefused", "reason": fault, "status": None})
    is_failure = fault not in {"client_left", "not_in_file"}
    assert overview.recent_failures(timezone.now()) == [("RelayRefused", 1)] * is_failure


def test_every_429_of_a_day_counts_also_one_that_was_asked_again(alice: User) -> None:
    old, new, imported = make_history(make_session(alice), 3)
    earlier = Exchange.objects.filter(pk__in=(old.pk, imported.pk))
    earlier.update(started_at=timezone.now() - timedelta(days=2))
    for exchange, statuses in ((old, (429,)), (new, (429, 429, 200)), (imported, (429,))):
        for number, status in enumerate(statuses, start=1):
            facts = {"request_headers": [], "status": status, "started_at": timezone.now()}
            ExchangeAttempt.objects.create(exchange=exchange, number=number, **facts)
    assert overview.recent_refusals(timezone.now()) == 2


@given(st.lists(st.integers(0, 1000), min_size=1), st.integers(1, 100))
def test_a_percentile_is_the_smallest_that_so_many_do_not_exceed(values: list[int], percent: int) -> None:
    found = overview.nearest_rank(sorted(values), percent)
    assert found == min(one for one in values if sum(v <= one for v in values) * 100 >= percent * len(values))


def test_waits_are_those_of_a_day(alice: User) -> None:
    assert overview.recent_waits(timezone.now()) == overview.Waits(0, None, None)
    times = ((100, 1), (200, 2), (900, 3), (5_000, 30))
    for exchange, (ms, hours) in zip(make_history(make_session(alice), 4), times, strict=True):
        began = timezone.now() - timedelta(hours=hours)
        Exchange.objects.filter(pk=exchange.pk).update(first_chunk_ms=ms, started_at=began)
    Exchange.objects.filter(pk=make_exchange(make_run(make_session(alice))).pk).update(first_chunk_ms=None)
    assert overview.recent_waits(timezone.now()) == overview.Waits(3, 200, 900)


def name_of(one: Booking, key: str) -> str:
    if key == "owner__username":
        return one.owner.username if one.owner else "erased people"
    return one.model if key == "model" else CAUSES[SpendingCause(one.cause)]


@pytest.mark.parametrize("key", ["owner__username", "model", "cause"])
def test_spending_is_the_sum_of_the_bookings(alice: User, bob: User, key: str) -> None:
    today = timezone.now().date()
    kept = SpendingCause.CACHE_KEPT.value
    book(alice, "0.25")
    book(alice, "0.5", model="n", cause=kept)
    book(bob, "2", model="n")
    book(None, "0.125")
    book(bob, None)
    book(bob, "7", source=MoneySource.EMULATOR.value)
    book(bob, "40", days_ago=today.day)
    told = {
        row.name: (row.today, row.month)
        for row in overview.spent_by(key, overview.booked_this_month(today), today)
    }
    month = [one for one in Booking.objects.select_related("owner") if one.day >= today.replace(day=1)]
    for name in {name_of(one, key) for one in month}:
        own = [one for one in month if name_of(one, key) == name and one.usd is not None]
        paid = sum((one.usd or Decimal(0) for one in own if one.source != "emulator"), Decimal(0))
        for words in told.pop(name):
            assert dollars(paid) in words
    assert not told


def test_the_largest_sums_of_the_emulator_come_first_where_nothing_was_paid(alice: User, bob: User) -> None:
    today = timezone.now().date()
    book(alice, "1", source=MoneySource.EMULATOR.value)
    book(bob, "2", source=MoneySource.EMULATOR.value)
    book(None, "0.5", source=MoneySource.EMULATOR.value)
    rows = overview.booked_this_month(today)
    assert [one.name for one in overview.spent_by("owner__username", rows, today)] == [
        "bob",
        "alice",
        "erased people",
    ]


def test_a_sum_of_one_source_is_exact_whatever_is_missing_of_the_other(alice: User) -> None:
    today = timezone.now().date()
    book(alice, "0.25")
    book(alice, "7", source=MoneySource.EMULATOR.value, cut_off=True)
    (row,) = overview.spent_by("owner__username", overview.booked_this_month(today), today)
    assert row.month == "$0.2500, and the emulator’s would have cost ≥\xa0$7.00"


def test_the_sum_of_a_person_has_a_bound_for_each_source(alice: User) -> None:
    today = timezone.now().date()
    Spending.objects.create(owner=alice, day=today, model="m", source="client", usd="0.25")
    Spending.objects.create(owner=alice, day=today, model="m", source="emulator", usd="7", cut_off=1)
    ((_, _, told),) = totals_of(Spending.objects.all())
    assert told == "$0.2500, and the emulator’s would have cost ≥\xa0$7.00"


def test_what_programs_paid_is_told_apart(alice: User) -> None:
    today = timezone.now().date()
    book(alice, "0.25")
    book(alice, "7", source=MoneySource.EMULATOR.value)
    assert not overview.programs_amount(overview.booked_this_month(today))
    book(alice, "0.5", source=MoneySource.CLIENT.value)
    book(alice, "0.125", source=MoneySource.CLIENT.value, model="n")
    assert overview.programs_amount(overview.booked_this_month(today)) == "$0.6250"


def test_the_chart_of_the_month_has_a_bar_for_each_day(alice: User) -> None:
    today = timezone.now().date()
    book(alice, "0.25")
    book(alice, "0.5")
    book(alice, "9", source=MoneySource.EMULATOR.value)
    chart = overview.spent_by_day(overview.booked_this_month(today), today)
    assert len(chart.bars) == today.day and chart.bars[-1].told == dollars(Decimal("0.75"))
    assert chart.bars[-1].height == f"{HEIGHT:.1f}"
    assert BarChart.of("t", ["a"], [0], ["0"]).top == ""


def test_today_and_each_day_are_their_own_and_the_month_ends_today(alice: User) -> None:
    today, emulator = date(2026, 11, 21), MoneySource.EMULATOR.value
    amounts = {"2026-10-31": 64, "2026-11-01": 1, "2026-11-20": 2, "2026-11-21": 4, "2026-11-22": 16}
    for day, usd in amounts.items():
        Booking.objects.filter(pk=book(alice, str(usd)).pk).update(day=day)
    Booking.objects.filter(pk=book(alice, "8", source=emulator).pk).update(day=today)
    rows = overview.booked_this_month(today)
    (told,) = overview.spent_by("model", rows, today)
    assert told.today == "$4.00, and the emulator’s would have cost $8.00"
    assert told.month == "$7.00, and the emulator’s would have cost $8.00"
    days = {bar.label: bar.told for bar in overview.spent_by_day(rows, today).bars if bar.told != "$0.00"}
    assert days == {"01 Nov": "$1.00", "20 Nov": "$2.00", "21 Nov": "$4.00"}


def test_runs_now_are_those_of_chats_that_go_on_the_oldest_first(alice: User) -> None:
    newer, older = (make_run(make_session(alice)) for _ in range(2))
    Run.objects.filter(pk=older.pk).update(started_at=timezone.now() - timedelta(hours=1))
    finish(make_run(make_session(alice)))
    make_run(make_session(alice, origin=Origin.CAPTURED))
    assert [run.pk for run in overview.runs_now()] == [older.pk, newer.pk]


def test_requests_are_counted_by_the_hour(alice: User) -> None:
    now = timezone.now()
    for exchange, hours in zip(make_history(make_session(alice), 5), (0, 0, 5, 23, 30), strict=True):
        Exchange.objects.filter(pk=exchange.pk).update(started_at=now - timedelta(hours=hours))
    told = [bar.told for bar in overview.asked_by_hour(now).bars]
    assert len(told) == 24 and (told[-1], told[-6], told[0]) == ("2", "1", "1")
    assert sum(map(int, told)) == 4


def test_caches_queue_and_ending_models_are_counted(alice: User) -> None:
    today = timezone.now().date()
    for number, state in enumerate(("live", "doomed", "gone")):
        fields = {"route": "r", "model": "m", "tokens": 1_000, "state": state}
        CacheEntry.objects.create(fingerprint=f"{number:064}", **fields)
    book(alice, "0.5", cause=SpendingCause.CACHE_KEPT.value)
    book(alice, "4")
    assert overview.cache_storage(overview.booked_this_month(today)) == overview.CacheStorage(
        2, 2_000, dollars(Decimal("0.5"))
    )
    QueuedMessage.objects.create(session=make_session(alice), client_id=uuid.uuid4(), text=SECRET)
    assert overview.queue()["messages"] == 1
    ModelLifecycle.objects.all().delete()
    for name, days in (("soon", 59), ("later", 61), ("over", -1)):
        day = today + timedelta(days=days)
        ModelLifecycle.objects.create(model=name, valid_from=day, is_retired=True, source="x")
    assert [row.model for row in overview.models_that_end(today)] == ["soon"]


def test_the_size_of_the_database_is_that_of_its_files(db: None, tmp_path: Path, monkeypatch: Any) -> None:
    if connection.vendor != "sqlite":
        assert (overview.database_size() or 0) > 1_000_000
        return
    file = tmp_path / "db.sqlite3"
    file.write_bytes(b"x" * 3_000)
    Path(f"{file}-wal").write_bytes(b"x" * 500)
    monkeypatch.setitem(connection.settings_dict, "NAME", str(file))
    assert overview.database_size() == 3_500


def test_the_health_is_what_the_probe_said_last(db: None) -> None:
    assert dict(overview.health_of(None))["Status"] == "starting"
    probe = HealthProbe(poll_age=lambda: 1.0, heartbeat_age=lambda: 2.0)
    probe.report = ProbeReport("ok", "full", "", monotonic())
    told = dict(overview.health_of(probe))
    assert told["Status"].startswith("down") and told["Disk"].startswith("full, ")
    assert told["Database"].startswith("ok, ") and told["Heartbeat"] == "ok" and "Redis" not in told


def test_the_health_says_whether_there_is_a_key_and_never_which(db: None, settings: Settings) -> None:
    assert dict(overview.health_of(None))["API key"] == IN_SHORT[KeyOrigin.NONE]
    settings.GEMINI_API_KEY = "AIza-of-a-test"
    told = dict(overview.health_of(None))
    assert told["API key"] == IN_SHORT[KeyOrigin.ENVIRONMENT] and "AIza" not in str(told)


def test_it_opens_without_any_row_and_shows_no_text_of_a_person(root: Client, alice: User) -> None:
    page = root.get(reverse(INDEX)).content.decode()
    assert "Nothing runs." in page and "No run failed." in page and "no answer yet" in page
    session = make_session(alice, title=SECRET, purpose=SECRET, background=SECRET)
    failed_run(session, "BadKey")
    make_exchange(make_run(session, SECRET))
    page = root.get(reverse(INDEX)).content.decode()
    assert SECRET not in page and "BadKey" in page and str(session.public)[:8] in page


def test_each_card_needs_the_permission_for_its_rows(alice: User) -> None:
    make_run(make_session(alice))
    book(alice, "0.25")
    person = User.objects.create_user("steward", is_staff=True)
    client = Client()
    client.force_login(person)
    cards = {
        "view_run": "overview-runs",
        "view_exchange": "overview-waits",
        "view_booking": "overview-spending",
    }
    page = client.get(reverse(INDEX)).content.decode()
    assert "overview-health" in page and not any(card in page for card in cards.values())
    assert "alice" not in page
    for codename, card in cards.items():
        person.user_permissions.set(Permission.objects.filter(codename=codename))
        page = client.get(reverse(INDEX)).content.decode()
        assert [one for one in cards.values() if one in page] == [card]


def test_its_statements_do_not_grow_with_the_rows(
    root: Client, alice: User, django_assert_max_num_queries: Any
) -> None:
    for _ in range(5):
        session = make_session(alice)
        make_exchange(make_run(session))
        book(alice, "1")
    with django_assert_max_num_queries(22):
        root.get(reverse(INDEX))


def test_a_run_is_stopped_by_who_may_change_runs(root: Client, alice: User) -> None:
    run = make_run(make_session(alice))
    stop = reverse("admin:stop-run", args=[run.pk])
    viewer = Client()
    person = User.objects.create_user("steward", is_staff=True)
    person.user_permissions.set(Permission.objects.filter(codename="view_run"))
    viewer.force_login(person)
    assert viewer.post(stop).status_code == 403 and root.get(stop).status_code == 405
    assert not Run.objects.get(pk=run.pk).stop_requested
    root.post(stop)
    assert Run.objects.get(pk=run.pk).stop_requested
    captured = make_run(make_session(alice, origin=Origin.CAPTURED))
    root.post(reverse("admin:stop-run", args=[captured.pk]))
    assert not Run.objects.get(pk=captured.pk).stop_requested
