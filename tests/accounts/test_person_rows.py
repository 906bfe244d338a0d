"""A full export against the database: a marker in each column and file of a person is in the zip file."""

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from django.contrib.auth.models import Group, User
from pytest_django import Settings

from sessions_app.chat.person_export import export_person
from sessions_app.log_codes import LoggedAction
from sessions_app.models import (
    Assistant,
    AuditEntry,
    FileChange,
    HistoryChunk,
    PromptText,
    SharedFile,
    SharedLink,
)
from sessions_app.models.audit_entry import record
from tests.accounts.markers import Marker, make_missing, mark_files, mark_rows
from tests.accounts.private_rows import PrivateRows

NOT_EXPORTED = {
    "AuditEntry.figures": "of entries that others made about the person: told on no page",
    "Authenticator.data": "a secret",
    "Blob.sha256": "a digest of bytes that are in the file",
    "BlobSlice.body": "of bytes that are in the file",
    "CaptureAddress.token_hash": "a secret",
    "EmailConfirmation.key": "a secret",
    "RunLog.body": "events of answers, which their turns tell",
    "SharedLink.token": "a secret",
    "SignInLink.token_hash": "a secret",
    "SocialToken.token": "a secret",
    "SocialToken.token_secret": "a secret",
    "Turn.text": "the text of a content that is in the file",
    "UserSession.session_key": "a secret",
    "log of a server": "the program's; Pipeweb shows it to nobody",
}
"""Columns that the file has not, with the reason; those of a team's tables are there in a team only."""


@pytest.fixture(autouse=True)
def own_workspaces(settings: Settings, tmp_path: Path) -> None:
    settings.PIPEWEB_WORKSPACES = tmp_path


def files_of(person: User) -> Mapping[str, bytes]:
    archive = zipfile.ZipFile(io.BytesIO(b"".join(export_person(User.objects.get(pk=person.pk)))))
    return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.django_db(transaction=True)
def test_every_column_of_a_person_is_in_the_export(alice: User) -> None:
    marker = Marker()
    PrivateRows(alice)
    make_missing(alice)
    mark_rows(alice, marker)
    mark_files(alice, marker)
    found = set[str]()
    for name, content in files_of(alice).items():
        found |= marker.left_in(name.encode()) | marker.left_in(content)
    assert marker.fields.keys() - found <= NOT_EXPORTED.keys()


@pytest.mark.django_db
def test_the_bytes_of_changed_files_and_of_shared_copies_are_in_the_export(alice: User) -> None:
    rows = PrivateRows(alice)
    SharedFile.objects.create(
        link=rows.link, number=0, name="a.pdf", mime="application/pdf", blob=rows.attachment.blob
    )
    exported = files_of(alice)
    kept = {
        FileChange.objects.get().before,
        SharedLink.objects.get().content,
        SharedFile.objects.get().blob,
        HistoryChunk.objects.get().content,
    }
    for blob in kept:
        assert blob is not None
        assert exported[f"bytes/{rows.session.public}/{blob.pk}.bin"] == blob.bytes


@pytest.mark.django_db
def test_what_an_assistant_has_of_the_library_is_told_by_name(alice: User) -> None:
    texts = {
        kind: PromptText.objects.create(kind=kind, name=f"a {kind}", body="Be brief.")
        for kind in PromptText.Kind
    }
    made = Assistant.objects.create(owner=alice, name="helper", procedure=texts[PromptText.Kind.PROCEDURE])
    made.roles.add(texts[PromptText.Kind.ROLE])
    Assistant.objects.create(owner=alice, name="plain")
    alice.groups.add(Group.objects.create(name="writers"))
    told = json.loads(files_of(alice)["account.json"])
    assert told["account"]["groups"] == ["writers"]
    chosen = [(one["procedure"], one["roles"]) for one in told["assistant"]]
    assert chosen == [("a procedure", ["a role"]), (None, [])]


@pytest.mark.django_db
def test_what_the_person_did_and_who_read_their_chats_is_told(alice: User, bob: User) -> None:
    rows = PrivateRows(alice)
    record(LoggedAction.EXPORTED, alice, rows.session, form="json")
    record(LoggedAction.CONTENT_OPENED, bob, rows.session, reason="A ticket of alice", minutes=30)
    record(LoggedAction.ROLE_CHANGED, bob, alice, hidden="what others decided")
    told = files_of(alice)["account.json"].decode()
    assert AuditEntry.objects.count() >= 3
    assert "A ticket of alice" in told and '"form": "json"' in told and "what others decided" not in told
