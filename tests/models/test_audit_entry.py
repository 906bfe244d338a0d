"""The audit log is added to, and by no way changed."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction
from django.db.models import QuerySet
from django.test import RequestFactory
from django.utils import timezone

from sessions_app import append_only
from sessions_app.errors import LogIsKept
from sessions_app.log_codes import LoggedAction
from sessions_app.models import AuditEntry
from sessions_app.models.audit_entry import record, request_now
from tests.factories import make_session

TABLE = append_only.TABLE


@pytest.fixture
def entry(alice: User) -> AuditEntry:
    return record(LoggedAction.EXPORTED, alice, make_session(alice), form="json")


def test_an_entry_names_who_did_what_to_what(entry: AuditEntry, alice: User) -> None:
    session = alice.chat_sessions.get()
    assert (entry.actor, entry.actor_key, entry.person_key) == ("alice", alice.pk, alice.pk)
    assert (entry.kind, entry.key, entry.figures) == ("session", str(session.public), {"form": "json"})


def test_without_an_actor_it_is_who_asks_by_the_request(alice: User) -> None:
    request = RequestFactory().get("/", REMOTE_ADDR="192.0.2.7")
    request.user = alice
    token = request_now.set(request)
    entry = record(LoggedAction.KEY_REMOVED)
    request_now.reset(token)
    assert entry.actor == "alice" and entry.address and "192" not in entry.address
    assert record(LoggedAction.KEY_REMOVED).actor == "" and entry.key == ""


def test_the_model_refuses_every_change(entry: AuditEntry) -> None:
    rows = AuditEntry.objects.all()
    changes = (
        entry.save,
        entry.delete,
        rows.delete,
        lambda: rows.update(actor="bob"),
        lambda: rows.bulk_update([entry], ["actor"]),
        lambda: rows.delete_older_than(timezone.now()),
    )
    for change in changes:
        with pytest.raises(LogIsKept):
            change()
    assert AuditEntry.objects.get() == entry


@pytest.mark.parametrize(
    "statement",
    [
        f"UPDATE {TABLE} SET actor = 'bob'",
        f"UPDATE {TABLE} SET figures = '{{}}'",
        f"UPDATE {TABLE} SET emptied_at = CURRENT_TIMESTAMP, figures = '{{}}', action = 'read'",
        f"UPDATE {TABLE} SET emptied_at = CURRENT_TIMESTAMP, figures = '{{}}', actor = 'bob'",
        f'UPDATE {TABLE} SET emptied_at = CURRENT_TIMESTAMP, figures = \'{{"form": "csv"}}\'',
        f"DELETE FROM {TABLE}",
    ],
)
def test_the_database_refuses_every_change(entry: AuditEntry, statement: str) -> None:
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        connection.cursor().execute(statement)
    with pytest.raises(IntegrityError), transaction.atomic():
        QuerySet.delete(AuditEntry.objects.all())
    assert AuditEntry.objects.get().actor == "alice"


def test_erasing_a_person_empties_what_is_said_of_them(alice: User, bob: User) -> None:
    session = make_session(alice)
    own = record(LoggedAction.EXPORTED, alice, session, form="json")
    read = record(LoggedAction.CONTENT_OPENED, bob, session, reason="She asked me to")
    done = record(LoggedAction.CONTENT_OPENED, alice, make_session(bob), reason="He asked me to")
    AuditEntry.objects.empty_of(alice.pk)
    AuditEntry.objects.empty_of(alice.pk)
    for entry in (own, read, done):
        entry.refresh_from_db()
    assert (own.actor, own.figures, own.actor_key) == ("", {}, alice.pk) and own.emptied_at
    assert (read.actor, read.figures) == ("bob", {})
    assert (done.actor, done.figures) == ("alice", {"reason": "He asked me to"}) and not done.emptied_at


def test_old_rows_may_go_and_young_ones_stay(entry: AuditEntry) -> None:
    kept = timedelta(days=append_only.KEPT_DAYS)
    old = AuditEntry.objects.create(action=LoggedAction.EXPORTED, at=timezone.now() - 2 * kept)
    assert AuditEntry.objects.delete_older_than(timezone.now() - kept - timedelta(hours=1)) == 1
    assert AuditEntry.objects.get() == entry and old.pk != entry.pk


@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="a table is remade on SQLite only")
def test_triggers_that_were_lost_come_back(entry: AuditEntry) -> None:
    append_only.remove(connection)
    append_only.restore_triggers("default")
    append_only.restore_triggers("default")
    with pytest.raises(IntegrityError), transaction.atomic():
        connection.cursor().execute(f"DELETE FROM {TABLE}")
