"""Actions behind a page: nothing happens before it is confirmed, and it shows no text of a person."""

from decimal import Decimal
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.utils import timezone

from sessions_app.admin.bounded_list import COUNTED
from sessions_app.log_codes import LoggedAction
from sessions_app.models import AuditEntry, RawChunk, Run, Session
from sessions_app.models.origin import Origin
from tests.admin.pages import MARKER, list_of
from tests.factories import finish, make_exchange, make_history, make_run, make_session


def act(client: Client, name: str, action: str, *rows: Any, **said: str) -> str:
    chosen = {"action": action, "_selected_action": [str(row.pk) for row in rows], **said}
    return client.post(list_of(name), chosen, follow=True).content.decode()


def act_twice(client: Client, name: str, action: str, *rows: Any) -> str:
    act(client, name, action, *rows)
    return act(client, name, action, *rows, confirmed="yes")


def test_nothing_happens_before_it_is_confirmed(root: Client, alice: User) -> None:
    session = make_session(alice, title=MARKER, purpose=MARKER)
    page = act(root, "session", "archive", session)
    assert str(session.public) in page and MARKER not in page and "1 session." in page
    session.refresh_from_db()
    assert session.archived_at is None
    assert "1 of 1 rows" in act(root, "session", "archive", session, confirmed="yes")
    session.refresh_from_db()
    assert session.archived_at is not None
    (noted,) = LogEntry.objects.all()
    assert noted.object_id == str(session.pk) and MARKER not in noted.object_repr + noted.change_message


def test_rows_that_were_left_alone_have_no_history_of_it(root: Client, alice: User) -> None:
    changed, left = make_session(alice, deleted_at=timezone.now()), make_session(alice)
    act_twice(root, "session", "restore", changed, left)
    active, over = make_run(make_session(alice)), finish(make_run(make_session(alice)))
    act_twice(root, "run", "stop_runs", active, over)
    assert {one.object_id for one in LogEntry.objects.all()} == {str(changed.pk), str(active.pk)}


@pytest.mark.parametrize(("count", "is_asked"), [(COUNTED, True), (COUNTED + 1, False)])
def test_an_action_takes_as_many_rows_as_a_list_has(root: Client, count: int, is_asked: bool) -> None:
    """The page that asks sends a field for each."""
    chosen = {"action": "archive", "_selected_action": [str(key) for key in range(count)], "confirmed": "yes"}
    answer = root.post(list_of("session"), chosen, follow=True)
    assert answer.status_code == 200
    assert AuditEntry.objects.filter(action=LoggedAction.ADMIN_ACTION).exists() is is_asked


def test_all_that_match_are_counted_before_a_page_asks(
    root: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions_app.admin.base.COUNTED", 1)
    first, _ = make_session(alice), make_session(alice)
    page = act(root, "session", "archive", first, select_across="1", index="0")
    assert "2 were chosen" in page and not AuditEntry.objects.filter(action=LoggedAction.ADMIN_ACTION)


def test_only_chats_that_are_listed_are_archived(root: Client, alice: User) -> None:
    others = (
        make_session(alice, origin=Origin.CAPTURED),
        make_session(alice, temporary=True),
        make_session(alice, deleted_at=timezone.now()),
    )
    assert "0 of 3 rows" in act_twice(root, "session", "archive", *others)
    assert not Session.objects.exclude(archived_at=None).exists()


def test_what_is_in_the_trash_is_restored(root: Client, alice: User) -> None:
    gone, there = make_session(alice, deleted_at=timezone.now()), make_session(alice)
    assert "1 of 2 rows" in act_twice(root, "session", "restore", gone, there)
    assert Session.objects.of(alice).count() == 2


def test_active_runs_of_chats_are_stopped(root: Client, alice: User) -> None:
    active, over = make_run(make_session(alice)), finish(make_run(make_session(alice)))
    captured = make_run(make_session(alice, origin=Origin.CAPTURED))
    assert "1 of 3 rows" in act_twice(root, "run", "stop_runs", active, over, captured)
    assert list(Run.objects.filter(stop_requested=True)) == [active]


@pytest.mark.parametrize(
    ("name", "action"),
    [
        ("session", "archive"),
        ("session", "restore"),
        ("session", "purge"),
        ("run", "stop_runs"),
        ("run", "interrupt"),
    ],
)
def test_who_may_only_view_changes_nothing(alice: User, name: str, action: str) -> None:
    run = make_run(make_session(alice, deleted_at=timezone.now() if action == "restore" else None))
    person = User.objects.create_user("steward", is_staff=True)
    person.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    client = Client()
    client.force_login(person)
    row = run if name == "run" else run.session
    before = list(Session.objects.values()), list(Run.objects.values())
    act_twice(client, name, action, row)
    assert (list(Session.objects.values()), list(Run.objects.values())) == before


def test_payloads_are_purged_and_totals_stay(root: Client, alice: User) -> None:
    session, busy = make_session(alice, spent_usd=Decimal("0.25")), make_session(alice)
    make_history(session, 2)
    make_exchange(make_run(busy))
    before = Session.objects.values("spent_usd", "prompt_tokens", "exchange_count").get(pk=session.pk)
    tokens = list(session.exchanges.values_list("prompt_tokens", "output_tokens"))
    assert "1 of 2 rows" in act_twice(root, "session", "purge", session, busy)
    assert not RawChunk.objects.filter(exchange__session=session).exists()
    assert not session.exchanges.filter(payload_purged_at=None).exists()
    assert RawChunk.objects.filter(exchange__session=busy).exists()
    assert Session.objects.values(*before).get(pk=session.pk) == before
    assert list(session.exchanges.values_list("prompt_tokens", "output_tokens")) == tokens
    assert session.turns.count() == 4
