"""What tools ask for, written down."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from sessions_app.context.workspaces import workspace_of
from sessions_app.errors import PipewebError, RowGone, ToolError, WorkspaceError
from sessions_app.models import Memory, PanelState, Reference, Run, Session
from sessions_app.panels.file_edits import WriteArtifact
from sessions_app.panels.kinds.files import CloseFile, FileReferences, NextPage, OpenFile
from sessions_app.panels.kinds.logs import AddLog
from sessions_app.panels.kinds.memories import Forget, Memories, MemoryRow, Remember
from sessions_app.panels.kinds.scratchpad import ClearNote, Scratchpad, WriteNote
from sessions_app.panels.kinds.todos import AddTodo, CompleteTodo, EditTodo, RemoveTodo, Todos
from sessions_app.panels.refresh import tool_context
from sessions_app.runs.tool_rounds import apply_effects as apply
from tests.factories import make_history, make_run, make_session

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(alice: User, settings: Settings, tmp_path: Path) -> Session:
    settings.PIPEWEB_WORKSPACES = tmp_path
    for name in ("a.txt", "b.txt"):
        workspace_of(alice.pk).write_text(name, "x")
    return make_session(alice, settings={"time_zone": "Asia/Jakarta"})


@pytest.fixture
def run(session: Session) -> Run:
    return make_run(session)


def todos(session: Session) -> list[tuple[int, str, bool]]:
    return [(todo.position, todo.title, todo.done) for todo in session.todos.all()]


def test_todos_are_added_edited_ticked_and_removed(run: Run, session: Session) -> None:
    apply(run, [AddTodo(title="a"), AddTodo(title="b"), AddTodo(title="c")])
    apply(run, [RemoveTodo(position=1), EditTodo(position=2, title="B"), CompleteTodo(position=3)])
    assert todos(session) == [(2, "B", False), (3, "c", True)]


def test_a_removed_todo_leaves_the_others_their_positions(run: Run, session: Session) -> None:
    apply(run, [AddTodo(title="a"), AddTodo(title="b"), RemoveTodo(position=1), AddTodo(title="c")])
    assert todos(session) == [(2, "b", False), (3, "c", False)]


def test_a_todo_that_is_gone_cannot_be_edited(run: Run) -> None:
    with pytest.raises(RowGone):
        apply(run, [EditTodo(position=1, title="x")])


def test_what_fails_undoes_what_was_asked_with_it(run: Run, session: Session) -> None:
    with pytest.raises(PipewebError):
        apply(run, [AddTodo(title="a"), WriteArtifact(path="../out.txt", text="x")])
    assert todos(session) == []


def test_a_memory_is_kept_once_and_belongs_to_the_person(run: Run, session: Session) -> None:
    apply(run, [Remember(text="likes rye", importance="low")])
    apply(run, [Remember(text=" likes rye ", importance="high")])
    memory = Memory.objects.get()
    assert (memory.owner_id, memory.text, memory.importance) == (session.owner_id, "likes rye", "high")


def test_nobody_forgets_for_somebody_else(run: Run, bob: User) -> None:
    theirs = Memory.objects.remember(bob.pk, "likes wheat")
    with pytest.raises(RowGone):
        apply(run, [Forget(memory=theirs.pk)])
    assert Memory.objects.filter(pk=theirs.pk).exists()


def test_notes_are_written_added_to_and_cleared(run: Run, session: Session) -> None:
    apply(
        run, [WriteNote(text="flour"), WriteNote(text="salt"), WriteNote(text="rye", position=1, append=True)]
    )
    apply(run, [WriteNote(text="pepper", position=2)])
    assert [note.text for note in session.notes.all()] == ["flour\nrye", "pepper"]
    apply(run, [ClearNote(position=1)])
    assert [note.position for note in session.notes.all()] == [2]


def test_a_note_that_is_gone_cannot_be_written(run: Run) -> None:
    with pytest.raises(RowGone):
        apply(run, [WriteNote(text="x", position=4)])


def test_the_log_grows_and_takes_no_nul(run: Run, session: Session) -> None:
    with pytest.raises(ValueError, match="nul"):
        AddLog(text="chose\0 rye")
    apply(run, [AddLog(text="chose rye"), AddLog(text="baked")])
    assert [entry.text for entry in session.log_entries.all()] == ["chose rye", "baked"]


def test_a_file_is_opened_from_now_on_for_so_many_messages(session: Session) -> None:
    make_history(session, 1)
    apply(make_run(session), [OpenFile(path="a.txt", messages=3)])
    reference = session.references.get()
    assert (reference.ttl, reference.born, reference.enabled) == (3, 2, True)


def test_a_file_that_has_gone_meanwhile_is_not_opened(run: Run, session: Session) -> None:
    with pytest.raises(WorkspaceError, match="no file"):
        apply(run, [OpenFile(path="gone.txt")])


def test_opening_again_begins_anew(run: Run, session: Session) -> None:
    Reference.objects.create(session=session, path="a.txt", enabled=False, page=7, ttl=1)
    apply(run, [OpenFile(path="a.txt")])
    reference = session.references.get()
    assert (reference.enabled, reference.page, reference.ttl) == (True, 1, None)


def test_a_closed_file_stays_in_the_list(run: Run, session: Session) -> None:
    apply(run, [OpenFile(path="a.txt"), CloseFile(path="a.txt")])
    assert session.references.get().enabled is False


def test_pages_are_turned_of_panels_and_of_open_files(run: Run, session: Session) -> None:
    apply(run, [OpenFile(path="a.txt"), NextPage(panel="a.txt", page=2), NextPage(panel="tree", page=3)])
    assert session.references.get().page == 2 and PanelState.objects.get(key="tree").page == 3


@pytest.mark.parametrize("panel", ["b.txt", "current_datetime", ""])
def test_what_has_no_pages_is_an_error_to_read(run: Run, panel: str) -> None:
    with pytest.raises(ToolError, match="no panel and no open file"):
        apply(run, [NextPage(panel=panel, page=2)])


def test_an_artifact_is_a_file_and_a_row(run: Run, session: Session) -> None:
    apply(run, [WriteArtifact(path="poem.txt", text="roses"), WriteArtifact(path="poem.txt", text="violets")])
    assert workspace_of(session.owner_id).read_text("poem.txt") == "violets"
    assert [artifact.path for artifact in session.artifacts.all()] == ["poem.txt"]


def test_nothing_asked_costs_nothing(run: Run, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(0):
        apply(run, [])


def test_tools_know_the_time_of_the_call_not_that_of_the_run(run: Run) -> None:
    run.now = timezone.now() - timedelta(hours=1)
    assert timezone.now() - tool_context(run).now < timedelta(minutes=1)


def test_a_round_of_tools_makes_no_schema(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """That of all actions takes 4 ms, and the toolbox has it."""
    made: list[str] = []
    monkeypatch.setattr("sessions_app.panels.base.declare", lambda name, *_: made.append(name))
    tool_context(run)
    assert made == []


def test_tools_see_the_session_in_one_query(
    run: Run, session: Session, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    apply(run, [AddTodo(title="a"), Remember(text="likes rye", importance="low"), WriteNote(text="flour")])
    apply(run, [OpenFile(path="a.txt"), OpenFile(path="b.txt"), CloseFile(path="b.txt")])
    with django_assert_num_queries(1):
        context = tool_context(run)
    (todo,) = Todos.of(context)
    assert (todo.position, todo.title, todo.done) == (1, "a", False)
    assert Memories.of(context) == [MemoryRow(id=Memory.objects.get().pk, text="likes rye", importance="low")]
    assert [file.path for file in FileReferences.of(context)] == ["a.txt"]
    assert [note.position for note in Scratchpad.of(context)] == [1]
    assert context.timezone == "Asia/Jakarta"


def test_completing_twice_changes_nothing(run: Run, session: Session) -> None:
    apply(run, [AddTodo(title="a"), CompleteTodo(position=1)])
    changed = session.todos.get().changed_at
    apply(run, [CompleteTodo(position=1)])
    assert session.todos.get().changed_at == changed


def test_tools_know_which_panels_are_off(run: Run) -> None:
    run.session.switch_panel(FileReferences.key, False)
    assert FileReferences.key in tool_context(run).off
    run.session.switch_panel(FileReferences.key, True)
    assert FileReferences.key not in tool_context(run).off
