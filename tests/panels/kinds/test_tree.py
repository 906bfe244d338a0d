"""The names in a workspace."""

from pathlib import Path

import pytest

from sessions_app.panels.kinds.tree import tree_of
from sessions_app.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def test_an_empty_or_missing_workspace_has_no_tree(tmp_path: Path) -> None:
    assert tree_of(Workspace(tmp_path)) == "" and tree_of(Workspace(tmp_path / "gone")) == ""


def test_folders_and_files_stand_by_name_with_their_sizes(workspace: Workspace) -> None:
    workspace.write_text("b.txt", "x" * 1_234)
    workspace.write_text("a/deep/c.txt", "x")
    assert tree_of(workspace).splitlines() == [
        "a/",
        "  deep/",
        "    c.txt  1 B",
        "b.txt  1,234 B",
    ]


def test_hidden_names_and_links_are_left_out(workspace: Workspace) -> None:
    workspace.write_text(".git/config", "x")
    (workspace.root / "etc").symlink_to("/etc")
    (workspace.root / "odd\nname").write_text("x")
    assert tree_of(workspace) == ""


def test_what_lies_too_deep_is_hinted_at(workspace: Workspace) -> None:
    workspace.write_text("a/b/c.txt", "x")
    assert tree_of(workspace, depth=2).splitlines() == ["a/", "  b/", "    …"]


def test_a_long_list_is_cut_and_says_so(workspace: Workspace) -> None:
    for number in range(5):
        workspace.write_text(f"{number}.txt", "x")
    assert tree_of(workspace, entries=2).splitlines()[2:] == ["… only the first 2 entries are listed"]
