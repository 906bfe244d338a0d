"""What a person does in the panels, and what cannot be done."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from sessions_app.models import Assistant, Memory, Notification, PromptText, QueuedMessage, Session
from sessions_app.models.panel_items import ReferenceQuerySet
from sessions_app.panels import KINDS, TOOLBOX
from sessions_app.panels.base import Action
from sessions_app.workspace import Workspace
from tests import factories


def row_field(action: type[Action]) -> str:
    """The field that names a row by its number; empty for an action that needs none."""
    required = ((name, field) for name, field in action.model_fields.items() if field.is_required())
    name, field = next(required, ("", None))
    return name if field is not None and field.annotation is int else ""


def filled(action: type[Action]) -> dict[str, object]:
    fields = action.model_fields.items()
    return {name: 1 if field.annotation is int else "x" for name, field in fields if field.is_required()}


ACTIONS = {(kind.key, action.action_name()): action for kind in KINDS for action in kind.actions}
NAMING = {which: name for which, action in ACTIONS.items() if (name := row_field(action))} | {
    ("scratchpad", "write_titled_note"): "position"
}
"""Actions that name a row → the field that names it."""

OF_FILES = (
    *(("file_references", name) for name in ("close_file", "reopen_file", "pin_file", "keep_file")),
    *(("file_references", "remove_file"), ("artifacts", "remove_artifact")),
)


def post(client: Client, session: Session, key: str, name: str, **data: object) -> Any:
    return client.post(reverse("panel-action", args=[session.public, key, name]), data)


def act(client: Client, session: Session, key: str, name: str, **data: object) -> str:
    answer = post(client, session, key, name, **data)
    assert answer.status_code == 200
    return str(answer.content.decode())


def is_refused(client: Client, session: Session, key: str, name: str, **data: object) -> bool:
    answer = post(client, session, key, name, **data)
    # Nothing of the page is replaced but the line that says why: what was typed stays.
    return answer["HX-Reswap"] == "none" and f'id="problem-{key}"' in answer.content.decode()


def test_a_todo_is_added_ticked_changed_and_removed(client: Client, session: Session) -> None:
    assert "Todo 1 is added." in act(client, session, "todos", "add_todo", title=" water the beans ")
    assert session.todos.get().title == "water the beans"
    act(client, session, "todos", "complete_todo", position=1)
    assert session.todos.get().done
    act(client, session, "todos", "reopen_todo", position=1)
    act(client, session, "todos", "edit_todo", position=1, title="water the peas")
    todo = session.todos.get()
    assert (todo.title, todo.done) == ("water the peas", False)
    act(client, session, "todos", "remove_todo", position=1)
    assert not session.todos.exists()


@pytest.mark.parametrize("title", ["", "   ", "x" * 301])
def test_a_todo_that_cannot_be_kept_is_refused(client: Client, session: Session, title: str) -> None:
    assert is_refused(client, session, "todos", "add_todo", title=title) and not session.todos.exists()


def test_a_memory_is_kept_changed_and_forgotten(client: Client, session: Session) -> None:
    act(client, session, "memories", "remember", text="likes rye", importance="high")
    memory = Memory.objects.get(owner=session.owner)
    assert (memory.text, memory.importance, memory.session) == ("likes rye", "high", session)
    act(client, session, "memories", "edit_memory", memory=memory.pk, text="likes spelt", importance="low")
    memory.refresh_from_db()
    assert (memory.text, memory.importance) == ("likes spelt", "low")
    act(client, session, "memories", "forget", memory=memory.pk)
    assert not Memory.objects.exists()


def test_the_same_memory_is_not_kept_twice(client: Client, session: Session) -> None:
    first = Memory.objects.create(owner=session.owner, text="likes rye")
    other = Memory.objects.create(owner=session.owner, text="likes spelt")
    act(client, session, "memories", "remember", text="likes rye", importance="low")
    assert Memory.objects.get(text="likes rye").importance == "low"
    assert is_refused(
        client, session, "memories", "edit_memory", memory=other.pk, text="likes rye", importance="low"
    )
    act(client, session, "memories", "edit_memory", memory=first.pk, text="likes rye", importance="critical")
    assert Memory.objects.filter(text="likes rye").get().importance == "critical"


def test_an_importance_is_one_of_four(client: Client, session: Session) -> None:
    assert is_refused(client, session, "memories", "remember", text="likes rye", importance="huge")


def test_another_persons_memory_does_not_exist(client: Client, session: Session, bob: User) -> None:
    theirs = Memory.objects.create(owner=bob, text="likes rye")
    for name in ("edit_memory", "forget"):
        data = {"memory": theirs.pk, "text": "x", "importance": "low"}
        answer = post(client, session, "memories", name, **data)
        assert answer.status_code == 404
    theirs.refresh_from_db()


def test_a_note_keeps_its_lines(client: Client, session: Session) -> None:
    act(client, session, "scratchpad", "write_titled_note", title="Shop", text="flour\n  yeast")
    note = session.notes.get()
    assert (note.title, note.text) == ("Shop", "flour\n  yeast")
    act(client, session, "scratchpad", "write_titled_note", position=1, title="", text="salt")
    note.refresh_from_db()
    assert (note.title, note.text) == ("", "salt")
    act(client, session, "scratchpad", "clear_note", position=1)
    assert not session.notes.exists()


def test_a_line_is_added_to_the_log_and_removed(client: Client, session: Session) -> None:
    assert "chose rye" in act(client, session, "logs", "add_log", text="chose rye")
    line = session.log_entries.get()
    assert line.text == "chose rye"
    assert "The line is removed." in act(client, session, "logs", "remove_log", line=line.pk)
    assert not session.log_entries.exists()


def test_notifications_are_marked_as_seen(client: Client, session: Session) -> None:
    for text in ("one", "two", "three"):
        Notification.objects.add(session.pk, "custom", text, source=text)
    act(client, session, "notifications", "mark_seen", number=2)
    assert [one.text for one in session.notifications.open()] == ["one", "three"]
    act(client, session, "notifications", "mark_all_seen")
    assert not session.notifications.open().exists()


def test_a_waiting_message_is_not_marked_with_the_rest(client: Client, session: Session) -> None:
    Notification.objects.add(session.pk, "user_message", "Hello", source="1")
    act(client, session, "notifications", "mark_all_seen")
    assert session.notifications.open().count() == 1 and not QueuedMessage.objects.exists()


def switch_tool(client: Client, session: Session, name: str, **data: object) -> str:
    return client.post(reverse("switch-tool", args=[session.public, name]), data).content.decode()


def test_a_tool_is_taken_away_and_put_back(client: Client, session: Session) -> None:
    assert "Calculate is off." in switch_tool(client, session, "calculate")
    session.refresh_from_db()
    assert "calculate" not in TOOLBOX.enabled(session.chosen_tools)
    switch_tool(client, session, "calculate", on="on")
    session.refresh_from_db()
    assert session.options.tools is None


def test_a_tool_that_the_assistant_does_without_cannot_be_switched(client: Client, session: Session) -> None:
    session.assistant = Assistant.objects.create(name="Clerk", tools=["calculate", "add_log"])
    session.save()
    html = client.get(reverse("panel", args=[session.public, "offers"])).content.decode()
    assert "the assistant “Clerk” does without the others" in html
    assert html.count(" disabled") == len(TOOLBOX.names) - 2
    switch_tool(client, session, "calculate")
    session.refresh_from_db()
    assert session.chosen_tools == ["add_log"]


def test_a_skill_is_taken_away_and_put_back(client: Client, session: Session) -> None:
    skill, other = (
        PromptText.objects.create(kind="skill", name=name, body="Be brief.") for name in ("Brevity", "Care")
    )
    assert "“Brevity” is off." in act(client, session, "skills", "switch_skill", skill=skill.pk)
    session.refresh_from_db()
    assert session.options.skills == [other.name]
    act(client, session, "skills", "switch_skill", skill=skill.pk, on="on")
    session.refresh_from_db()
    assert session.options.skills is None


def test_a_file_is_switched_pinned_kept_turned_and_taken_out(
    client: Client, session: Session, workspace: Workspace
) -> None:
    workspace.write_text("notes.md", "a line\n" * 20_000)
    file = session.references.create(path="notes.md")
    act(client, session, "file_references", "next_page", panel="notes.md", page=2)
    act(client, session, "file_references", "close_file", path="notes.md")
    act(client, session, "file_references", "pin_file", path="notes.md", on="on")
    said = act(client, session, "file_references", "keep_file", path="notes.md", messages=3)
    assert "notes.md is pinned and stays; without the pin it would stay for 3 messages." in said
    file.refresh_from_db()
    assert (file.enabled, file.pinned, file.ttl, file.page) == (False, True, 3, 2)
    act(client, session, "file_references", "keep_file", path="notes.md", messages="")
    assert session.references.get().ttl is None
    act(client, session, "file_references", "remove_file", path="notes.md")
    assert not session.references.exists() and workspace.read_text("notes.md")


def test_a_file_that_is_switched_on_again_lives_anew(
    client: Client, session: Session, workspace: Workspace
) -> None:
    workspace.write_text("notes.md", "text")
    session.references.create(path="notes.md", ttl=1, enabled=False)
    factories.make_history(session, 3)
    assert "1 more message" in act(client, session, "file_references", "reopen_file", path="notes.md")
    assert session.references.get().born == 3


def test_a_file_that_is_taken_out_while_it_is_switched_on_fails_nothing(
    client: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.references.create(path="notes.md", enabled=False)
    monkeypatch.setattr(ReferenceQuerySet, "switch", lambda rows, on: rows.delete())
    act(client, session, "file_references", "reopen_file", path="notes.md")
    assert not session.references.exists()


def test_an_artifact_is_taken_out_and_stays_in_the_workspace(
    client: Client, session: Session, workspace: Workspace
) -> None:
    workspace.write_text("poem.txt", "roses")
    session.artifacts.create(path="poem.txt")
    act(client, session, "artifacts", "remove_artifact", path="poem.txt")
    assert not session.artifacts.exists() and workspace.read_text("poem.txt") == "roses"


@pytest.mark.parametrize(("key", "name"), NAMING)
@pytest.mark.parametrize("number", ["999", "9" * 30])
def test_what_is_not_there_is_not_found(
    client: Client, session: Session, key: str, name: str, number: str
) -> None:
    data = filled(ACTIONS[key, name]) | {NAMING[key, name]: number}
    assert post(client, session, key, name, **data).status_code == 404


@pytest.mark.parametrize(("key", "name"), NAMING)
def test_a_row_is_named_by_a_number(client: Client, session: Session, key: str, name: str) -> None:
    data = filled(ACTIONS[key, name]) | {NAMING[key, name]: "x"}
    assert is_refused(client, session, key, name, **data)


@pytest.mark.parametrize(("key", "name"), OF_FILES)
def test_a_file_that_is_not_in_the_session_is_not_found(
    client: Client, session: Session, key: str, name: str
) -> None:
    assert post(client, session, key, name, path="gone.txt").status_code == 404


def test_a_nul_is_refused(client: Client, session: Session) -> None:
    assert "NUL character" in act(client, session, "todos", "add_todo", title="so\0w")
    assert is_refused(client, session, "artifacts", "remove_artifact", path="a\0")
    assert not session.todos.exists()


def test_the_actions_that_name_a_row_are_found() -> None:
    assert {name for _, name in NAMING} >= {"edit_todo", "forget", "clear_note", "remove_log", "mark_seen"}


def test_rows_of_another_session_are_not_found(client: Client, session: Session, alice: User) -> None:
    other = factories.make_session(alice)
    other.todos.create(position=1, title="theirs")
    other.references.create(path="a")
    other.artifacts.create(path="b")
    for key, name, data in (
        ("todos", "remove_todo", {"position": 1}),
        ("file_references", "remove_file", {"path": "a"}),
        ("artifacts", "remove_artifact", {"path": "b"}),
    ):
        assert post(client, session, key, name, **data).status_code == 404
    assert other.todos.exists() and other.references.exists() and other.artifacts.exists()


@pytest.mark.parametrize(("key", "name"), [("todos", "explode"), ("none", "add_todo"), ("logs", "add_todo")])
def test_an_action_that_does_not_exist_is_not_found(
    client: Client, session: Session, key: str, name: str
) -> None:
    assert post(client, session, key, name, title="x").status_code == 404


def test_a_tool_that_does_not_exist_is_not_switched(client: Client, session: Session) -> None:
    assert client.post(reverse("switch-tool", args=[session.public, "explode"])).status_code == 404
