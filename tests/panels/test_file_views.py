"""Files beside a chat: uploaded, taken from the workspace, read, refused, downloaded."""

import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from sessions_app.models import PersonalLimits, Session
from sessions_app.panels.file_edits import DeleteFile
from sessions_app.workspace import Workspace
from tests import factories
from tests.panels.test_archives import archive

LARGE = 5_000_001


def upload(client: Client, session: Session, **data: object) -> str:
    return client.post(reverse("upload", args=[session.public]), data).content.decode()


def test_an_uploaded_file_is_kept_and_opened(client: Client, session: Session, workspace: Workspace) -> None:
    page = upload(client, session, file=SimpleUploadedFile("notes.md", b"# Notes"))
    assert "notes.md is open for the model." in page
    assert workspace.read_text("notes.md") == "# Notes" and session.references.get().path == "notes.md"


def test_a_second_file_of_the_same_name_gets_another(client: Client, session: Session) -> None:
    for _ in range(2):
        upload(client, session, file=SimpleUploadedFile("notes.md", b"x"))
    assert {reference.path for reference in session.references.all()} == {"notes.md", "notes-2.md"}


def test_a_path_in_a_name_leads_nowhere(client: Client, session: Session, workspaces: Path) -> None:
    upload(client, session, file=SimpleUploadedFile("../../evil.txt", b"x"))
    assert session.references.get().path == "evil.txt"
    assert not (workspaces / "evil.txt").exists()


def test_a_workspace_file_can_be_opened(client: Client, session: Session, workspace: Workspace) -> None:
    workspace.write_text("plans/june.md", "June")
    assert "plans/june.md" in upload(client, session, path="plans/june.md")
    assert session.references.get().path == "plans/june.md"


@pytest.mark.parametrize("path", ["../other/secret.txt", "/etc/passwd", "missing.md", ".", "x/" * 201])
def test_what_is_no_file_of_the_workspace_is_refused(client: Client, session: Session, path: str) -> None:
    assert "problem-file_references" in upload(client, session, path=path)
    assert not session.references.exists()


def test_choosing_nothing_is_said(client: Client, session: Session) -> None:
    assert "Choose a file." in upload(client, session)


def test_a_file_that_is_too_large_is_not_kept(client: Client, session: Session, workspace: Workspace) -> None:
    page = upload(client, session, file=SimpleUploadedFile("big.txt", b"x" * LARGE))
    assert "larger than 5,000,000 bytes" in page
    assert not session.references.exists() and workspace.list() == ()


@pytest.mark.parametrize(
    ("body", "words"),
    [(b"x" * LARGE, "larger than"), (b"\xff\xfe", "not UTF-8"), (b"a\0b", "a binary file")],
)
def test_what_cannot_be_sent_is_said(
    client: Client, session: Session, workspace: Workspace, body: bytes, words: str
) -> None:
    (workspace.root / "odd.bin").write_bytes(body)
    page = upload(client, session, path="odd.bin")
    assert "Not sent: “odd.bin” is" in page and words in page


def test_another_persons_session_gets_no_file(stranger: Client, session: Session) -> None:
    answer = stranger.post(reverse("upload", args=[session.public]), {"path": "notes.md"})
    assert answer.status_code == 404


def test_the_text_of_a_file_is_its_page(client: Client, session: Session, workspace: Workspace) -> None:
    workspace.write_text("long.txt", "a line\n" * 20_000)
    file = session.references.create(path="long.txt", page=2)
    page = client.get(reverse("file-text", args=[session.public, "reference", file.pk])).content.decode()
    assert "[page 2 of 2]" in page


def test_the_text_of_an_artifact_is_shown_as_text(
    client: Client, session: Session, workspace: Workspace
) -> None:
    workspace.write_text("page.html", "<script>alert(1)</script>")
    artifact = session.artifacts.create(path="page.html")
    page = client.get(reverse("file-text", args=[session.public, "artifact", artifact.pk])).content.decode()
    assert "&lt;script&gt;" in page


def test_an_artifact_is_downloaded_never_opened(
    client: Client, session: Session, workspace: Workspace
) -> None:
    workspace.write_text("out/page.html", "<script>alert(1)</script>")
    artifact = session.artifacts.create(path="out/page.html")
    answer = client.get(reverse("download-artifact", args=[session.public, artifact.pk]))
    assert answer["Content-Disposition"] == 'attachment; filename="page.html"'
    assert answer["Content-Type"] == "application/octet-stream"
    assert b"".join(answer.streaming_content) == b"<script>alert(1)</script>"  # type: ignore[attr-defined]
    answer.close()


@pytest.mark.parametrize("path", ["gone.txt", "../secret.txt", "."])
def test_an_artifact_that_is_gone_is_not_found(client: Client, session: Session, path: str) -> None:
    artifact = session.artifacts.create(path=path)
    answer = client.get(reverse("download-artifact", args=[session.public, artifact.pk]))
    assert answer.status_code == 404


def test_files_of_another_session_are_not_found(client: Client, session: Session, alice: User) -> None:
    other = factories.make_session(alice)
    file, artifact = other.references.create(path="a"), other.artifacts.create(path="a")
    for where in (("file-text", "reference", file.pk), ("file-text", "artifact", artifact.pk)):
        assert client.get(reverse(where[0], args=[session.public, *where[1:]])).status_code == 404
    address = reverse("download-artifact", args=[session.public, artifact.pk])
    assert client.get(address).status_code == 404


def fill(client: Client, session: Session, *files: SimpleUploadedFile) -> str:
    return client.post(reverse("fill", args=[session.public]), {"file": list(files)}).content.decode()


def test_files_and_archives_fill_the_workspace_and_open_nothing(
    client: Client, session: Session, workspace: Workspace
) -> None:
    zipped = SimpleUploadedFile("code.zip", archive({"src/a.py": b"a = 1", "b.txt": b"b"}).getvalue())
    page = fill(client, session, SimpleUploadedFile("c.txt", b"c"), zipped)
    assert "3 files put into your workspace." in page
    assert workspace.list() == ("b.txt", "c.txt", "src/a.py") and not session.references.exists()


def test_one_bad_archive_leaves_everything_out(
    client: Client, session: Session, workspace: Workspace
) -> None:
    bad = SimpleUploadedFile("bad.zip", archive({"../evil": b"x"}).getvalue())
    page = fill(client, session, SimpleUploadedFile("c.txt", b"c"), bad)
    assert "problem-tree" in page and "leads out of the workspace" in page and workspace.list() == ()
    assert "Choose a file." in fill(client, session)


def test_an_archive_counts_with_what_it_unpacks_to(
    client: Client, session: Session, workspace: Workspace
) -> None:
    PersonalLimits.objects.create(everybody=True, storage_mb=1)
    zipped = SimpleUploadedFile("big.zip", archive({"big": bytes(2_000_000)}).getvalue())
    assert client.post(reverse("fill", args=[session.public]), {"file": zipped}).status_code == 200
    assert workspace.list() == ()


def test_the_workspace_is_downloaded_whole_and_file_by_file(
    client: Client, session: Session, workspace: Workspace
) -> None:
    workspace.write_text("src/a b.py", "a = 1")
    one = client.get(reverse("workspace-file", args=[session.public, "src/a b.py"]))
    assert b"".join(one) == b"a = 1" and "attachment" in one["Content-Disposition"]
    whole = client.get(reverse("workspace-archive", args=[session.public]))
    with zipfile.ZipFile(BytesIO(b"".join(whole))) as found:
        assert found.namelist() == ["src/a b.py"]


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "missing", "src"])
def test_nothing_else_is_downloaded(
    client: Client, session: Session, workspace: Workspace, path: str
) -> None:
    workspace.write_text("src/a.py", "a = 1")
    answer = client.get(reverse("workspace-file", args=[session.public, path]))
    assert answer.status_code == 404


def test_what_the_model_deleted_is_restored_from_the_drawer(
    client: Client, session: Session, workspace: Workspace
) -> None:
    workspace.write_text("a.txt", "kept")
    DeleteFile(path="a.txt").carry_out(session)
    page = client.get(reverse("panel", args=[session.public, "tree"])).content.decode()
    key = session.file_changes.get().key
    assert "Deleted by the model (1)" in page and key in page
    restore = reverse("panel-action", args=[session.public, "tree", "undo_change"])
    assert "Deleted by the model" not in client.post(restore, {"change": key}).content.decode()
    assert workspace.read_text("a.txt") == "kept"
