"""Pages of branches: whose they are, what they answer, and a page that reads another branch."""

import uuid

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from sessions_app.models import Session, Turn
from sessions_app.prompt.turns import user_task
from tests import factories


@pytest.fixture
def session(alice: User) -> Session:
    """One answered message, and another one beside it that is in view."""
    session = factories.make_session(alice)
    factories.make_history(session, 1)
    Turn.append(session, user_task(str(uuid.uuid4()), "Other words"), parent=None)
    return session


def turn(session: Session, text: str) -> Turn:
    return Turn.objects.get(session=session, text=text)


def address(name: str, of: Turn) -> str:
    return reverse(name, args=[of.session.public, of.public])


@pytest.mark.parametrize("name", ["switch", "wording", "fork"])
def test_nobody_else_moves_anything(stranger: Client, session: Session, name: str) -> None:
    assert stranger.post(address(name, turn(session, "Answer 0")), {"text": "x"}).status_code == 404
    assert Session.objects.get() == session and Session.objects.get().head_version == 0


def test_a_switch_answers_the_transcript(client: Client, session: Session) -> None:
    page = client.post(address("switch", turn(session, "Question 0"))).content.decode()
    assert 'data-head-version="1"' in page and "Answer 0" in page and "<html" not in page


def test_a_refused_switch_says_why(client: Client, session: Session) -> None:
    factories.make_run(session)
    answer = client.post(address("switch", turn(session, "Question 0")))
    assert answer.status_code == 409 and answer.json()["message"] and answer.json()["hint"]


def test_a_correction_needs_words(client: Client, session: Session) -> None:
    answer = turn(session, "Answer 0")
    assert client.get(address("wording", answer)).content == b"Answer 0"
    assert client.post(address("wording", answer), {"text": " "}).status_code == 409
    page = client.post(address("wording", answer), {"text": "Mine"}).content.decode()
    assert "Mine" in page and "In your words." in page and "term-signature" in page


def test_a_fork_leads_to_the_new_session(client: Client, session: Session) -> None:
    answer = client.post(address("fork", turn(session, "Answer 0")))
    assert answer["Location"] == Session.objects.get(forked_from=session).get_absolute_url()


def test_a_link_shows_another_branch_without_bringing_it_into_view(client: Client, session: Session) -> None:
    page = client.get(session.get_absolute_url(), {"leaf": str(turn(session, "Answer 0").public)})
    text = page.content.decode()
    assert (
        "You are reading another branch" in text and "Answer 0" in text and 'data-module="chat"' not in text
    )
    assert Session.objects.get().head_version == 0


def test_a_link_to_the_branch_in_view_is_the_page_itself(client: Client, session: Session) -> None:
    page = client.get(session.get_absolute_url(), {"leaf": str(turn(session, "Other words").public)})
    assert 'data-module="chat"' in page.content.decode()


def test_a_link_to_an_old_turn_shows_it(client: Client, alice: User) -> None:
    session = factories.make_session(alice)
    factories.make_history(session, 45)
    old = turn(session, "Answer 3")
    page = client.get(session.get_absolute_url(), {"leaf": str(old.public)}).content.decode()
    assert f'id="t-{old.public}"' in page and "Question 44" in page
