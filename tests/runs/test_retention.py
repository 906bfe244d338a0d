"""Rules of retention: what is due, what is taken away, and what stays."""

from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from sessions_app.models import (
    Blob,
    CaptureAddress,
    CapturedRequest,
    Exchange,
    ExchangeAttempt,
    RawChunk,
    RetentionReport,
    RetentionRules,
    Run,
    Session,
    Source,
    Turn,
)
from sessions_app.models.blob import digest
from sessions_app.models.payload_purge import payload_sizes, purge_payloads, session_sizes
from sessions_app.retention_codes import RetentionRule
from sessions_app.runs.retention import apply_rules, due_now
from sessions_app.wording.retention import purged
from tests.factories import make_history, make_run, make_session

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


def make_old(owner: User, *, days: int, exchanges: int = 1) -> Session:
    session = make_session(owner)
    make_history(session, exchanges)
    Session.objects.filter(pk=session.pk).update(updated_at=timezone.now() - days * DAY)
    return session


def due() -> dict[int, RetentionRule]:
    return {one.session: one.rule for one in due_now()}


def delete(session: Session, days: float) -> None:
    Session.objects.filter(pk=session.pk).update(deleted_at=timezone.now() - days * DAY)


def test_without_rules_only_what_was_deleted_a_month_ago_is_due(alice: User) -> None:
    kept, young, old = (make_old(alice, days=900) for _ in range(3))
    delete(young, 29)
    delete(old, 31)
    assert due() == {old.pk: RetentionRule.TRASH_DAYS}
    apply_rules(due_now())
    assert set(Session.objects.all()) == {kept, young}


def test_deleting_erases_after_the_trash_and_not_what_was_restored_meanwhile(alice: User) -> None:
    session = make_old(alice, days=40)
    delete(session, 31)
    listed = due_now()
    Session.objects.filter(pk=session.pk).apply_action("restore")
    assert apply_rules(listed) is None and Session.objects.filter(pk=session.pk).exists()


@pytest.mark.parametrize("rule", ["session_days", "payload_days", "session_mb", "payload_mb"])
def test_what_was_used_since_it_was_listed_is_left_alone(alice: User, rule: str) -> None:
    session = make_old(alice, days=40)
    RetentionRules.objects.create(**{rule: 30 if rule.endswith("days") else 0})
    listed = due_now()
    assert [one.session for one in listed] == [session.pk]
    Session.objects.filter(pk=session.pk).update(updated_at=timezone.now())
    assert apply_rules(listed) is None
    assert not session.exchanges.exclude(payload_purged_at=None).exists()


def test_ages_of_payloads_and_of_sessions_are_apart(alice: User) -> None:
    RetentionRules.objects.create(payload_days=10, session_days=100)
    young, middle, old = (make_old(alice, days=days) for days in (9, 11, 101))
    assert due() == {middle.pk: RetentionRule.PAYLOAD_DAYS, old.pk: RetentionRule.SESSION_DAYS}
    done = apply_rules(due_now())
    assert done is not None
    assert (done.purged_sessions, done.purged_exchanges, done.erased_sessions) == (1, 1, 1)
    assert set(Session.objects.all()) == {young, middle}
    assert due() == {}


@pytest.fixture
def root(alice: User) -> Client:
    User.objects.filter(pk=alice.pk).update(is_staff=True, is_superuser=True)
    browser = Client()
    browser.force_login(alice)
    return browser


def test_an_age_that_no_date_is_far_enough_for_takes_nothing(root: Client, alice: User) -> None:
    deleted = make_old(alice, days=900)
    delete(deleted, 800)
    rules = RetentionRules.objects.create(payload_days=999_999, session_days=999_999, trash_days=999_999)
    assert due() == {}
    place = reverse("admin:sessions_app_retentionrules_change", args=[rules.pk])
    assert "Nothing." in root.get(place).content.decode()
    of_session = root.get(reverse("admin:sessions_app_session_change", args=[deleted.pk]))
    assert "never" in of_session.content.decode()
    call_command("retention", "--dry-run", stdout=StringIO())


@pytest.mark.parametrize("field", ["payload_days", "session_days", "trash_days"])
def test_ages_above_a_hundred_years_are_refused(root: Client, field: str) -> None:
    place = reverse("admin:sessions_app_retentionrules_add")
    refused = root.post(place, {"trash_days": "30", field: "36501"})
    assert list(refused.context["adminform"].form.errors) == [field]
    assert root.post(place, {"trash_days": "30", field: "36500"}).status_code == 302


def test_room_is_made_from_the_session_that_was_used_longest_ago(alice: User) -> None:
    oldest, older, used_today = (make_old(alice, days=days) for days in (9, 5, 0))
    RetentionRules.objects.create(payload_mb=0)
    assert due() == dict.fromkeys((oldest.pk, older.pk), RetentionRule.PAYLOAD_MB)
    assert used_today.pk not in due()
    RetentionRules.objects.update(payload_mb=None, session_mb=0)
    assert set(due().values()) == {RetentionRule.SESSION_MB}


def test_no_more_goes_than_the_bound_asks_for(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    oldest, older = (make_old(alice, days=days) for days in (9, 5))
    sizes = payload_sizes([oldest.pk, older.pk])
    monkeypatch.setattr("sessions_app.runs.retention.MEGABYTE", sizes[older.pk])
    RetentionRules.objects.create(payload_mb=1)
    assert set(due()) == {oldest.pk}


def test_an_answer_to_a_program_that_is_kept_whole_counts_until_it_is_purged(alice: User) -> None:
    session = make_old(alice, days=9)
    before = payload_sizes([session.pk])[session.pk]
    body = b"<p>Not an answer.</p>"
    blob = Blob.objects.store(alice.pk, [body])[digest(body)]
    address, _ = CaptureAddress.issue(alice.pk, "A program")
    CapturedRequest.objects.create(
        address=address,
        received_at=timezone.now(),
        exchange=session.exchanges.get(),
        response_body_id=blob,
    )
    assert payload_sizes([session.pk]) == {session.pk: before + len(body)}
    assert session_sizes([session.pk])[session.pk] > before + len(body)
    assert purge_payloads(session.pk) == 1
    assert payload_sizes([session.pk]).get(session.pk, 0) == 0


def test_a_purge_keeps_chat_totals_and_money(alice: User) -> None:
    session = make_old(alice, days=11, exchanges=2)
    columns = (
        "usage",
        "prompt_tokens",
        "cached_tokens",
        "usd",
        "money",
        "verdict",
        "ledger",
    )
    before = list(Exchange.objects.values(*columns))
    texts = [turn.value.wire for turn in Turn.objects.select_related("content").order_by("pk")]
    assert purge_payloads(session.pk) == 2
    assert list(Exchange.objects.values(*columns)) == before
    assert [turn.value.wire for turn in Turn.objects.select_related("content").order_by("pk")] == texts
    assert not RawChunk.objects.exists() and not Source.objects.exists()
    assert not Exchange.objects.exclude(manifest={}).exists()
    assert not ExchangeAttempt.objects.exclude(body=None).exists()
    contents = set(Turn.objects.values_list("content", flat=True))
    assert set(Blob.objects.values_list("pk", flat=True)) == contents


def test_what_is_under_way_is_left_alone(alice: User) -> None:
    RetentionRules.objects.create(payload_days=1, session_days=5)
    session = make_old(alice, days=11)
    listed = due_now()
    run = make_run(session)
    Session.objects.update(updated_at=timezone.now() - 11 * DAY)
    assert due() == {} and apply_rules(listed) is None and purge_payloads(session.pk) == 0
    assert RawChunk.objects.exists()
    run.end(Run.Status.COMPLETED)
    Session.objects.update(is_importing=True)
    assert due() == {} and apply_rules(listed) is None
    Session.objects.update(is_importing=False)
    assert set(due()) == {session.pk}


def test_statements_of_a_purge_do_not_grow_with_the_session(alice: User) -> None:
    counts = []
    for exchanges in (1, 12):
        session = make_old(alice, days=11, exchanges=exchanges)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert purge_payloads(session.pk) == exchanges
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_queries_of_a_preview_do_not_grow_with_the_sessions(alice: User) -> None:
    RetentionRules.objects.create(payload_days=1, payload_mb=1, session_mb=1)
    counts = []
    for sessions in (1, 6):
        for _ in range(sessions):
            make_old(alice, days=11)
        with CaptureQueriesContext(connection) as queries:
            due_now()
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_a_dry_run_changes_nothing_and_says_what_would_go(alice: User) -> None:
    RetentionRules.objects.create(payload_days=1)
    make_old(alice, days=11)
    said = StringIO()
    call_command("retention", "--dry-run", stdout=said)
    assert "payloads, for their age: 1 session, " in said.getvalue()
    assert RawChunk.objects.exists() and not RetentionReport.objects.exists()
    call_command("retention", stdout=said)
    assert "purged 1 exchange of 1 session, erased 0 sessions" in said.getvalue()
    assert not RawChunk.objects.exists() and RetentionReport.objects.get().bytes > 0


def test_the_inspector_says_that_a_payload_was_purged_on_every_tab_that_shows_it(
    client: Client, alice: User
) -> None:
    session = make_old(alice, days=11, exchanges=2)
    purge_payloads(session.pk)
    at = Exchange.objects.first()
    assert at is not None and at.payload_purged_at is not None
    place = reverse("exchange", args=[session.public, 2])
    for tab in ("layers", "response", "signatures", "cache", "diff", "wire", "stream", "renditions"):
        assert purged(at.payload_purged_at) in client.get(place, {"tab": tab}).content.decode()
    pipeline = client.get(place, {"tab": "pipeline"})
    assert pipeline.status_code == 200 and "was purged" not in pipeline.content.decode()
    assert client.get(reverse("exchanges", args=[session.public])).status_code == 200


def test_every_page_of_a_purged_session_opens(client: Client, alice: User) -> None:
    session = make_old(alice, days=11, exchanges=2)
    purge_payloads(session.pk)
    make_history(session, 1)
    names = ("session", "exchanges", "session-savings", "session-signatures", "details", "outlook", "gauge")
    places = [reverse(name, args=[session.public]) for name in (*names, "export-json", "export-markdown")]
    places += [reverse("account", args=[session.public, run.public]) for run in session.runs.all()]
    places.append(f"{reverse('exchanges', args=[session.public])}?q=Question")
    following = reverse("exchange", args=[session.public, 3])
    places += [f"{following}?tab={tab}" for tab in ("layers", "cache", "diff", "wire", "signatures")]
    assert {place: code for place in places if (code := client.get(place).status_code) != 200} == {}


def test_what_was_purged_is_neither_downloaded_nor_compared_with(client: Client, alice: User) -> None:
    session = make_old(alice, days=11)
    purge_payloads(session.pk)
    make_history(session, 1)
    assert client.get(reverse("exchange-har", args=[session.public, 1])).status_code == 404
    compared = client.get(reverse("exchange", args=[session.public, 2]), {"tab": "diff", "with": "1"})
    assert "nothing is left to compare with" in compared.content.decode()


def test_the_admin_shows_what_the_rules_would_take(client: Client, alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(is_staff=True, is_superuser=True)
    rules = RetentionRules.objects.create(payload_days=1)
    place = reverse("admin:sessions_app_retentionrules_change", args=[rules.pk])
    assert "Nothing." in client.get(place).content.decode()
    make_old(alice, days=11)
    assert "payloads, for their age: 1 session, " in client.get(place).content.decode()
    assert RawChunk.objects.exists()
    client.post(reverse("admin:sessions_app_retentionrules_add"), {"trash_days": 1})
    assert RetentionRules.objects.get() == rules
