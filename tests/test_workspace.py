"""A folder that nobody gets out of."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.errors import WorkspaceError
from sessions_app.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path / "alice"
    root.mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    return Workspace(root)


def refusal(workspace: Workspace, path: str) -> str:
    with pytest.raises(WorkspaceError) as caught:
        workspace.read_text(path)
    return str(caught.value)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/hosts",
        "..",
        "../secret.txt",
        "a/../../secret.txt",
        "a/..",
        "..\\secret.txt",
        "a\0b",
        "a\nb",
        "\ud800",
    ],
)
def test_bad_paths_are_refused(workspace: Workspace, path: str) -> None:
    with pytest.raises(WorkspaceError):
        workspace.resolve(path)


@given(st.text(st.sampled_from("./\\~ab\0"), max_size=12))
def test_no_path_leads_out(path: str) -> None:
    root = Path(os.sep, "nowhere", "root")
    try:
        assert Workspace(root).resolve(path).is_relative_to(root)
    except WorkspaceError:
        return


def test_a_symlink_that_leads_out_is_refused(workspace: Workspace) -> None:
    (workspace.root / "link").symlink_to(workspace.root.parent / "secret.txt")
    assert "leads out" in refusal(workspace, "link")


def test_a_folder_that_leads_out_is_refused_for_new_files(workspace: Workspace) -> None:
    (workspace.root / "link").symlink_to(workspace.root.parent)
    with pytest.raises(WorkspaceError):
        workspace.write_text("link/new.txt", "x")
    assert not (workspace.root.parent / "new.txt").exists()


def test_a_dangling_symlink_is_not_written_through(workspace: Workspace) -> None:
    (workspace.root / "link").symlink_to(workspace.root.parent / "new.txt")
    with pytest.raises(WorkspaceError):
        workspace.write_text("link", "x")
    assert not (workspace.root.parent / "new.txt").exists()


def test_a_circle_of_symlinks_is_refused(workspace: Workspace) -> None:
    (workspace.root / "a").symlink_to("b")
    (workspace.root / "b").symlink_to("a")
    assert "cannot be used" in refusal(workspace, "a")


def test_a_symlink_inside_is_followed(workspace: Workspace) -> None:
    workspace.write_text("real.txt", "x")
    (workspace.root / "link").symlink_to("real.txt")
    assert workspace.read_text("link") == "x"


def test_a_pipe_is_refused_before_it_blocks(workspace: Workspace) -> None:
    os.mkfifo(workspace.root / "pipe")
    assert "regular" in refusal(workspace, "pipe")


def test_what_is_written_can_be_read(workspace: Workspace) -> None:
    path = workspace.write_text("notes/plan.md", "ü\r\n🙂")
    assert workspace.relative(path) == "notes/plan.md"
    assert workspace.read_text("notes/plan.md") == "ü\r\n🙂"


def test_half_a_character_is_replaced_when_written(workspace: Workspace) -> None:
    workspace.write_text("a", "x\ud800")
    assert workspace.read_text("a") == "x?"


@pytest.mark.parametrize(
    ("data", "words"),
    [(b"a\0b", "binary"), (b"\xff\xfe\x01", "not UTF-8"), (b"x" * 11, "larger than 10 bytes")],
)
def test_it_says_why_a_file_cannot_be_read(workspace: Workspace, data: bytes, words: str) -> None:
    (workspace.root / "file").write_bytes(data)
    with pytest.raises(WorkspaceError, match=words):
        workspace.read_text("file", limit=10)


def test_it_says_that_a_file_is_missing_or_a_folder(workspace: Workspace) -> None:
    assert "no file" in refusal(workspace, "nothing.txt")
    assert "folder" in refusal(workspace, ".")


def test_a_byte_order_mark_is_not_text(workspace: Workspace) -> None:
    (workspace.root / "file").write_bytes(b"\xef\xbb\xbfa")
    assert workspace.read_text("file") == "a"


def test_a_name_that_is_too_long_is_refused(workspace: Workspace) -> None:
    with pytest.raises(WorkspaceError):
        workspace.write_text("x" * 300, "x")


def test_writing_replaces_in_one_step_and_leaves_nothing_behind(workspace: Workspace) -> None:
    workspace.write_text("a", "one")
    workspace.write_text("a", "two")
    assert workspace.read_text("a") == "two"
    assert [path.name for path in workspace.root.iterdir()] == ["a"]


def test_a_text_that_is_too_large_is_not_written(workspace: Workspace) -> None:
    with pytest.raises(WorkspaceError, match="bytes"):
        workspace.write_text("a", "ü" * 6, limit=10)
    assert workspace.list() == ()


def test_a_file_is_not_a_folder(workspace: Workspace) -> None:
    workspace.write_text("a", "x")
    with pytest.raises(WorkspaceError, match="as if it were a folder"):
        workspace.write_text("a/b", "x")
    with pytest.raises(WorkspaceError, match="folder"):
        workspace.write_text(".", "x")


def test_the_list_is_sorted_and_shows_only_files(workspace: Workspace) -> None:
    for name in ("b", "a/z", "a/.hidden", ".git/config"):
        workspace.write_text(name, "x")
    (workspace.root / "link").symlink_to("b")
    assert workspace.list() == ("a/z", "b")
    assert len(workspace.list(limit=1)) == 1


def test_a_missing_folder_is_empty(tmp_path: Path) -> None:
    assert Workspace(tmp_path / "nobody").list() == ()


def test_uploads_never_replace_one_another(workspace: Workspace) -> None:
    names = [workspace.store_upload("a.txt", [text]).name for text in (b"1", b"2", b"3")]
    assert names == ["a.txt", "a-2.txt", "a-3.txt"]
    assert [workspace.read_text(name) for name in names] == ["1", "2", "3"]


def test_an_upload_does_not_follow_a_symlink(workspace: Workspace) -> None:
    (workspace.root / "a.txt").symlink_to(workspace.root.parent / "new.txt")
    assert workspace.store_upload("a.txt", [b"x"]).name == "a-2.txt"
    assert not (workspace.root.parent / "new.txt").exists()


def test_an_upload_that_is_too_large_leaves_nothing(workspace: Workspace) -> None:
    with pytest.raises(WorkspaceError, match="larger than 10 bytes"):
        workspace.store_upload("a.txt", [b"x" * 6] * 2, limit=10)
    assert list(workspace.root.iterdir()) == []


def test_an_upload_that_breaks_off_leaves_nothing(workspace: Workspace) -> None:
    def broken() -> Iterator[bytes]:
        yield b"x"
        raise ConnectionError

    with pytest.raises(WorkspaceError):
        workspace.store_upload("a.txt", broken())
    assert list(workspace.root.iterdir()) == []
