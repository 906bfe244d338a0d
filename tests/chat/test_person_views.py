"""A person's own data: what the export holds, and who can delete an account."""

import io
import json
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from sessions_app.chat import person_export, person_views
from sessions_app.chat.person_export import export_person
from sessions_app.log_codes import LoggedAction
from sessions_app.models import AuditEntry, Blob, Booking, CapturedRequest, Exchange, Session
from sessions_app.models.blob import digest
from tests.accounts.private_rows import SECRET, PrivateRows
from tests.factories import make_history, make_session

DELETE = "/account/data/delete/"


@pytest.fixture(autouse=True)
def no_attempts() -> None:
    person_views.attempts.clear()


@pytest.fixture(autouse=True)
def own_workspaces(settings: Settings, tmp_path: Path) -> None:
    settings.PIPEWEB_WORKSPACES = tmp_path


@pytest.fixture
def seasoned(alice: User, client: Client) -> Client:
    """Signed in an hour ago."""
    User.objects.filter(pk=alice.pk).update(last_login=timezone.now() - timedelta(hours=1))
    return client


def opened(pieces: list[bytes]) -> zipfile.ZipFile:
    archive = zipfile.ZipFile(io.BytesIO(b"".join(pieces)))
    assert archive.testzip() is None
    return archive


def test_the_export_holds_sessions_payloads_files_and_settings(alice: User) -> None:
    rows = PrivateRows(alice)
    archive = opened([*export_person(alice)])
    names = set(archive.namelist())
    assert {f"sessions/{one.public}.json" for one in Session.objects.all()} <= names
    exchange = rows.exchanges[0]
    place = f"payloads/{rows.session.public}/{exchange.number}"
    assert archive.read(f"{place}-request.json") == exchange.sent_body()
    chunks = [bytes(body) for body in exchange.chunks.values_list("body", flat=True)]
    assert archive.read(f"{place}-response.ndjson").splitlines() == chunks
    assert archive.read(f"workspace/{rows.path}") == SECRET.encode()
    attached = next(name for name in names if name.startswith("attachments/"))
    assert archive.read(attached) == SECRET.encode()
    assert f"captured/{rows.captured.public}-request.bin" in names
    account = json.loads(archive.read("account.json"))
    assert account["account"]["username"] == "alice" and account["memory"][0]["text"] == SECRET
    assert "token_hash" not in account["captureaddress"][0] and "password" not in account["account"]


def test_the_export_holds_an_answer_that_its_chunks_do_not_give_again(alice: User) -> None:
    rows = PrivateRows(alice)
    body = Blob.objects.store(alice.pk, [b"as it came"])[digest(b"as it came")]
    facts = {"exchange": rows.exchanges[0], "request_body": None, "response_body": body}
    CapturedRequest.objects.filter(pk=rows.captured.pk).update(**facts)
    archive = opened([*export_person(alice)])
    name = f"captured/{rows.captured.public}"
    assert archive.read(f"{name}-response.bin") == b"as it came"
    assert f"{name}-request.bin" not in archive.namelist()


def test_the_export_holds_nothing_of_others(alice: User, bob: User) -> None:
    PrivateRows(bob)
    archive = opened([*export_person(alice)])
    assert archive.namelist() == ["account.json"]
    assert SECRET not in archive.read("account.json").decode()


def test_the_export_is_made_while_it_is_sent(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(person_export, "SENT", 1)
    make_history(make_session(alice), 12)
    pieces = [*export_person(alice)]
    assert len(pieces) > 12 and max(map(len, pieces)) < sum(map(len, pieces)) / 4


def test_no_statement_is_open_while_the_export_is_sent(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """An iterator of rows is one: SQLite refuses to write where its snapshot is not the newest."""
    used: list[Any] = []

    def iterator(rows: Any, **_: Any) -> Any:
        used.append(rows)
        return iter(rows)

    monkeypatch.setattr(QuerySet, "iterator", iterator)
    PrivateRows(alice)
    assert [*export_person(alice)] and used == []


def test_a_person_downloads_the_export(client: Client, alice: User) -> None:
    answer = client.post(reverse("export-own-data"))
    assert answer.streaming and answer["Content-Type"] == "application/zip"
    assert "account.json" in opened([*answer]).namelist()
    assert AuditEntry.objects.filter(action=LoggedAction.EXPORTED, actor_key=alice.pk).count() == 1


def test_an_account_goes_with_name_and_password(seasoned: Client, alice: User) -> None:
    make_history(make_session(alice), 1)
    pk = alice.pk
    answer = seasoned.post(DELETE, {"name": "alice", "password": "wonderland"})
    assert answer.status_code == 302 and not User.objects.filter(pk=pk).exists()
    assert not Exchange.objects.exists() and not Booking.objects.exclude(owner=None).exists()
    assert seasoned.get(reverse("sessions")).status_code == 302
    logged = AuditEntry.objects.get(action=LoggedAction.ERASED, kind="user")
    assert logged.person_key == pk and "alice" not in logged.actor


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        ({"name": "alice", "password": "wrong"}, "wrong_password"),
        ({"name": "alice"}, "wrong_password"),
        ({"name": "bob", "password": "wonderland"}, "other_name"),
    ],
)
def test_an_account_stays_without_either(seasoned: Client, typed: dict[str, str], code: str) -> None:
    answer = seasoned.post(DELETE, typed)
    assert answer.status_code == 422 and User.objects.filter(username="alice").exists()
    assert code in {
        error.code for errors in answer.context["form"].errors.as_data().values() for error in errors
    }


def test_who_signed_in_just_now_needs_no_password(client: Client, alice: User) -> None:
    assert client.post(DELETE, {"name": "Alice"}).status_code == 422
    assert client.post(DELETE, {"name": "alice"}).status_code == 302
    assert not User.objects.filter(username="alice").exists()


def test_passwords_cannot_be_tried_at_will(seasoned: Client) -> None:
    wrong = {"name": "alice", "password": "wrong"}
    codes = [seasoned.post(DELETE, wrong).status_code for _ in range(person_views.ATTEMPTS + 1)]
    assert codes[-1] == 429 and set(codes[:-1]) == {422}
    assert seasoned.post(DELETE, {"name": "alice", "password": "wonderland"}).status_code == 429


def test_a_get_deletes_nothing(client: Client) -> None:
    assert client.get(DELETE).status_code == 405 and client.get(reverse("own-data")).status_code == 200
