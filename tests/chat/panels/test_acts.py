"""What a person does in the panels, and what cannot be done."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from sessions_app.chat.panels.acts import ACTS
from sessions_app.models import Assistant, Memory, Notification, PromptText, QueuedMessage, Session
from sessions_app.tools import TOOLBOX
from sessions_app.workspace import Workspace
from tests import factories

NUMBERED = [name for name in ACTS if not name.startswith("add-") and name != "see-all"]


def act(client: Client, session: Session, name: str, target: object = "", **data: object) -> str:
    where = [session.public, name, target] if target else [session.public, name]
    answer = client.post(reverse("panel-act", args=where), data)
    assert answer.status_code == 200
    return answer.content.decode()


def is_refused(client: Client, session: Session, name: str, target: object = "", **data: object) -> bool:
    where = [session.public, name, target] if target else [session.public, name]
    answer = client.post(reverse("panel-act", args=where), data)
    # Nothing of the page is replaced but the line that says why: what was typed stays.
    return answer["HX-Reswap"] == "none" and f'id="problem-{ACTS[name].panel}"' in answer.content.decode()


def test_a_todo_is_added_ticked_changed_and_removed(client: Client, session: Session) -> None:
    assert "Todo 1 is added." in act(client, session, "add-todo", title=" water the beans ")
    assert session.todos.get().title == "water the beans"
    act(client, session, "tick-todo", 1, on="on")
    assert session.todos.get().done
    act(client, session, "tick-todo", 1)
    act(client, session, "edit-todo", 1, title="water the peas")
    todo = session.todos.get()
    assert (todo.title, todo.done) == ("water the peas", False)
    act(client, session, "remove-todo", 1)
    assert not session.todos.exists()


@pytest.mark.parametrize("title", ["", "   ", "x" * 301])
def test_a_todo_that_cannot_be_kept_is_refused(client: Client, session: Session, title: str) -> None:
    assert is_refused(client, session, "add-todo", title=title) and not session.todos.exists()


def test_a_memory_is_kept_changed_and_forgotten(client: Client, session: Session) -> None:
    act(client, session, "add-memory", text="likes rye", importance="high")
    memory = Memory.objects.get(owner=session.owner)
    assert (memory.text, memory.importance, memory.session) == ("likes rye", "high", session)
    act(client, session, "edit-memory", memory.pk, text="likes spelt", importance="low")
    memory.refresh_from_db()
    assert (memory.text, memory.importance) == ("likes spelt", "low")
    act(client, session, "forget", memory.pk)
    assert not Memory.objects.exists()


def test_the_same_memory_is_not_kept_twice(client: Client, session: Session) -> None:
    first = Memory.objects.create(owner=session.owner, text="likes rye")
    other = Memory.objects.create(owner=session.owner, text="likes spelt")
    assert is_refused(client, session, "add-memory", text="likes rye", importance="low")
    assert is_refused(client, session, "edit-memory", other.pk, text="likes rye", importance="low")
    act(client, session, "edit-memory", first.pk, text="likes rye", importance="critical")
    assert Memory.objects.filter(text="likes rye").get().importance == "critical"


def test_an_importance_is_one_of_four(client: Client, session: Session) -> None:
    assert is_refused(client, session, "add-memory", text="likes rye", importance="huge")


def test_another_persons_memory_does_not_exist(client: Client, session: Session, bob: User) -> None:
    theirs = Memory.objects.create(owner=bob, text="likes rye")
    for name in ("edit-memory", "forget"):
        answer = client.post(
            reverse("panel-act", args=[session.public, name, theirs.pk]), {"text": "x", "importance": "low"}
        )
        assert answer.status_code == 404
    theirs.refresh_from_db()


def test_a_note_keeps_its_lines(client: Client, session: Session) -> None:
    act(client, session, "add-note", title="Shop", text="flour\n  yeast")
    note = session.notes.get()
    assert (note.title, note.text) == ("Shop", "flour\n  yeast")
    act(client, session, "edit-note", 1, title="", text="salt")
    note.refresh_from_db()
    assert (note.title, note.text) == ("", "salt")
    act(client, session, "clear-note", 1)
    assert not session.notes.exists()


def test_a_line_is_added_to_the_log_and_removed(client: Client, session: Session) -> None:
    assert "chose rye" in act(client, session, "add-log", text="chose rye")
    line = session.log_entries.get()
    assert line.text == "chose rye"
    assert "The line is removed." in act(client, session, "remove-log", line.pk)
    assert not session.log_entries.exists()


def test_notifications_are_marked_as_seen(client: Client, session: Session) -> None:
    for text in ("one", "two", "three"):
        Notification.objects.note(session.pk, "custom", text, source=text)
    act(client, session, "see", 2)
    assert [one.text for one in session.notifications.open()] == ["one", "three"]
    act(client, session, "see-all")
    assert not session.notifications.open().exists()


def test_a_waiting_message_is_not_marked_with_the_rest(client: Client, session: Session) -> None:
    Notification.objects.note(session.pk, "user_message", "Hello", source="1")
    act(client, session, "see-all")
    assert session.notifications.open().count() == 1 and not QueuedMessage.objects.exists()


def test_a_tool_is_taken_away_and_put_back(client: Client, session: Session) -> None:
    assert "Calculate is off." in act(client, session, "switch-tool", "calculate")
    session.refresh_from_db()
    assert "calculate" not in TOOLBOX.enabled(session.chosen_tools)
    act(client, session, "switch-tool", "calculate", on="on")
    session.refresh_from_db()
    assert session.options.tools is None


def test_a_tool_that_the_assistant_does_without_cannot_be_switched(client: Client, session: Session) -> None:
    session.assistant = Assistant.objects.create(name="Clerk", tools=["calculate", "add_log"])
    session.save()
    html = client.get(reverse("panel", args=[session.public, "offers"])).content.decode()
    assert "the assistant “Clerk” does without the others" in html
    assert html.count(" disabled") == len(TOOLBOX.names) - 2
    act(client, session, "switch-tool", "calculate")
    session.refresh_from_db()
    assert session.chosen_tools == ["add_log"]


def test_a_skill_is_taken_away_and_put_back(client: Client, session: Session) -> None:
    skill, other = (
        PromptText.objects.create(kind="skill", name=name, body="Be brief.") for name in ("Brevity", "Care")
    )
    assert "“Brevity” is off." in act(client, session, "switch-skill", skill.pk)
    session.refresh_from_db()
    assert session.options.skills == [other.name]
    act(client, session, "switch-skill", skill.pk, on="on")
    session.refresh_from_db()
    assert session.options.skills is None


def test_a_file_is_switched_pinned_kept_turned_and_taken_out(
    client: Client, session: Session, workspace: Workspace
) -> None:
    workspace.write_text("notes.md", "a line\n" * 20_000)
    file = session.references.create(path="notes.md")
    act(client, session, "switch-file", file.pk)
    act(client, session, "pin-file", file.pk, on="on")
    act(client, session, "keep-file", file.pk, ttl=3)
    act(client, session, "turn-file", file.pk, page=2)
    file.refresh_from_db()
    assert (file.enabled, file.pinned, file.ttl, file.page) == (False, True, 3, 2)
    act(client, session, "keep-file", file.pk, ttl="")
    assert session.references.get().ttl is None
    act(client, session, "remove-file", file.pk)
    assert not session.references.exists() and workspace.read_text("notes.md")


def test_a_file_that_is_switched_on_again_lives_anew(
    client: Client, session: Session, workspace: Workspace
) -> None:
    workspace.write_text("notes.md", "text")
    file = session.references.create(path="notes.md", ttl=1, enabled=False)
    factories.make_history(session, 3)
    assert "1 more message" in act(client, session, "switch-file", file.pk, on="on")
    assert session.references.get().born == 3


def test_an_artifact_is_taken_out_and_stays_in_the_workspace(
    client: Client, session: Session, workspace: Workspace
) -> None:
    workspace.write_text("poem.txt", "roses")
    artifact = session.artifacts.create(path="poem.txt")
    act(client, session, "remove-artifact", artifact.pk)
    assert not session.artifacts.exists() and workspace.read_text("poem.txt") == "roses"


@pytest.mark.parametrize("name", NUMBERED)
@pytest.mark.parametrize("target", ["999", "x", "9" * 30])
def test_what_is_not_there_is_not_found(client: Client, session: Session, name: str, target: str) -> None:
    data = {"title": "x", "text": "x", "importance": "low", "page": 1}
    assert client.post(reverse("panel-act", args=[session.public, name, target]), data).status_code == 404


def test_rows_of_another_session_are_not_found(client: Client, session: Session, alice: User) -> None:
    other = factories.make_session(alice)
    other.todos.create(position=1, title="theirs")
    file, artifact = other.references.create(path="a"), other.artifacts.create(path="b")
    for name, target in (("remove-todo", 1), ("remove-file", file.pk), ("remove-artifact", artifact.pk)):
        assert client.post(reverse("panel-act", args=[session.public, name, target])).status_code == 404
    assert other.todos.exists() and other.references.exists() and other.artifacts.exists()


def test_an_act_that_does_not_exist_is_not_found(client: Client, session: Session) -> None:
    assert client.post(reverse("panel-act", args=[session.public, "explode"])).status_code == 404
