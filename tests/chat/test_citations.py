"""The sources of an answer on its page: numbered, and linked where a browser may go."""

from importlib import import_module
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import reverse

from sessions_app.chat.citations import ShownSource
from sessions_app.chat.transcript import Transcript
from sessions_app.chat.transfer import export_markdown, export_session
from sessions_app.models import Session, Turn
from sessions_app.prompt.citations import CitedSource
from sessions_app.runs.history_edits import correct_answer
from tests import factories
from tests.chat.importing import import_session

TEXT = "Bees dance. They fly."
METADATA = {
    "groundingChunks": [
        {"web": {"uri": "https://bees.example/a b", "title": "bees.example"}},
        {"web": {"uri": "javascript:alert(1)", "title": "<b>bad</b>"}},
    ],
    "groundingSupports": [
        {"segment": {"endIndex": 11, "text": "Bees dance."}, "groundingChunkIndices": [0]},
        {"segment": {"startIndex": 12, "endIndex": 21, "text": "They fly."}, "groundingChunkIndices": [0, 1]},
    ],
    "webSearchQueries": ["do bees <i>dance</i>"],
}


@pytest.fixture
def session(alice: User) -> Session:
    session = factories.make_session(alice)
    run = factories.make_run(session, "Do bees dance?")
    body = factories.text_chunk(TEXT, finish="STOP", beside={"groundingMetadata": METADATA})
    factories.make_exchange(run, [body])
    factories.finish(run)
    session.refresh_from_db()
    return session


def test_an_answer_has_its_sources_and_marks(client: Client, session: Session) -> None:
    html = client.get(session.get_absolute_url()).content.decode()
    turn = session.head
    assert turn is not None
    assert f'href="#{turn.public}-source-1"' in html and f'id="{turn.public}-source-1"' in html
    assert 'href="https://bees.example/a%20b"' in html
    assert "do bees &lt;i&gt;dance&lt;/i&gt;" in html and "&lt;b&gt;bad&lt;/b&gt;" in html
    assert 'href="javascript' not in html


def test_a_fork_keeps_them_and_new_words_do_not(client: Client, session: Session) -> None:
    turn = session.head
    assert turn is not None
    answer = client.post(reverse("fork", args=[session.public, turn.public]))
    fork = Session.objects.exclude(pk=session.pk).get()
    assert answer.status_code == 302 and fork.head
    assert fork.head.citations == turn.citations != {}
    correct_answer(session.pk, turn.public, "No.")
    session.refresh_from_db()
    (view,) = Transcript.full(session.head).runs
    assert view.steps[-1].cited is None


def test_markdown_lists_them_behind_the_answer(session: Session) -> None:
    text = export_markdown(session)
    assert f"{TEXT}\n\nSources:\n\n1. bees.example <https://bees.example/a%20b>\n2. <b>bad</b>\n" in text


def test_an_exported_file_brings_them_along(alice: User, session: Session) -> None:
    turn = session.head
    assert turn is not None
    again = import_session(alice, export_session(session))
    assert again.head and again.head.citations == turn.citations != {}


@pytest.mark.parametrize(
    "uri",
    [
        *("javascript:alert(1)", " javascript:alert(1)", "data:text/html,x", "//evil.example", "/spending"),
        *("http://[", "https://", "vbscript:x", "file:///etc/passwd", "not an address", ""),
    ],
)
def test_an_address_that_is_not_of_the_web_is_no_link(uri: str) -> None:
    shown = ShownSource.of(1, CitedSource(title="x", uri=uri))
    assert shown.address == "" and shown.title == "x"


@pytest.mark.parametrize(
    ("source", "title", "details"),
    [
        (CitedSource(uri="https://a.example/x"), "a.example", ()),
        (CitedSource(title="A page", uri="https://user@b.example/x"), "A page", ("b.example",)),
        (CitedSource(kind="file", title=""), "A text of a file store", ()),
        (
            CitedSource(kind="quoted", uri="https://q.example", licence="MIT"),
            "q.example",
            ("quoted", "licence: MIT"),
        ),
        (
            CitedSource(kind="page", uri="https://p.example/x", is_read=False),
            "https://p.example/x",
            ("could not be retrieved",),
        ),
    ],
)
def test_a_source_says_what_it_is(source: CitedSource, title: str, details: tuple[str, ...]) -> None:
    shown = ShownSource.of(1, source)
    assert (shown.title, shown.details) == (title, details)


def test_the_migration_reads_them_from_the_stored_chunks(session: Session) -> None:
    turn = session.head
    assert turn is not None
    found = turn.citations
    Turn.objects.update(citations={})
    migration = import_module("sessions_app.migrations.0048_turn_citations")
    migration.read_citations(apps, SimpleNamespace(connection=connection))
    assert Turn.objects.get(pk=turn.pk).citations == found != {}
    assert not Turn.objects.exclude(pk=turn.pk).exclude(citations={}).exists()
