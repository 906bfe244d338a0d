"""Opening a file of the workspace for the message that is being written."""

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from sessions_app.context.workspaces import workspace_of
from sessions_app.models import Session
from tests.factories import make_session


@pytest.fixture
def session(alice: User, settings: Settings, tmp_path: Path) -> Session:
    settings.PIPEWEB_WORKSPACES = tmp_path
    return make_session(alice)


def test_without_files_there_is_nothing_to_choose(client: Client, session: Session, alice: User) -> None:
    address = reverse("workspace", args=[session.public])
    for page in (session.get_absolute_url(), reverse("home")):
        assert 'data-adds="workspace"' not in client.get(page).content.decode()
    workspace_of(alice.pk).write_text("notes/plan.md", "Knead.")
    for page in (session.get_absolute_url(), reverse("home")):
        assert 'data-adds="workspace"' in client.get(page).content.decode()
    assert 'value="notes/plan.md"' in client.get(address).content.decode()


def test_the_chosen_file_is_open_for_the_model(client: Client, session: Session, alice: User) -> None:
    workspace_of(alice.pk).write_text("plan.md", "Knead.")
    page = client.post(reverse("workspace", args=[session.public]), {"path": "plan.md"})
    assert page.status_code == 204 and "closes-dialog" in page["HX-Trigger"]
    assert session.references.get().path == "plan.md"


@pytest.mark.parametrize("path", ["", "missing.md", "../plan.md"])
def test_another_path_is_refused(client: Client, session: Session, alice: User, path: str) -> None:
    workspace_of(alice.pk).write_text("plan.md", "Knead.")
    page = client.post(reverse("workspace", args=[session.public]), {"path": path}).content.decode()
    assert "errorlist" in page and not session.references.exists()
