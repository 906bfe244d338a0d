"""The files that stay open for the model, as the composer lists them."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from sessions_app.chat.open_files import OpenedFile, open_files, opened_with
from sessions_app.chat.transfer import export_markdown
from sessions_app.context.workspaces import workspace_of
from sessions_app.models import Session, Turn
from sessions_app.workspace import Workspace
from tests.factories import answered, make_session


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


def test_showing_the_list_reads_no_file(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Workspace, "read_text", lambda *_: pytest.fail("read"))
    assert [file.problem for file in open_files(session)] == [""]


def test_a_chosen_file_that_is_no_text_says_so_at_once(client: Client, session: Session) -> None:
    workspace_of(session.owner_id).write_bytes("table.bin", b"a\0b")
    chosen = client.post(reverse("workspace", args=[session.public]), {"path": "table.bin"})
    assert chosen.status_code == 204
    assert open_files(session)[-1].problem


def test_none_is_listed_while_their_panel_is_off(session: Session) -> None:
    session.switch_panel("file_references", False)
    assert open_files(session) == ()


def test_a_message_names_the_files_that_were_opened_since_the_turn_before_it(session: Session) -> None:
    answered(session, "First", "One")
    session.references.open_in(session, "later.md")
    answered(session, "Second", "Two")
    session.references.filter(path="plan.md").switch(on=False)
    first, _, second, _ = turns = Turn.objects.branch(session.head_id)
    expected = {first.pk: (OpenedFile("plan.md", False),), second.pk: (OpenedFile("later.md", True),)}
    assert opened_with(turns) == expected
    assert opened_with(turns[2:]) == {second.pk: expected[second.pk]}


def test_a_file_that_was_opened_while_the_model_answered_came_with_no_message(session: Session) -> None:
    answered(session, "First", "One")
    task, answer = turns = Turn.objects.branch(session.head_id)
    between = task.created_at + (answer.created_at - task.created_at) / 2
    session.references.update(added_at=between)
    assert opened_with(turns) == {}


def test_of_copied_turns_it_is_not_known(session: Session) -> None:
    answered(session, "First", "One")
    turns = Turn.objects.branch(session.head_id)
    for turn in turns:
        turn.origin_id = turn.pk
    assert opened_with(turns) == {}
    session.references.update(added_at=session.created_at - timedelta(days=1))
    assert opened_with(Turn.objects.branch(session.head_id)) == {}


def test_the_page_shows_them_above_the_message(client: Client, session: Session) -> None:
    answered(session, "First", "One")
    page = client.get(session.get_absolute_url()).content.decode()
    assert page.count("data-opened") == 1
    assert "*Attached: plan.md*" in export_markdown(session)
