"""Search: whose words, which words, and what the page shows of them."""

import re
import uuid

import pytest
from django.contrib.auth.models import User
from django.db import connection
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions_app.fulltext import INDEX, TRIGGERS, VECTOR, restore_triggers
from sessions_app.models import Session, Turn
from sessions_app.prompt.turns import user_task
from sessions_app.search import POSTGRESQL_QUERY, Query, excerpt, find, marked
from tests import factories


def say(session: Session, *texts: str) -> list[Turn]:
    return [Turn.append(session, user_task(str(uuid.uuid4()), text), parent=session.head) for text in texts]


@pytest.fixture
def session(alice: User) -> Session:
    session = factories.make_session(alice, title="Garden")
    say(
        session,
        "When do I sow **runner beans** near the wall?",
        "Gate AA-100 opens at /srv/gates/list.txt, see https://example.org/gates?x=1",
        "Das Café am Fluss öffnet früh",
        "今日は天気がいいですね",
        "Beans, beans, beans: nothing but beans.",
    )
    return session


def found(person: User, words: str) -> list[str]:
    return [hit.turn.text[:12] for hit in find(person, words).hits]


@pytest.mark.parametrize(
    ("words", "starts"),
    [
        ("runner", ["When do I so"]),
        ("runn wall", ["When do I so"]),
        ("RUNNER", ["When do I so"]),
        ("unner", []),
        ('"beans near"', ["When do I so"]),
        ('"near beans"', []),
        ('"bean"', []),
        ("AA-100", ["Gate AA-100 "]),
        ("aa-10", ["Gate AA-100 "]),
        ("gates", ["Gate AA-100 "]),
        ("example", ["Gate AA-100 "]),
        ("café öff", ["Das Café am "]),
        ("天気", ["今日は天気がいいですね"]),
        ("天気 runner", []),
        ('"unclosed beans', []),
        ("* ' \" ) (", []),
        ("NEAR(beans) OR x:", []),
        ("", []),
    ],
)
def test_what_words_find(alice: User, session: Session, words: str, starts: list[str]) -> None:
    assert found(alice, words) == starts


def test_the_turn_that_is_most_about_it_comes_first(alice: User, session: Session) -> None:
    assert found(alice, "beans") == ["Beans, beans", "When do I so"]


def test_nobody_finds_what_others_said(bob: User, session: Session) -> None:
    assert find(bob, "beans").is_empty and find(bob, "Garden").is_empty


@pytest.mark.parametrize("fields", [{"temporary": True}, {"deleted_at": "2026-11-21T09:00Z"}])
def test_deleted_and_temporary_sessions_are_out(
    alice: User, session: Session, fields: dict[str, object]
) -> None:
    Session.objects.filter(pk=session.pk).update(**fields)
    assert find(alice, "beans").is_empty and find(alice, "天気").is_empty and find(alice, "Garden").is_empty


def test_archived_sessions_are_found(alice: User, session: Session) -> None:
    Session.objects.filter(pk=session.pk).update(archived_at="2026-11-21T09:00Z")
    assert find(alice, "runner").hits


def test_titles_are_found_by_their_words(alice: User, session: Session) -> None:
    (titled,) = find(alice, "gard").titles
    assert titled.session == session and titled.title == "<mark>Gard</mark>en"


def test_other_branches_are_found_and_copies_once(alice: User, session: Session) -> None:
    run_beans = Turn.objects.get(text__startswith="When do I")
    Turn.append(session, user_task(str(uuid.uuid4()), run_beans.text), parent=None)
    say(session, "Elsewhere")
    hits = find(alice, "runner").hits
    assert len(hits) == 1 and f"?leaf={hits[0].turn.public}#t-" in hits[0].url


def test_changed_and_erased_texts_are_forgotten(alice: User, session: Session) -> None:
    Turn.objects.filter(text__startswith="When").update(text="Radishes")
    assert found(alice, "radi") == ["Radishes"] and found(alice, "runner") == []
    session.erase()
    assert find(alice, "radi").is_empty


def test_the_excerpt_is_plain_and_marked(alice: User, session: Session) -> None:
    (hit,) = find(alice, "runner").hits
    assert hit.excerpt == "When do I sow <mark>runner</mark> beans near the wall?"
    assert hit.author == "You"


def test_an_excerpt_of_a_long_text_is_where_the_words_meet() -> None:
    text = "oak " * 200 + "the oak and the elm" + " ash" * 200
    shown = re.sub("<.?mark>", "", excerpt(text, Query.of("oak elm").highlight))
    assert "oak and the elm" in shown and shown.startswith("… ") and shown.endswith(" …")


@given(st.text(max_size=60), st.text(max_size=30))
def test_whatever_is_said_and_asked_the_page_gets_text(text: str, words: str) -> None:
    query = Query.of(words)
    html = marked(text, query.highlight) if query.terms else ""
    assert re.sub("</?mark>", "", html).count("<") == 0


@pytest.mark.django_db
@settings(deadline=None)
@given(st.text(max_size=40))
def test_no_query_breaks_the_database(words: str) -> None:
    assert find(User(pk=0), words).hits in ((), [])


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL keeps its index by itself")
def test_lost_triggers_come_back_at_the_next_migrate(alice: User, session: Session) -> None:
    with connection.cursor() as cursor:
        for name in TRIGGERS:
            cursor.execute(f"DROP TRIGGER {name}")
    say(session, "Parsnips")
    assert found(alice, "parsnips") == []
    restore_triggers("default")
    assert found(alice, "parsnips") == ["Parsnips"]


def test_postgresql_is_asked_for_the_expression_it_indexes() -> None:
    assert VECTOR in INDEX
    assert VECTOR in POSTGRESQL_QUERY % "'word'"
