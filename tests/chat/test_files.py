"""Files beside a chat: uploaded, taken from the workspace, refused, removed."""

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from sessions_app.context.workspaces import workspace_of
from sessions_app.models import Session
from tests import factories


@pytest.fixture(autouse=True)
def workspaces(settings: Settings, tmp_path: Path) -> Path:
    settings.PIPEWEB_WORKSPACES = tmp_path
    return tmp_path


@pytest.fixture
def session(alice: User) -> Session:
    return factories.make_session(alice)


def upload(client: Client, session: Session, **data: object) -> str:
    return client.post(reverse("upload", args=[session.public]), data).content.decode()


def test_an_uploaded_file_is_kept_and_referenced(client: Client, session: Session) -> None:
    page = upload(client, session, file=SimpleUploadedFile("notes.md", b"# Notes"))
    assert "notes.md" in page
    assert workspace_of(session.owner_id).read_text("notes.md") == "# Notes"
    assert session.references.get().path == "notes.md"


def test_a_second_file_of_the_same_name_gets_another(client: Client, session: Session) -> None:
    for _ in range(2):
        upload(client, session, file=SimpleUploadedFile("notes.md", b"x"))
    assert {reference.path for reference in session.references.all()} == {"notes.md", "notes-2.md"}


def test_a_path_in_a_name_leads_nowhere(client: Client, session: Session, workspaces: Path) -> None:
    upload(client, session, file=SimpleUploadedFile("../../evil.txt", b"x"))
    assert session.references.get().path == "evil.txt"
    assert not (workspaces / "evil.txt").exists()


def test_a_workspace_file_can_be_referenced(client: Client, session: Session) -> None:
    workspace_of(session.owner_id).write_text("plans/june.md", "June")
    assert "plans/june.md" in upload(client, session, path="plans/june.md")
    assert session.references.get().path == "plans/june.md"


@pytest.mark.parametrize("path", ["../other/secret.txt", "/etc/passwd", "missing.md"])
def test_what_cannot_be_read_is_refused_with_words(client: Client, session: Session, path: str) -> None:
    page = upload(client, session, path=path)
    assert 'role="alert"' in page and not session.references.exists()


def test_choosing_nothing_is_said(client: Client, session: Session) -> None:
    assert "Choose a file." in upload(client, session)


def test_a_file_can_be_taken_out_and_stays_in_the_workspace(client: Client, session: Session) -> None:
    upload(client, session, file=SimpleUploadedFile("notes.md", b"x"))
    reference = session.references.get()
    client.post(reverse("remove-file", args=[session.public, reference.pk]))
    assert not session.references.exists()
    assert workspace_of(session.owner_id).read_text("notes.md") == "x"


def test_a_file_of_another_session_cannot_be_taken_out(client: Client, session: Session, alice: User) -> None:
    other = factories.make_session(alice).references.create(path="notes.md")
    answer = client.post(reverse("remove-file", args=[session.public, other.pk]))
    assert answer.status_code == 404
