"""The parts of a conversation that were put away, as the drawer lists them."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from sessions_app.models import HistoryChunk, Session, Turn
from tests import factories


@pytest.fixture
def session(alice: User) -> Session:
    return factories.make_session(alice)


@pytest.fixture
def chunk(session: Session) -> HistoryChunk:
    factories.make_history(session, 3)
    turns = Turn.objects.buffered(session.head_id).turns
    return HistoryChunk.objects.freeze(session, None, turns[:2], "seed")


def test_a_chunk_is_listed_with_its_size(client: Client, session: Session, chunk: HistoryChunk) -> None:
    page = client.get(reverse("chunks", args=[session.public])).content.decode()
    assert chunk.name in page and "2 turns" in page and "4 newer turns still do" in page


def test_the_drawer_leads_to_them_when_there_are_any(
    client: Client, session: Session, chunk: HistoryChunk
) -> None:
    address = reverse("details", args=[session.public])
    assert "Older conversation" in client.get(address).content.decode()
    chunk.delete()
    assert "Older conversation" not in client.get(address).content.decode()


def test_the_text_of_a_chunk_is_what_is_sent(client: Client, session: Session, chunk: HistoryChunk) -> None:
    page = client.get(reverse("chunk", args=[session.public, chunk.pk])).content.decode()
    assert "Question 0" in page and "Answer 0" in page and "Question 1" not in page


def test_a_session_without_any_says_so(client: Client, session: Session) -> None:
    assert "None on this branch." in client.get(reverse("chunks", args=[session.public])).content.decode()


def test_a_chunk_of_another_session_is_not_found(
    client: Client, stranger: Client, session: Session, chunk: HistoryChunk, alice: User
) -> None:
    elsewhere = factories.make_session(alice)
    assert client.get(reverse("chunk", args=[elsewhere.public, chunk.pk])).status_code == 404
    assert stranger.get(reverse("chunk", args=[session.public, chunk.pk])).status_code == 404
