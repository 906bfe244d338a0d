"""What a person sees of a file's change, and its undoing."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from sessions_app.models import Session
from sessions_app.panels.file_edits import EditFile
from sessions_app.workspace import Workspace

pytestmark = pytest.mark.django_db


@pytest.fixture
def change(session: Session, workspace: Workspace) -> list[object]:
    """The arguments of its addresses."""
    workspace.write_text("a.txt", "one <b>\ntwo\n")
    EditFile(path="a.txt", old="two", new="2").carry_out(session)
    return [session.public, session.file_changes.get().key]


def test_the_difference_is_shown_as_text(client: Client, alice: User, change: list[object]) -> None:
    client.force_login(alice)
    page = client.get(reverse("file-change", args=change)).content.decode()
    assert "<del>-two</del>" in page and "<ins>+2</ins>" in page and "one &lt;b&gt;" in page


def test_undo_puts_the_file_back_and_says_so(
    client: Client, alice: User, change: list[object], workspace: Workspace
) -> None:
    client.force_login(alice)
    page = client.post(reverse("undo-change", args=change)).content.decode()
    assert 'role="status"' in page and "<form" not in page
    assert workspace.read_text("a.txt") == "one <b>\ntwo\n"


def test_a_refusal_leaves_the_button(
    client: Client, alice: User, change: list[object], workspace: Workspace
) -> None:
    client.force_login(alice)
    workspace.write_text("a.txt", "mine")
    page = client.post(reverse("undo-change", args=change)).content.decode()
    assert 'role="alert"' in page and "<form" in page


def test_nobody_else_sees_it(client: Client, bob: User, change: list[object]) -> None:
    client.force_login(bob)
    assert client.get(reverse("file-change", args=change)).status_code == 404
    assert client.post(reverse("undo-change", args=change)).status_code == 404
