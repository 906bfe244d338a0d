"""The files that stay open for the model, as the composer lists them."""

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from sessions_app.chat.open_files import open_files
from sessions_app.context.workspaces import workspace_of
from sessions_app.models import Session
from tests.factories import make_session


@pytest.fixture
def session(alice: User, settings: Settings, tmp_path: Path) -> Session:
    settings.PIPEWEB_WORKSPACES = tmp_path
    found = make_session(alice)
    workspace_of(alice.pk).write_text("plan.md", "Knead.")
    found.references.open_in(found, "plan.md")
    return found


def test_the_page_and_its_news_list_them(client: Client, session: Session) -> None:
    for address in (session.get_absolute_url(), reverse("gauge", args=[session.public])):
        assert 'data-closes-file="plan.md"' in client.get(address).content.decode()


def test_a_closed_file_is_gone_from_the_list(client: Client, session: Session) -> None:
    address = reverse("panel-action", args=[session.public, "file_references", "close_file"])
    assert client.post(address, {"path": "plan.md"}).status_code == 200
    assert open_files(session) == ()


def test_a_file_that_cannot_be_sent_says_why(session: Session) -> None:
    session.references.open_in(session, "gone.md")
    sent, unsent = open_files(session)
    assert (sent.path, sent.problem, unsent.path) == ("plan.md", "", "gone.md") and unsent.problem


def test_none_is_listed_while_their_panel_is_off(session: Session) -> None:
    session.switch_panel("file_references", False)
    assert open_files(session) == ()
