"""Nobody else on this machine reads what `up` writes."""

import os
import stat
from pathlib import Path

import pytest

from pipeweb.private_files import make_private
from tests.server import FirstServer


def wide(root: Path) -> dict[str, str]:
    """What other people may reach below a folder, itself included, with its mode."""
    found = {}
    for path in (root, *root.rglob("*")):
        mode = path.lstat().st_mode
        if mode & 0o077 and not stat.S_ISLNK(mode):
            found[path.name] = oct(mode)
    return found


@pytest.mark.slow
def test_up_writes_private_files_and_narrows_those_that_it_finds(tmp_path: Path) -> None:
    data, outside = tmp_path / "data", tmp_path / "outside.txt"
    outside.write_text("somebody else's business")
    outside.chmod(0o644)
    earlier = data / "workspaces" / "1"
    earlier.mkdir(parents=True)
    (earlier / "notes.txt").write_text("mine")
    (earlier / "link.txt").symlink_to(outside)
    for path in (data, data / "workspaces", earlier):
        path.chmod(0o755)
    (earlier / "notes.txt").chmod(0o644)
    with FirstServer(data) as server:
        assert server.get("/sign-in") == 200
        names = {path.name for path in data.rglob("*")}
        assert {"pipeweb.sqlite3", "pipeweb.sqlite3-wal", "secret_key", "notes.txt"} <= names
        assert any(name.endswith(".lock") for name in names)
        assert wide(data) == {}
    assert stat.S_IMODE(outside.stat().st_mode) == 0o644


def test_a_link_a_pipe_and_a_missing_file_are_left_alone(tmp_path: Path) -> None:
    target, folder = tmp_path / "target", tmp_path / "folder"
    target.mkdir(mode=0o755)
    (target / "file").write_text("")
    (target / "file").chmod(0o644)
    folder.mkdir(mode=0o755)
    (folder / "link").symlink_to(target)
    os.mkfifo(folder / "pipe", 0o644)
    (tmp_path / "root-link").symlink_to(target)
    before = wide(target)
    make_private([folder, tmp_path / "missing", tmp_path / "root-link"])
    assert wide(target) == before and set(before) == {"target", "file"}
    assert set(wide(folder)) == {"pipe"}


def test_rights_of_the_owner_stay(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("")
    script.chmod(0o555)
    make_private([tmp_path])
    assert stat.S_IMODE(script.stat().st_mode) == 0o500
