"""Query sets of the rows behind the panels."""

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from sessions_app.models import AllowedCommand, LogEntry, Memory, Note, PanelState, Reference, Session, Todo
from tests.factories import make_session

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(alice: User) -> Session:
    return make_session(alice)


def test_todos_are_numbered_in_their_session(session: Session, alice: User) -> None:
    Todo.objects.add_to(make_session(alice), "elsewhere")
    assert [Todo.objects.add_to(session, title).position for title in ("a", "b")] == [1, 2]


def test_a_number_in_the_middle_is_not_given_again(session: Session) -> None:
    for title in ("a", "b"):
        Todo.objects.add_to(session, title)
    session.todos.filter(position=1).delete()
    assert Todo.objects.add_to(session, "c").position == 3


def test_a_title_is_trimmed_to_what_a_column_holds(session: Session) -> None:
    assert Todo.objects.add_to(session, "  a\0" + "x" * 400).title == "a" + "x" * 299


def test_setting_a_todo_done_twice_changes_it_once(session: Session) -> None:
    todo = Todo.objects.add_to(session, "a")
    assert session.todos.all().set_done() == 1
    changed = session.todos.get().changed_at
    assert changed > todo.changed_at and session.todos.all().set_done() == 0
    assert session.todos.all().set_done(done=False) == 1


def test_an_equal_memory_is_not_added_again(alice: User, session: Session) -> None:
    first = Memory.objects.remember(alice.pk, "likes rye", session=session)
    again = Memory.objects.remember(alice.pk, " likes rye", "critical")
    assert (again.pk, again.session_id, again.importance) == (first.pk, session.pk, "critical")


def test_two_people_remember_the_same(alice: User, bob: User) -> None:
    assert Memory.objects.remember(alice.pk, "x").pk != Memory.objects.remember(bob.pk, "x").pk


def test_the_text_of_a_memory_is_changed(alice: User) -> None:
    Memory.objects.remember(alice.pk, "likes rye")
    Memory.objects.filter(owner=alice).reword("likes wheat ", "low")
    assert Memory.objects.values_list("text", "importance").get() == ("likes wheat", "low")


def test_the_names_of_rows_do_not_contain_their_texts(session: Session) -> None:
    rows = (
        Memory.objects.remember(session.owner_id, "secret"),
        Note.objects.add_to(session, "secret", "secret"),
        LogEntry.objects.add_to(session, "secret"),
    )
    assert not any("secret" in str(row) for row in rows)


def test_a_reference_is_hidden_pinned_and_turned(session: Session) -> None:
    Reference.objects.open_in(session, "a.txt", ttl=2, born=1)
    session.references.all().switch(on=False)
    session.references.all().pin()
    session.references.all().set_page(-3)
    session.references.all().set_ttl(None, born=0)
    reference = session.references.get()
    assert (reference.enabled, reference.pinned, reference.page, reference.ttl) == (False, True, 1, None)


def test_a_page_is_remembered_before_and_after_the_panel_was_sent(session: Session) -> None:
    PanelState.objects.set_page(session, "tree", 2)
    PanelState.objects.filter(key="tree").update(sha256="f" * 64)
    PanelState.objects.set_page(session, "tree", 3)
    assert PanelState.objects.values_list("page", "sha256").get() == (3, "f" * 64)


def test_a_switch_leaves_the_other_settings_alone(session: Session) -> None:
    session.settings = {"language": "Dutch", "panels": {"tree": True}}
    session.save()
    stale = Session.objects.get(pk=session.pk)
    session.switch_panel("todos", False)
    stale.switch_panel("tree", False)
    session.refresh_from_db()
    assert session.settings == {"language": "Dutch", "panels": {"tree": False, "todos": False}}


def test_a_tool_is_put_on_offer_and_taken_away(session: Session) -> None:
    stale = Session.objects.get(pk=session.pk)
    session.switch("tools", "calculate", False, ["calculate", "add_todo"])
    assert session.options.tools == ["add_todo"]
    stale.switch("tools", "add_log", True, ["calculate", "add_todo"])
    assert stale.options.tools == ["add_log", "add_todo"]


def test_a_choice_of_what_is_standard_is_no_choice(session: Session) -> None:
    for on in (False, True):
        session.switch("tools", "calculate", on, ["calculate", "add_todo"])
    assert session.options.tools is None


@pytest.mark.parametrize("argv", ["ls", [], [""], ["ls", 1], {"ls": 1}, ["l\0s"]])
def test_a_command_is_a_list_of_words(argv: object) -> None:
    with pytest.raises(ValidationError, match="list of words"):
        AllowedCommand(name="odd", argv=argv).clean()


def test_a_list_of_words_is_a_command() -> None:
    AllowedCommand(name="disk", argv=["df", "-h", ""]).clean()
