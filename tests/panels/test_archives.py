"""Archives that come from outside: all files or none, and nothing beyond the workspace."""

import stat
import struct
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sessions_app.errors import WorkspaceError
from sessions_app.panels import archives
from sessions_app.panels.archives import check_archive, pack, unpack
from sessions_app.workspace import Workspace


def archive(files: dict[str, bytes]) -> BytesIO:
    body = BytesIO()
    with zipfile.ZipFile(body, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in files.items():
            made.writestr(name, data)
    return body


def taken(workspace: Workspace, body: BytesIO) -> list[str]:
    return unpack(workspace, body, check_archive(workspace, body))


@pytest.fixture
def folder(tmp_path: Path) -> Workspace:
    (tmp_path / "w").mkdir()
    return Workspace(tmp_path / "w")


ENTRY = zipfile.ZipInfo("a")
ENTRY_BYTES = struct.pack("<4s4B4HL2L5H2L", b"PK\x01\x02", 20, 3, 20, *[0] * 8, 1, *[0] * 6) + b"a"


def test_what_is_packed_comes_back(folder: Workspace, tmp_path: Path) -> None:
    files = {"a.txt": b"a\r\n", "src/b [1].py": b"\xff\x00", "Ünï/c": b""}
    assert sorted(taken(folder, archive(files))) == sorted(files)
    other = Workspace(tmp_path / "other")
    with pack(folder, folder.list()) as packed:
        body = BytesIO(packed.read())
    taken(other, body)
    assert {path: other.read_bytes(path) for path in other.list()} == files


@pytest.mark.parametrize(
    "name",
    ["../evil", "/etc/passwd", "a/../../evil", "a\\..\\evil", "C:/evil", ".git/config", "a/.hidden", "a//b",
     "x" * 256, "con\x00trol", "line\nbreak", "a/ /b"],
)  # fmt: skip
def test_a_name_that_leads_elsewhere_refuses_the_whole_archive(
    folder: Workspace, tmp_path: Path, name: str
) -> None:
    body = archive({"good.txt": b"good"})
    with zipfile.ZipFile(body, "a") as made:
        entry = zipfile.ZipInfo("placeholder")
        entry.filename = name
        made.writestr(entry, b"evil")
    with pytest.raises(WorkspaceError):
        taken(folder, body)
    assert folder.list() == () and [one.name for one in tmp_path.iterdir()] == ["w"]


def test_a_link_is_refused(folder: Workspace) -> None:
    body = BytesIO()
    with zipfile.ZipFile(body, "w") as made:
        entry = zipfile.ZipInfo("link")
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16
        made.writestr(entry, "/etc/passwd")
    with pytest.raises(WorkspaceError, match="link"):
        taken(folder, body)


def test_a_folder_that_is_a_link_leads_nowhere(folder: Workspace, tmp_path: Path) -> None:
    (folder.root / "out").symlink_to(tmp_path)
    with pytest.raises(WorkspaceError):
        taken(folder, archive({"out/evil": b"x"}))
    assert not (tmp_path / "evil").exists()


def test_a_size_that_lies_is_counted_while_it_is_read(
    folder: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = archive({"a": b"fine", "bomb": bytes(200_000)})
    entries = check_archive(folder, body)
    monkeypatch.setattr(archives, "UNPACKED", 100_000)
    with pytest.raises(WorkspaceError, match="larger"):
        unpack(folder, body, entries)
    assert folder.list() == ()
    with pytest.raises(WorkspaceError):
        check_archive(folder, body)


def test_too_many_files_are_refused(folder: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "ENTRIES", 2)
    with pytest.raises(WorkspaceError, match="more than 2 files"):
        check_archive(folder, archive(dict.fromkeys("abc", b"")))


def test_a_long_list_of_files_is_refused_before_it_is_read(
    folder: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever number of files the archive declares: here one."""
    read: list[str] = []

    def made(name: str) -> zipfile.ZipInfo:
        read.append(name)
        return ENTRY

    monkeypatch.setattr(zipfile, "ZipInfo", made)
    listed = ENTRY_BYTES * (archives.DIRECTORY // len(ENTRY_BYTES) + 1)
    ending = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, len(listed), 0, 0)
    with pytest.raises(WorkspaceError, match="2,000 files"):
        check_archive(folder, BytesIO(listed + ending))
    assert read == []


def test_a_file_that_is_there_is_not_replaced(folder: Workspace) -> None:
    folder.write_text("a.txt", "mine")
    with pytest.raises(WorkspaceError, match="already"):
        taken(folder, archive({"b.txt": b"", "a.txt": b"theirs"}))
    assert folder.read_text("a.txt") == "mine" and folder.list() == ("a.txt",)


def test_a_name_that_is_file_and_folder_is_refused(folder: Workspace) -> None:
    with pytest.raises(WorkspaceError, match="folder"):
        taken(folder, archive({"a": b"", "a/b": b""}))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_damaged_archive_leaves_nothing(folder: Workspace, data: st.DataObject) -> None:
    whole = {"a": b"first", "b": bytes(range(256)) * 40}
    raw = bytearray(archive(whole).getvalue())
    raw[data.draw(st.integers(0, len(raw) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        written = taken(folder, BytesIO(bytes(raw)))
    except WorkspaceError:
        written = []
    assert set(folder.list()) == set(written)
    for path in written:
        folder.remove(path)


def test_a_file_that_does_not_unpack_is_refused(folder: Workspace) -> None:
    """The first byte of its data says how it is packed; no method has this number."""
    raw = bytearray(archive({"b": bytes(range(256))}).getvalue())
    raw[30 + len("b")] = 0xFF  # After the local header and the name.
    with pytest.raises(WorkspaceError, match="damaged"):
        taken(folder, BytesIO(bytes(raw)))


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_rare_way_of_packing_is_refused_before_it_is_read(folder: Workspace, method: int) -> None:
    body = BytesIO()
    with zipfile.ZipFile(body, "w", method) as made:
        made.writestr("a", b"a" * 100)
    with pytest.raises(WorkspaceError, match="packed in a way"):
        check_archive(folder, body)


@given(st.binary(max_size=300))
def test_no_bytes_end_in_anything_but_a_refusal(body: bytes) -> None:
    with pytest.raises(WorkspaceError):
        check_archive(Workspace(Path("/nonexistent")), BytesIO(b"PK\x05\x06" + body + b"x" * 30))


def test_what_is_too_large_together_is_not_packed(folder: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.write_text("a.txt", "four")
    monkeypatch.setattr(archives, "PACKED", 3)
    with pytest.raises(WorkspaceError):
        pack(folder, ["a.txt"])
