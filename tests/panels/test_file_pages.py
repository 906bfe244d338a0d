"""Files as the model sees them."""

import os
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from sessions_app.errors import WorkspaceError
from sessions_app.panels.file_pages import FileCache, ReadFile, open_file, problem_of, read_file
from sessions_app.workspace import SHOWN_LIMIT, Workspace
from tests.factories import make_session


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def test_a_short_file_is_sent_whole(workspace: Workspace) -> None:
    workspace.write_text("a.txt", "hello world")
    found = read_file(workspace, "a.txt")
    assert found == ReadFile("a.txt", "hello world", tokens=4)
    assert found.value == "hello world"


def test_a_long_file_is_sent_a_page_at_a_time(workspace: Workspace) -> None:
    workspace.write_text("a.txt", "line\n" * 40_000)
    found = read_file(workspace, "a.txt", page=2)
    assert (found.page, found.pages) == (2, 3)
    assert isinstance(found.value, str) and found.value.startswith("[page 2 of 3]\nline\n")


def test_five_megabytes_are_shown_and_a_byte_more_is_not(workspace: Workspace) -> None:
    (workspace.root / "a.txt").write_text("x" * SHOWN_LIMIT)
    assert read_file(workspace, "a.txt").pages == 61
    (workspace.root / "a.txt").write_text("x" * (SHOWN_LIMIT + 1))
    assert read_file(workspace, "a.txt").value == {"not_sent": "“a.txt” is larger than 5,000,000 bytes."}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing.txt", "no file"),
        ("folder", "is a folder"),
        ("nul.bin", "binary"),
        ("latin.txt", "not UTF-8"),
        ("way-out.txt", "leads out"),
        ("folder-out/passwd", "leads out"),
        ("loop", "cannot be used"),
        ("pipe", "not a regular file"),
        ("../outside.txt", "leads out"),
        ("/etc/passwd", "not a relative path"),
        ("", "empty"),
    ],
)
def test_what_cannot_be_sent_is_named_with_the_reason(tmp_path: Path, name: str, reason: str) -> None:
    workspace = Workspace(tmp_path / "mine")
    workspace.write_text("folder/a.txt", "hello")
    (workspace.root / "nul.bin").write_bytes(b"a\0b")
    (workspace.root / "latin.txt").write_bytes(b"\xe4")
    (tmp_path / "outside.txt").write_text("secret")
    (workspace.root / "way-out.txt").symlink_to(tmp_path / "outside.txt")
    (workspace.root / "folder-out").symlink_to("/etc")
    (workspace.root / "loop").symlink_to("loop")
    os.mkfifo(workspace.root / "pipe")
    value = read_file(workspace, name).value
    assert isinstance(value, dict) and reason in value["not_sent"]


def test_a_file_that_may_not_be_read_says_so(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace.write_text("a.txt", "hello")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "open", refuse)
    assert read_file(workspace, "a.txt", cache=FileCache()).problem == "“a.txt” cannot be read."


def test_an_unchanged_file_is_not_read_again(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = FileCache()
    workspace.write_text("a.txt", "hello")
    cache.read(workspace, "a.txt")
    monkeypatch.setattr(Workspace, "read_text", None)
    assert cache.read(workspace, "a.txt") == "hello"


def test_a_changed_file_is_read_again_even_if_size_and_time_look_the_same(workspace: Workspace) -> None:
    cache = FileCache()
    path = workspace.write_text("a.txt", "one")
    assert cache.read(workspace, "a.txt") == "one"
    was = path.stat()
    workspace.write_text("a.txt", "two")
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert cache.read(workspace, "a.txt") == "two"


def test_a_file_that_is_gone_is_not_sent_from_memory(workspace: Workspace) -> None:
    cache = FileCache()
    workspace.write_text("a.txt", "one")
    cache.read(workspace, "a.txt")
    (workspace.root / "a.txt").unlink()
    with pytest.raises(WorkspaceError):
        cache.read(workspace, "a.txt")


def test_why_a_file_cannot_be_sent_is_known_until_it_changes(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = FileCache()
    workspace.write_bytes("a.txt", b"a\0b")
    assert problem_of(workspace, "a.txt", cache) == ""
    problem = read_file(workspace, "a.txt", cache=cache).problem
    with monkeypatch.context() as patched:
        patched.setattr(Workspace, "read_text", None)
        assert problem_of(workspace, "a.txt", cache) == problem != ""
    workspace.write_text("a.txt", "text now")
    assert problem_of(workspace, "a.txt", cache) == ""
    assert cache.read(workspace, "a.txt") == "text now"


@pytest.mark.parametrize("name", ["missing.txt", "folder", "../out.txt", "large.txt"])
def test_what_an_entry_tells_needs_no_reading_before(workspace: Workspace, name: str) -> None:
    (workspace.root / "folder").mkdir(parents=True)
    (workspace.root / "large.txt").write_bytes(b"x" * (SHOWN_LIMIT + 1))
    assert problem_of(workspace, name, FileCache()) == read_file(workspace, name).problem != ""


def test_the_least_used_is_forgotten_first(workspace: Workspace) -> None:
    cache = FileCache(limit=10)
    for name in ("a", "b", "c"):
        workspace.write_text(name, "12345")
    for name in ("a", "b", "a", "c"):
        cache.read(workspace, name)
    assert [path.name for path in cache._entries] == ["a", "c"]


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["missing.txt", ".", "../a.txt"])
def test_only_a_file_of_the_workspace_is_opened(alice: User, workspace: Workspace, path: str) -> None:
    with pytest.raises(WorkspaceError):
        open_file(make_session(alice), workspace, path)


@pytest.mark.django_db
def test_a_file_that_cannot_be_sent_yet_is_opened_all_the_same(alice: User, workspace: Workspace) -> None:
    (workspace.root / "a.bin").write_bytes(b"\0")
    assert open_file(make_session(alice), workspace, "./a.bin").path == "a.bin"
