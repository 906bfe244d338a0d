"""Rows, files and facts as panels of the dynamic layer."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_django import DjangoAssertNumQueries

from sessions_app.models import (
    Artifact,
    LogEntry,
    Memory,
    Note,
    Notification,
    PanelState,
    Reference,
    Session,
    Todo,
    Turn,
)
from sessions_app.panels import KEYS, KINDS
from sessions_app.panels.base import ReadPanel
from sessions_app.panels.refresh import read_panels, refresh
from sessions_app.prompt.panels import sorted_panels
from sessions_app.workspace import Workspace
from tests.factories import finish, make_exchange, make_history, make_run, make_session
from tests.panels.reading import LATER, NOW, panels

pytestmark = pytest.mark.django_db


def only(session: Session, workspace: Workspace, key: str) -> ReadPanel:
    """One kind, read for a page whether it is on or off."""
    (found,) = (one for one in read_panels(session, workspace, NOW, asked=[key]) if one.kind.key == key)
    return found


def test_a_session_with_nothing_has_no_panels(session: Session, workspace: Workspace) -> None:
    assert panels(session, workspace) == {}


def test_a_referenced_file_is_sent_with_its_content(session: Session, workspace: Workspace) -> None:
    workspace.write_text("notes.txt", "remember the milk")
    Reference.objects.create(session=session, path="notes.txt")
    found = panels(session, workspace)["file_references/notes.txt"]
    assert (found.value, found.title) == ("remember the milk", "Files: notes.txt")


def test_a_file_that_is_gone_is_named_with_the_reason(session: Session, workspace: Workspace) -> None:
    Reference.objects.create(session=session, path="gone.txt")
    assert panels(session, workspace)["file_references/gone.txt"].value.keys() == {"not_sent"}


def test_a_reference_that_is_switched_off_is_not_sent(session: Session, workspace: Workspace) -> None:
    workspace.write_text("notes.txt", "secret")
    Reference.objects.create(session=session, path="notes.txt", enabled=False)
    assert panels(session, workspace).keys() == {"tree"}


def test_todos_keep_their_order(session: Session, workspace: Workspace) -> None:
    Todo.objects.create(session=session, position=2, title="second")
    Todo.objects.create(session=session, position=1, title="first", done=True)
    assert panels(session, workspace)["todos"].value == [
        {"position": 1, "title": "first", "done": True},
        {"position": 2, "title": "second", "done": False},
    ]


def test_notes_memories_and_the_log_say_what_was_written(session: Session, workspace: Workspace) -> None:
    Note.objects.add_to(session, "flour", title="Shop")
    memory = Memory.objects.remember(session.owner_id, "likes rye", "high")
    LogEntry.objects.create(session=session, text="chose rye", created_at=NOW)
    found = panels(session, workspace)
    assert found["scratchpad"].value == [{"position": 1, "title": "Shop", "text": "flour"}]
    assert found["memories"].value == [{"id": memory.pk, "text": "likes rye", "importance": "high"}]
    assert found["logs"].value == [{"at": "2026-11-21T09:00:00+00:00", "text": "chose rye"}]


def test_memories_are_a_persons_in_every_session_of_theirs(
    session: Session, workspace: Workspace, alice: User, bob: User
) -> None:
    Memory.objects.remember(alice.pk, "likes rye", session=make_session(alice))
    Memory.objects.remember(bob.pk, "likes wheat")
    assert [one["text"] for one in panels(session, workspace)["memories"].value] == ["likes rye"]


def test_rows_of_another_session_are_not_read(session: Session, workspace: Workspace, alice: User) -> None:
    other = make_session(alice)
    Todo.objects.add_to(other, "not here")
    Note.objects.add_to(other, "not here")
    LogEntry.objects.add_to(other, "not here")
    Notification.objects.add(other.pk, "custom", "not here")
    assert panels(session, workspace) == {}


def test_the_time_moves_only_when_the_content_changes(session: Session, workspace: Workspace) -> None:
    Todo.objects.add_to(session, "bake")
    Note.objects.add_to(session, "flour")
    panels(session, workspace, NOW)
    session.todos.filter(position=1).set_done()
    found = panels(session, workspace, LATER)
    assert (found["todos"].changed, found["scratchpad"].changed) == (LATER, NOW)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=25)
@given(st.lists(st.sampled_from(["", "a", "b"]), min_size=1, max_size=8))
def test_a_file_panels_time_is_that_of_its_last_difference(
    session: Session, workspace: Workspace, contents: list[str]
) -> None:
    PanelState.objects.all().delete()
    Reference.objects.get_or_create(session=session, path="a.txt")
    expected = NOW
    for minute, content in enumerate(contents):
        now = NOW + timedelta(minutes=minute)
        if minute and content != contents[minute - 1]:
            expected = now
        workspace.write_text("a.txt", content)
        assert panels(session, workspace, now)["file_references/a.txt"].changed == expected


def test_a_change_of_one_file_moves_no_other(session: Session, workspace: Workspace) -> None:
    for name in ("first.txt", "second.txt", "third.txt"):
        workspace.write_text(name, name)
        Reference.objects.create(session=session, path=name)
    panels(session, workspace, NOW)
    workspace.write_text("first.txt", "changed")
    found = sorted_panels(list(panels(session, workspace, LATER).values()))
    assert [(panel.key, panel.changed) for panel in found if panel.key != "tree"] == [
        ("file_references/second.txt", NOW),
        ("file_references/third.txt", NOW),
        ("file_references/first.txt", LATER),
    ]


def test_a_panel_that_went_away_is_new_when_it_comes_back(session: Session, workspace: Workspace) -> None:
    reference = Reference.objects.create(session=session, path="gone.txt")
    panels(session, workspace, NOW)
    session.references.all().switch(on=False)
    panels(session, workspace, NOW)
    session.references.filter(pk=reference.pk).switch(on=True)
    assert panels(session, workspace, LATER)["file_references/gone.txt"].changed == LATER


def test_nothing_on_a_page_moves_a_time(session: Session, workspace: Workspace) -> None:
    Todo.objects.add_to(session, "bake")
    assert only(session, workspace, "todos").changed and not PanelState.objects.exists()


def test_a_page_hears_of_every_kind_in_the_products_order(session: Session, workspace: Workspace) -> None:
    read = read_panels(session, workspace, NOW)
    assert tuple(one.kind.key for one in read) == KEYS
    assert {one.kind.key for one in read if one.is_on} == {kind.key for kind in KINDS if kind.default_on}


@pytest.mark.parametrize("key", ["todos", "tree"])
def test_a_person_switches_a_panel(session: Session, workspace: Workspace, key: str) -> None:
    Todo.objects.add_to(session, "bake")
    workspace.write_text("a.txt", "x")
    was = key in panels(session, workspace)
    session.switch_panel(key, not was)
    assert (key in panels(session, workspace)) is not was


def test_a_kind_that_is_off_is_read_for_those_who_ask(session: Session, workspace: Workspace) -> None:
    workspace.write_text("a.txt", "x")
    session.switch_panel("tree", on=False)
    found = only(session, workspace, "tree")
    assert not found.is_on and [panel.value for panel in found.panels] == ["a.txt  1 B"]


def test_a_long_panel_is_sent_a_page_at_a_time(session: Session, workspace: Workspace) -> None:
    for _ in range(3):
        Note.objects.add_to(session, "line\n" * 8_000)
    panels(session, workspace)
    PanelState.objects.set_page(session, "scratchpad", 2)
    found = only(session, workspace, "scratchpad")
    assert (found.page, found.pages) == (2, 2)
    assert found.panels[0].value.startswith("[page 2 of 2]\n")


def test_a_file_is_closed_when_its_messages_are_over_and_that_is_told(
    session: Session, workspace: Workspace
) -> None:
    workspace.write_text("a.txt", "x")
    make_history(session, 1)
    Reference.objects.open_in(session, "a.txt", ttl=2, born=Turn.objects.count_messages(session.head_id))
    make_history(session, 2)
    assert "file_references/a.txt" in panels(session, workspace)
    make_history(session, 1)
    found = panels(session, workspace)
    assert "file_references/a.txt" not in found and not session.references.get().enabled
    assert found["notifications"].value[0]["text"] == "“a.txt” was closed after 2 messages."
    assert not Notification.objects.open().exists()


def test_a_pinned_file_stays(session: Session, workspace: Workspace) -> None:
    Reference.objects.open_in(session, "a.txt", ttl=1)
    session.references.all().pin()
    make_history(session, 3)
    assert "file_references/a.txt" in panels(session, workspace)


def test_messages_of_another_branch_do_not_count(session: Session) -> None:
    first = make_run(session)
    make_exchange(first)
    finish(first)
    make_history(session, 2)
    assert Turn.objects.count_messages(session.head_id) == 3
    session.advance(first.trigger)
    assert Turn.objects.count_messages(session.head_id) == 1


def test_all_panels_of_an_ordinary_session_cost_one_query(
    session: Session, workspace: Workspace, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    fill(session, workspace)
    refresh(session, workspace, NOW)
    with django_assert_num_queries(1):
        assert len([one for one in refresh(session, workspace, LATER) if one.sent]) == 8


def test_what_changed_is_written_in_one_statement(
    session: Session, workspace: Workspace, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    fill(session, workspace)
    with django_assert_num_queries(2):
        refresh(session, workspace, NOW)


def fill(session: Session, workspace: Workspace) -> None:
    workspace.write_text("a.txt", "x")
    Reference.objects.create(session=session, path="a.txt")
    Artifact.objects.create(session=session, path="b.txt")
    Todo.objects.add_to(session, "bake")
    Note.objects.add_to(session, "flour")
    Memory.objects.remember(session.owner_id, "likes rye")
    LogEntry.objects.add_to(session, "chose rye")
    Notification.objects.add(session.pk, "custom", "hello")
