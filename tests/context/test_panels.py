"""Rows and files as panels of the dynamic layer."""

import os
from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import User

from sessions_app.context.panels import collect_panels
from sessions_app.context.workspaces import workspace_of
from sessions_app.models import Artifact, Reference, Session, Todo
from sessions_app.prompt.panels import Panel
from sessions_app.workspace import Workspace

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(alice: User) -> Session:
    return Session.objects.create(owner=alice, model="gemini-3-flash-preview")


@pytest.fixture
def workspace(session: Session) -> Workspace:
    return workspace_of(session.owner_id)


def panels(session: Session, workspace: Workspace) -> dict[str, Panel]:
    return {panel.key: panel for panel in collect_panels(session, workspace)}


def test_a_session_with_nothing_has_no_panels(session: Session, workspace: Workspace) -> None:
    assert panels(session, workspace) == {}


def test_a_referenced_file_is_sent_with_its_content(session: Session, workspace: Workspace) -> None:
    workspace.write_text("notes.txt", "remember the milk")
    Reference.objects.create(session=session, path="notes.txt")
    found = panels(session, workspace)["file_references"]
    assert found.value == [{"path": "notes.txt", "content": "remember the milk"}]


def test_a_file_that_is_gone_is_named_with_the_reason(session: Session, workspace: Workspace) -> None:
    Reference.objects.create(session=session, path="gone.txt")
    (entry,) = panels(session, workspace)["file_references"].value
    assert entry["path"] == "gone.txt" and entry["not_sent"]


def test_a_reference_that_is_switched_off_is_not_sent(session: Session, workspace: Workspace) -> None:
    workspace.write_text("notes.txt", "secret")
    Reference.objects.create(session=session, path="notes.txt", enabled=False)
    assert panels(session, workspace) == {}


def test_artifacts_are_a_panel_of_their_own(session: Session, workspace: Workspace) -> None:
    workspace.write_text("poem.txt", "roses")
    Artifact.objects.create(session=session, path="poem.txt")
    assert set(panels(session, workspace)) == {"artifacts"}


def test_a_panel_changes_when_its_file_is_written(session: Session, workspace: Workspace) -> None:
    path = workspace.write_text("notes.txt", "one")
    added = datetime(2026, 1, 1, tzinfo=UTC)
    Reference.objects.create(session=session, path="notes.txt", added_at=added)
    written = datetime(2026, 6, 1, tzinfo=UTC)
    os.utime(path, (written.timestamp(), written.timestamp()))
    assert panels(session, workspace)["file_references"].changed == written


def test_todos_keep_their_order_and_the_time_of_the_last_change(
    session: Session, workspace: Workspace
) -> None:
    early, late = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)
    Todo.objects.create(session=session, position=2, title="second", changed_at=early)
    Todo.objects.create(session=session, position=1, title="first", done=True, changed_at=late)
    found = panels(session, workspace)["todos"]
    assert [todo["title"] for todo in found.value] == ["first", "second"] and found.changed == late
