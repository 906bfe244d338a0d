"""Uploading, showing and serving files; nobody reaches anybody else's."""

import json
from io import BytesIO
from typing import Literal
from zipfile import ZipFile

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from sessions_app.chat import attachment_views
from sessions_app.chat.transfer import export_markdown, export_session
from sessions_app.chat.turn_files import files_in
from sessions_app.context.workspaces import workspace_of
from sessions_app.media import DOCUMENT_LIMIT, FILE_LIMIT, WORD_TYPE
from sessions_app.models import Attachment, Session, Turn
from sessions_app.prompt.media import inline_part
from sessions_app.prompt.turns import Turn as TurnValue
from sessions_app.prompt.turns import TurnKind, user_task
from sessions_app.prompt.wire import dumps
from sessions_app.runs import history_edits
from sessions_app.wording import documents, uploads
from sessions_app.workspace import UPLOAD_LIMIT
from tests.chat.importing import import_session
from tests.documents.samples import document
from tests.factories import finish, make_run, make_session

KEY = "6a0c0c35-5e8a-4dbb-a3bb-4ce4c7d2f8d5"
PNG = b"\x89PNG\r\n\x1a\n picture"


@pytest.fixture
def session(alice: User) -> Session:
    return make_session(alice)


def attach(client: Client, session: Session, body: bytes, name: str = "a.png", status: int = 200) -> str:
    file = SimpleUploadedFile(name, body, content_type="image/png")
    answer = client.post(reverse("attach", args=[session.public]), {"file": file})
    assert answer.status_code == status
    return answer.content.decode()


def test_an_image_becomes_a_chip_that_a_reload_still_shows(client: Client, session: Session) -> None:
    chip = attach(client, session, PNG)
    row = Attachment.objects.get()
    assert str(row.public) in chip and "a.png" in chip
    assert str(row.public) in client.get(session.get_absolute_url()).content.decode()


def test_the_kind_is_read_from_the_bytes(client: Client, session: Session) -> None:
    attach(client, session, b"%PDF-1.7 ...", name="picture.png")
    assert Attachment.objects.get().mime == "application/pdf"


def test_text_becomes_a_file_of_the_dynamic_layer(client: Client, session: Session) -> None:
    chip = attach(client, session, b"<svg onload=alert(1)>", name="logo.svg")
    reference = session.references.get()
    assert "data-reference" in chip and not Attachment.objects.exists()
    assert workspace_of(session.owner_id).read_text(reference.path).startswith("<svg")


@pytest.mark.parametrize(("body", "words"), [(b"", "empty"), (b"MZ\0\1", "no kind of file")])
def test_what_no_model_reads_is_refused(client: Client, session: Session, body: bytes, words: str) -> None:
    assert words in attach(client, session, body, status=409)


def test_a_file_that_is_too_large_says_how_large_it_may_be(
    client: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attachment_views, "FILE_LIMIT", 10)
    assert "MB" in attach(client, session, PNG, status=409)


def test_a_word_document_has_a_limit_of_its_own(
    client: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attachment_views, "DOCUMENT_LIMIT", 10)
    assert uploads.HINTS[WORD_TYPE] in attach(client, session, document("Title", "Text"), status=409)


def test_the_page_tells_the_browser_the_limit_of_each_kind(client: Client, session: Session) -> None:
    page = client.get(session.get_absolute_url()).content.decode()
    limits = {"attach": FILE_LIMIT, "text": UPLOAD_LIMIT, "word": DOCUMENT_LIMIT}
    assert all(f'data-{kind}="{limit}"' in page for kind, limit in limits.items())
    assert f'data-text-of="hint {WORD_TYPE}"' in page


@pytest.mark.parametrize(("name", "hint"), [("notes.zip", "archive"), ("notes.docx", "document")])
def test_an_archive_is_named_and_belongs_into_the_workspace(
    client: Client, session: Session, name: str, hint: Literal["archive", "document"]
) -> None:
    body = BytesIO()
    with ZipFile(body, "w") as archive:
        archive.writestr("notes.txt", "Notes")
    refusal = json.loads(attach(client, session, body.getvalue(), status=409, name=name))
    assert f"“{name}”" in refusal["message"] and refusal["hint"] == documents.hint(hint)


def test_a_message_has_a_limit_of_files(
    client: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attachment_views, "COUNT_LIMIT", 1)
    attach(client, session, PNG)
    assert "1 files" in attach(client, session, PNG, status=409)


def test_a_file_can_be_taken_off(client: Client, session: Session) -> None:
    attach(client, session, PNG)
    url = reverse("detach", args=[session.public, Attachment.objects.get().public])
    assert client.post(url).status_code == 204 and not Attachment.objects.exists()


def test_a_stranger_finds_nothing(client: Client, stranger: Client, session: Session) -> None:
    attach(client, session, PNG)
    row, task = Attachment.objects.get(), with_image(session)
    for name, args in (("attachment", [row.public]), ("media", [task.public, 0]), ("attachments", [])):
        assert stranger.get(reverse(name, args=[session.public, *args])).status_code == 404
    assert stranger.post(reverse("detach", args=[session.public, row.public])).status_code == 404
    attach(stranger, session, PNG, status=404)


def with_image(session: Session, mime: str = "image/png", body: bytes = PNG) -> Turn:
    task = user_task(KEY, "Look", [inline_part(body, mime, "a.png")])
    return Turn.append(session, task, parent=session.head)


def test_a_part_is_served_so_that_it_can_run_nothing(client: Client, session: Session) -> None:
    answer = client.get(reverse("media", args=[session.public, with_image(session).public, 0]))
    assert (answer.content, answer["Content-Type"]) == (PNG, "image/png")
    assert "sandbox" in answer["Content-Security-Policy"]
    assert answer["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    ("mime", "body"),
    [("image/svg+xml", b"<svg onload=alert(1)>"), ("text/html", b"<script>"), ("image/png", b"<script>")],
)
def test_what_claims_to_be_an_image_is_only_downloaded(
    client: Client, session: Session, mime: str, body: bytes
) -> None:
    answer = client.get(reverse("media", args=[session.public, with_image(session, mime, body).public, 0]))
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["Content-Disposition"].startswith("attachment")


def test_a_part_that_is_no_file_is_not_there(client: Client, session: Session) -> None:
    task = with_image(session)
    for part in (1, 9):
        assert client.get(reverse("media", args=[session.public, task.public, part])).status_code == 404


def test_the_transcript_shows_what_was_attached(client: Client, session: Session) -> None:
    src = reverse("media", args=[session.public, with_image(session).public, 0])
    assert f'<img src="{src}" alt="a.png"' in client.get(session.get_absolute_url()).content.decode()


def test_the_transcript_shows_pictures_and_code_of_the_model(client: Client, session: Session) -> None:
    ran = {"executableCode": {"language": "PYTHON", "code": "print(1 < 2)"}}
    printed = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "True"}}
    content = dumps({"role": "model", "parts": [ran, printed, inline_part(PNG, "image/png", "")]})
    run, key = make_run(session), "0e3d6ffb-0a3a-4a52-9a1c-55d02a4e9c11"
    answer = Turn.append(
        session, TurnValue(key, TurnKind.MODEL_RESPONSE, content), parent=session.head, run=run
    )
    finish(run)
    page = client.get(session.get_absolute_url()).content.decode()
    assert f'<img src="{reverse("media", args=[session.public, answer.public, 2])}"' in page
    code = page.partition('<span class="code-language">python</span>')[2]
    assert "data-copy" in code and "&lt;" in code
    assert '<span class="code-language">output</span>' in code and "True" in code


def test_a_conversation_without_files_costs_no_query_for_them(
    session: Session, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    Turn.append(session, user_task(KEY, "Hello"), parent=None)
    task = Turn.objects.select_related("content").get()
    with django_assert_num_queries(0):
        assert files_in([task]) == {}


def test_a_fork_and_an_import_keep_the_files(session: Session) -> None:
    run = make_run(session)
    task = with_image(session)
    Turn.objects.filter(pk=task.pk).update(run=run)
    fork = history_edits.fork_session(session.pk, task.public)
    copy = import_session(session.owner, export_session(session))
    for other in (fork, copy):
        other.refresh_from_db()
        assert other.head and other.head.wire == task.wire
    assert "*Attached: a.png*" in export_markdown(fork)


def test_a_pasted_text_is_part_of_the_message(client: Client, session: Session) -> None:
    file = SimpleUploadedFile("Pasted text.txt", b"What somebody had copied")
    answer = client.post(reverse("attach", args=[session.public]), {"file": file, "pasted": "1"})
    assert answer.status_code == 200 and Attachment.objects.get().mime == "text/plain"
