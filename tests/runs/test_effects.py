"""What tools ask for, written down."""

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from pytest_django import DjangoAssertNumQueries, Settings

from sessions_app.context.workspaces import workspace_of
from sessions_app.errors import PipewebError, ToolError, WorkspaceError
from sessions_app.models import Memory, PanelState, Reference, Run, Session
from sessions_app.runs.effects import WRITES, apply, tool_context
from sessions_app.tools import Effect, MemoryView, TodoView
from sessions_app.tools import effects as asked
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


def test_every_effect_can_be_carried_out() -> None:
    assert set(WRITES) == set(Effect.__args__)


def test_todos_are_added_edited_ticked_and_removed(run: Run, session: Session) -> None:
    apply(run, [asked.AddTodo("a"), asked.AddTodo("b"), asked.AddTodo("c")])
    apply(run, [asked.RemoveTodo(1), asked.EditTodo(2, "B"), asked.CompleteTodo(3)])
    assert todos(session) == [(2, "B", False), (3, "c", True)]


def test_a_removed_todo_leaves_the_others_their_positions(run: Run, session: Session) -> None:
    apply(run, [asked.AddTodo("a"), asked.AddTodo("b"), asked.RemoveTodo(1), asked.AddTodo("c")])
    assert todos(session) == [(2, "b", False), (3, "c", False)]


def test_a_todo_that_is_gone_cannot_be_edited(run: Run) -> None:
    with pytest.raises(ToolError, match="position 1 any more"):
        apply(run, [asked.EditTodo(1, "x")])


def test_what_fails_undoes_what_was_asked_with_it(run: Run, session: Session) -> None:
    with pytest.raises(PipewebError):
        apply(run, [asked.AddTodo("a"), asked.WriteArtifact("../out.txt", "x")])
    assert todos(session) == []


def test_a_memory_is_kept_once_and_belongs_to_the_person(run: Run, session: Session) -> None:
    apply(run, [asked.Remember("likes rye", "low"), asked.Remember(" likes rye ", "high")])
    memory = Memory.objects.get()
    assert (memory.owner_id, memory.text, memory.importance) == (session.owner_id, "likes rye", "high")


def test_nobody_forgets_for_somebody_else(run: Run, bob: User) -> None:
    theirs = Memory.objects.remember(bob.pk, "likes wheat")
    apply(run, [asked.Forget(theirs.pk)])
    assert Memory.objects.filter(pk=theirs.pk).exists()


def test_notes_are_written_added_to_and_cleared(run: Run, session: Session) -> None:
    apply(run, [asked.WriteNote("flour"), asked.WriteNote("salt"), asked.WriteNote("rye", 1, append=True)])
    apply(run, [asked.WriteNote("pepper", 2)])
    assert [note.text for note in session.notes.all()] == ["flour\nrye", "pepper"]
    apply(run, [asked.ClearNote(1)])
    assert [note.position for note in session.notes.all()] == [2]


def test_a_note_that_is_gone_cannot_be_written(run: Run) -> None:
    with pytest.raises(ToolError, match="no note 4"):
        apply(run, [asked.WriteNote("x", 4)])


def test_the_log_grows_and_keeps_no_nul(run: Run, session: Session) -> None:
    apply(run, [asked.AddLog("chose\0 rye"), asked.AddLog("baked")])
    assert [entry.text for entry in session.log_entries.all()] == ["chose rye", "baked"]


def test_a_file_is_opened_from_now_on_for_so_many_messages(session: Session) -> None:
    make_history(session, 1)
    apply(make_run(session), [asked.OpenFile("a.txt", 3)])
    reference = session.references.get()
    assert (reference.ttl, reference.born, reference.enabled) == (3, 2, True)


def test_a_file_that_has_gone_meanwhile_is_not_opened(run: Run, session: Session) -> None:
    with pytest.raises(WorkspaceError, match="no file"):
        apply(run, [asked.OpenFile("gone.txt")])


def test_opening_again_begins_anew(run: Run, session: Session) -> None:
    Reference.objects.create(session=session, path="a.txt", enabled=False, page=7, ttl=1)
    apply(run, [asked.OpenFile("a.txt")])
    reference = session.references.get()
    assert (reference.enabled, reference.page, reference.ttl) == (True, 1, None)


def test_a_closed_file_stays_in_the_list(run: Run, session: Session) -> None:
    apply(run, [asked.OpenFile("a.txt"), asked.CloseFile("a.txt")])
    assert session.references.get().enabled is False


def test_pages_are_turned_of_panels_and_of_open_files(run: Run, session: Session) -> None:
    apply(run, [asked.OpenFile("a.txt"), asked.TurnPage("a.txt", 2), asked.TurnPage("tree", 3)])
    assert session.references.get().page == 2 and PanelState.objects.get(key="tree").page == 3


@pytest.mark.parametrize("panel", ["b.txt", "current_datetime", ""])
def test_what_has_no_pages_is_an_error_to_read(run: Run, panel: str) -> None:
    with pytest.raises(ToolError, match="no panel and no open file"):
        apply(run, [asked.TurnPage(panel, 2)])


def test_an_artifact_is_a_file_and_a_row(run: Run, session: Session) -> None:
    apply(run, [asked.WriteArtifact("poem.txt", "roses"), asked.WriteArtifact("poem.txt", "violets")])
    assert workspace_of(session.owner_id).read_text("poem.txt") == "violets"
    assert [artifact.path for artifact in session.artifacts.all()] == ["poem.txt"]


def test_nothing_asked_costs_nothing(run: Run, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(0):
        apply(run, [])


def test_tools_see_the_session_in_one_query(
    run: Run, session: Session, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    apply(run, [asked.AddTodo("a"), asked.Remember("likes rye", "low"), asked.WriteNote("flour")])
    apply(run, [asked.OpenFile("a.txt"), asked.OpenFile("b.txt"), asked.CloseFile("b.txt")])
    with django_assert_num_queries(1):
        context = tool_context(run)
    assert context.todos == (TodoView(1, "a", done=False),)
    assert context.memories == (MemoryView(Memory.objects.get().pk, "likes rye", "low"),)
    assert (context.references, context.notes, context.timezone) == (("a.txt",), (1,), "Asia/Jakarta")
