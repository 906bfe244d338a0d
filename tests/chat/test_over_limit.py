"""A limit that is reached in a request: 429, when to come again, and why; nothing was done."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from sessions_app.errors import OverLimit
from sessions_app.models import Artifact, Attachment, PersonalLimits, PersonalUsage, Session
from sessions_app.panels.file_edits import WriteArtifact
from sessions_app.wording.refusals import error_texts
from tests.factories import answered, make_session

PNG = b"\x89PNG\r\n\x1a\n" + bytes(2_000)
PAGE = {"Accept": "text/html"}


def file(name: str = "a.png", body: bytes = PNG) -> dict[str, Any]:
    return {"file": SimpleUploadedFile(name, body)}


@pytest.fixture
def session(alice: User) -> Session:
    return make_session(alice)


@pytest.fixture
def nothing_more(session: Session, alice: User) -> PersonalLimits:
    return PersonalLimits.objects.create(user=alice, sessions=1, upload_mb_per_day=0, storage_mb=0)


@pytest.mark.usefixtures("nothing_more")
@pytest.mark.parametrize("fields", [{"quick": "1"}, {"model": "gemini-3-flash-preview"}])
def test_a_session_too_many(client: Client, fields: dict[str, str]) -> None:
    page = client.post(reverse("new-session"), fields, headers=PAGE)
    assert page.status_code == 429 and page["Retry-After"] == "60"
    assert "Chats: 1. Your limit is 1." in page.content.decode()
    script = client.post(reverse("new-session"), fields, headers={"Accept": "*/*"})
    assert script.status_code == 429 and script.json()["message"] == "Chats: 1. Your limit is 1."
    assert Session.objects.count() == 1


@pytest.mark.usefixtures("nothing_more")
def test_a_fork_too_many(client: Client, session: Session) -> None:
    turn = answered(session, "Hello", "Hi").run.trigger
    assert turn
    assert client.post(reverse("fork", args=[session.public, turn.public])).status_code == 429
    assert Session.objects.count() == 1


@pytest.mark.usefixtures("nothing_more")
def test_an_upload_too_many(client: Client, session: Session) -> None:
    answer = client.post(reverse("attach", args=[session.public]), file())
    assert answer.status_code == 429 and answer.json()["message"].startswith("Uploaded today: 0 MB.")
    assert 0 < int(answer["Retry-After"]) <= 86_400
    assert not Attachment.objects.exists() and not PersonalUsage.objects.get().uploaded


def test_an_import_is_an_upload_and_a_session(client: Client, session: Session, alice: User) -> None:
    exported = client.get(reverse("export-json", args=[session.public])).content
    limits = PersonalLimits.objects.create(user=alice, upload_mb_per_day=0)
    assert client.post(reverse("import"), file("a.json", exported), headers=PAGE).status_code == 429
    limits.upload_mb_per_day, limits.sessions = 1, 1
    limits.save()
    assert client.post(reverse("import"), file("a.json", exported), headers=PAGE).status_code == 429
    assert json.loads(exported) and Session.objects.count() == 1
    limits.sessions = 2
    limits.save()
    assert client.post(reverse("import"), file("a.json", exported)).status_code == 302
    assert PersonalUsage.objects.get().uploaded == len(exported)


@pytest.mark.usefixtures("nothing_more")
def test_a_file_of_the_workspace_too_many(client: Client, session: Session) -> None:
    answer = client.post(reverse("upload", args=[session.public]), file("a.txt", b"text"))
    assert "Your limit is 0 MB" in answer.content.decode() and not session.references.exists()
    with pytest.raises(OverLimit) as refused:
        WriteArtifact(path="a.txt", text="text").carry_out(session)
    assert error_texts(refused.value)[0].endswith("Your limit is 0 MB.") and not Artifact.objects.exists()
