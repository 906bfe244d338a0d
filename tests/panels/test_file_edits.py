"""Edits, moves and deletions of workspace files, and their undoing."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.context.storage import check_storage
from sessions_app.errors import NotKept, RowGone, ToolError, WorkspaceError
from sessions_app.models import Artifact, Blob, FileChange, Notification, Reference, Session
from sessions_app.panels import TOOLBOX
from sessions_app.panels.file_edits import DeleteFile, EditFile, MoveFile, UndoChange, WriteArtifact
from sessions_app.tools import ToolContext
from sessions_app.tools.workspace_reading import hash_of_lines
from sessions_app.workspace import UPLOAD_LIMIT, Workspace
from tests.beside import beside
from tests.factories import make_session

pytestmark = pytest.mark.django_db

TEXT = "one\ntwo\nthree\n"


def edited(text: str, **fields: Any) -> str:
    return EditFile(path="a.txt", **fields)._edited(text)


def undo(session: Session) -> str:
    return UndoChange(change=session.file_changes.latest("pk").key).carry_out(session)


async def test_the_response_names_the_change_that_the_run_stores(context: ToolContext) -> None:
    context.workspace.write_text("a.txt", TEXT)
    result = await TOOLBOX.run("edit_file", {"path": "./a.txt", "old": "two", "new": "2\n2"}, context)
    (effect,) = result.effects
    assert isinstance(effect, EditFile)
    assert result.response == {"edited": "a.txt", "change": effect._key, "lines_added": 1}
    assert context.workspace.read_text("a.txt") == TEXT


async def test_only_a_file_that_is_replaced_has_a_change(context: ToolContext) -> None:
    written = {"written": "a.txt", "characters": 3}
    call = {"path": "a.txt", "text": "new"}
    assert (await TOOLBOX.run("write_artifact", call, context)).response == written
    context.workspace.write_text("a.txt", TEXT)
    result = await TOOLBOX.run("write_artifact", call, context)
    (effect,) = result.effects
    assert isinstance(effect, WriteArtifact) and result.response == written | {"change": effect._key}


def test_a_replaced_file_comes_back_to_the_byte(session: Session, workspace: Workspace) -> None:
    body = b"\xff\x00\r\n"
    (workspace.root / "a.txt").write_bytes(body)
    WriteArtifact(path="a.txt", text="new").carry_out(session)
    assert workspace.read_text("a.txt") == "new"
    undo(session)
    assert workspace.read_bytes("a.txt") == body


@pytest.mark.parametrize("there", ["new", None])
def test_a_file_that_does_not_change_leaves_no_change(
    session: Session, workspace: Workspace, there: str | None
) -> None:
    if there is not None:
        workspace.write_text("a.txt", there)
    WriteArtifact(path="a.txt", text="new").carry_out(session)
    assert not session.file_changes.exists() and session.artifacts.get().path == "a.txt"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"old": "two", "new": "2"}, "one\n2\nthree\n"),
        ({"old": "two\n", "new": ""}, "one\nthree\n"),
        ({"first": 2, "last": 3, "hash": hash_of_lines(["two\n", "three\n"]), "new": "2"}, "one\n2\n"),
        ({"first": 2, "last": 2, "hash": hash_of_lines(["two\n"]), "new": ""}, "one\nthree\n"),
    ],
)
def test_a_part_is_replaced(fields: dict[str, Any], expected: str) -> None:
    assert edited(TEXT, **fields) == expected


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"new": "x"}, "Name either"),
        ({"new": "x", "old": "two", "first": 1, "last": 1}, "Name either"),
        ({"new": "x", "old": "four"}, "is not in"),
        ({"new": "x", "old": "o"}, "more than once"),
        ({"new": "x", "first": 2, "last": 9, "hash": "0"}, "has 3 lines"),
        ({"new": "x", "first": 3, "last": 2, "hash": "0"}, "has 3 lines"),
        ({"new": "x", "first": 2, "last": 2, "hash": "0"}, "another hash"),
    ],
)
def test_an_edit_that_does_not_fit_is_refused(fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(ToolError, match=reason):
        edited(TEXT, **fields)


def test_occurrences_that_overlap_are_more_than_one() -> None:
    with pytest.raises(ToolError, match="more than once"):
        edited("a\n\n\nb", old="\n\n", new="\n")


async def test_the_first_line_behind_a_byte_order_mark_is_edited_by_its_hash(context: ToolContext) -> None:
    """By the tools alone, as a model does: the hash is the one that it was told."""
    (context.workspace.root / "a.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    read = (await TOOLBOX.run("read_range", {"path": "a.txt", "first": 1, "last": 1}, context)).response
    call: dict[str, Any] = {"path": "a.txt", "first": 1, "last": 1, "hash": read["hash"], "new": "1"}
    assert (await TOOLBOX.run("edit_file", call, context)).response["edited"] == "a.txt"
    assert EditFile(**call)._edited("\ufeffone\r\ntwo\r\n") == "\ufeff1\r\ntwo\r\n"
    assert edited("\ufeffone\n", old="one", new="1") == "\ufeff1\n"


def test_line_ends_stay_those_of_the_file() -> None:
    assert edited("one\r\ntwo\r\n", old="one\ntwo", new="1\n2") == "1\r\n2\r\n"


@given(st.lists(st.text("ab\r\n ü", max_size=5), min_size=1, max_size=6), st.data())
def test_only_the_named_lines_change(lines: list[str], data: st.DataObject) -> None:
    found = "\n".join(lines).splitlines(keepends=True) or ["x"]
    first = data.draw(st.integers(1, len(found)))
    last = data.draw(st.integers(first, len(found)))
    after = edited(
        "".join(found), first=first, last=last, hash=hash_of_lines(found[first - 1 : last]), new=""
    )
    assert after == "".join(found[: first - 1] + found[last:])


def test_an_edit_is_stored_with_its_difference_and_undone(session: Session, workspace: Workspace) -> None:
    workspace.write_text("a.txt", TEXT)
    EditFile(path="a.txt", old="two", new="2").carry_out(session)
    assert workspace.read_text("a.txt") == "one\n2\nthree\n"
    change = session.file_changes.get()
    assert change.diff == "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three"
    undo(session)
    assert workspace.read_text("a.txt") == TEXT
    told = session.notifications.get()
    assert change.key in told.text and told.status == Notification.Status.SEEN


def test_a_file_that_was_changed_since_stays(session: Session, workspace: Workspace) -> None:
    workspace.write_text("a.txt", TEXT)
    EditFile(path="a.txt", old="two", new="2").carry_out(session)
    workspace.write_text("a.txt", "mine")
    with pytest.raises(NotKept, match="changed since"):
        undo(session)
    assert workspace.read_text("a.txt") == "mine" and session.file_changes.get().undone_at is None


def test_a_change_is_undone_once(session: Session, workspace: Workspace) -> None:
    workspace.write_text("a.txt", TEXT)
    EditFile(path="a.txt", old="two", new="2").carry_out(session)
    undo(session)
    with pytest.raises(NotKept, match="already"):
        undo(session)


def test_a_change_of_another_session_is_not_there(
    session: Session, alice: User, workspace: Workspace
) -> None:
    workspace.write_text("a.txt", TEXT)
    EditFile(path="a.txt", old="two", new="2").carry_out(session)
    with pytest.raises(RowGone):
        UndoChange(change=session.file_changes.get().key).carry_out(make_session(alice))


def test_a_deleted_file_comes_back_to_the_byte(session: Session, workspace: Workspace) -> None:
    body = b"\x00\xff\r\n"
    (workspace.root / "a.bin").write_bytes(body)
    Reference.objects.create(session=session, path="a.bin")
    DeleteFile(path="a.bin").carry_out(session)
    assert workspace.list() == () and not session.references.get().enabled
    undo(session)
    assert workspace.read_bytes("a.bin") == body


def test_what_is_open_follows_a_moved_file_and_back(session: Session, workspace: Workspace) -> None:
    workspace.write_text("a.txt", TEXT)
    Reference.objects.create(session=session, path="a.txt")
    Artifact.objects.create(session=session, path="a.txt")
    MoveFile(path="a.txt", to="deep/b.txt").carry_out(session)
    assert workspace.list() == ("deep/b.txt",)
    assert session.references.get().path == session.artifacts.get().path == "deep/b.txt"
    undo(session)
    assert workspace.list() == ("a.txt",) and session.references.get().path == "a.txt"


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("move_file", {"path": "a.txt", "to": "b.txt"}),
        ("move_file", {"path": "a.txt", "to": "../b.txt"}),
        ("move_file", {"path": "gone.txt", "to": "c.txt"}),
        ("delete_file", {"path": "gone.txt"}),
        ("write_artifact", {"path": "large.bin", "text": "x"}),
        ("edit_file", {"path": "picture.png", "old": "a", "new": "b"}),
    ],
)
async def test_what_cannot_be_done_changes_nothing(
    context: ToolContext, name: str, args: dict[str, Any]
) -> None:
    context.workspace.write_text("a.txt", TEXT)
    context.workspace.write_text("b.txt", TEXT)
    (context.workspace.root / "picture.png").write_bytes(b"\xff\xfe")
    (context.workspace.root / "large.bin").write_bytes(bytes(UPLOAD_LIMIT + 1))
    result = await TOOLBOX.run(name, args, context, enabled=[name])
    assert result.failed and result.effects == ()


def test_the_old_bytes_go_with_the_session(session: Session, workspace: Workspace) -> None:
    workspace.write_text("a.txt", "only here")
    EditFile(path="a.txt", old="only", new="not").carry_out(session)
    assert Blob.objects.filter(owner=session.owner).exists()
    session.erase()
    assert not FileChange.objects.exists() and not Blob.objects.exists()


def test_a_failed_write_leaves_no_change(session: Session, workspace: Workspace) -> None:
    workspace.write_text("a.txt", TEXT)
    with pytest.raises(WorkspaceError):
        MoveFile(path="a.txt", to="a.txt/b.txt").carry_out(session)
    assert not session.file_changes.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("other", [EditFile(path="a.txt", old="three", new="3"), DeleteFile(path="a.txt")])
def test_a_change_begins_with_what_another_session_left(
    session: Session, workspace: Workspace, other: EditFile | DeleteFile
) -> None:
    workspace.write_text("a.txt", TEXT)
    with beside() as begin:
        with transaction.atomic():
            # Whatever is about to write has reserved its bytes.
            check_storage(session.owner_id, 1)
            second = begin(lambda: other.carry_out(make_session(session.owner)))
            EditFile(path="a.txt", old="two", new="2").carry_out(session)
        second.result(60)
    change = FileChange.objects.get(key=other._key)
    assert change.before is not None and change.before.bytes == b"one\n2\nthree\n"
    if isinstance(other, EditFile):
        assert workspace.read_text("a.txt") == "one\n2\n3\n"


@pytest.mark.django_db(transaction=True)
def test_an_undo_looks_at_what_another_session_left(session: Session, workspace: Workspace) -> None:
    workspace.write_text("a.txt", TEXT)
    EditFile(path="a.txt", old="two", new="2").carry_out(session)
    with beside() as begin:
        with transaction.atomic():
            check_storage(session.owner_id, 1)
            second = begin(lambda: undo(session))
            EditFile(path="a.txt", old="three", new="3").carry_out(make_session(session.owner))
        assert isinstance(second.exception(60), NotKept)
    assert workspace.read_text("a.txt") == "one\n2\n3\n"
