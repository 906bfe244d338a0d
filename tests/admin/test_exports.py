"""Exports of chosen rows: metadata by whoever sees the list; content with the permission and a reason."""

import csv
import io
import json
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from sessions_app.admin.exports import AT_ONCE
from sessions_app.log_codes import LoggedAction
from sessions_app.models import AuditEntry, ContentGrant, Session
from tests.admin.pages import MARKER, list_of, marked_session
from tests.factories import make_session

REASON = "Ticket 12: an answer broke off"


def post(client: Client, action: str, *rows: Any, **said: str) -> Any:
    chosen = [str(row.pk) for row in rows]
    return client.post(list_of("session"), {"action": action, "_selected_action": chosen, **said})


def reader(*names: str) -> Client:
    person = User.objects.create_user("steward", is_staff=True)
    person.user_permissions.set(Permission.objects.filter(codename__in=names))
    client = Client()
    client.force_login(person)
    return client


@pytest.mark.parametrize("form", ["csv", "json"])
def test_chosen_rows_are_a_file_without_what_people_wrote(root: Client, alice: User, form: str) -> None:
    chosen, other = marked_session(alice), marked_session(alice)
    asked = post(root, "export", chosen)
    assert (
        "attachment" not in asked.headers.get("Content-Disposition", "")
        and 'name="form"' in asked.content.decode()
    )
    assert not AuditEntry.objects.filter(action=LoggedAction.EXPORTED).exists()
    body = post(root, "export", chosen, confirmed="yes", form=form).getvalue().decode()
    rows = list(csv.DictReader(io.StringIO(body))) if form == "csv" else json.loads(body)
    assert [row["session"] for row in rows] == [str(chosen.public)[:8]]
    assert rows[0]["owner"] == "alice" and MARKER not in body and str(other.public)[:8] not in body
    (entry,) = AuditEntry.objects.filter(action=LoggedAction.EXPORTED)
    assert (entry.actor, entry.kind, entry.figures) == ("root", "session", {"form": form})


def test_no_chosen_row_is_an_empty_list(root: Client, alice: User) -> None:
    gone = make_session(alice)
    Session.objects.all().delete()
    make_session(alice)
    body = post(root, "export", gone, confirmed="yes", form="json").getvalue()
    assert json.loads(body) == []


def test_a_csv_of_the_whole_list_stands_in_the_log(root: Client, alice: User) -> None:
    root.get(reverse("admin:session-csv"))
    assert AuditEntry.objects.filter(action=LoggedAction.EXPORTED, kind="session").count() == 1


def test_content_needs_the_permission(alice: User) -> None:
    session = marked_session(alice)
    client = reader("view_session")
    answer = post(client, "export_content", session, confirmed="yes", reason=REASON)
    assert MARKER not in answer.content.decode() and not ContentGrant.objects.exists()
    assert client.get(reverse("export-json", args=[session.public])).status_code == 404


def test_content_needs_a_reason_and_the_owner_sees_who_took_it(alice: User, client: Client) -> None:
    session = marked_session(alice)
    staff = reader("view_session", "read_content")
    for said in ({}, {"confirmed": "yes", "reason": "short"}):
        page = post(staff, "export_content", session, **said).content.decode()
        assert MARKER not in page and 'name="reason"' in page and not ContentGrant.objects.exists()
    page = post(staff, "export_content", session, confirmed="yes", reason=REASON).content.decode()
    address = reverse("export-json", args=[session.public])
    assert address in page and MARKER not in page
    assert MARKER in staff.get(address).content.decode()
    client.force_login(alice)
    seen = client.get(reverse("readings")).content.decode()
    assert seen.count(REASON) == 3 and "exported" in seen and "steward" in seen


def test_neither_own_nor_deleted_nor_too_many_are_opened(root: Client, alice: User) -> None:
    own = make_session(User.objects.get(username="root"))
    gone = make_session(alice, deleted_at=timezone.now())
    many = [make_session(alice) for _ in range(AT_ONCE + 1)]
    for rows in ([own, gone], many):
        post(root, "export_content", *rows, confirmed="yes", reason=REASON)
    assert not ContentGrant.objects.exists()
