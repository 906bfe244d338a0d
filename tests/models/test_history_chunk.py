"""Frozen chunks, and how far the walk for a request goes."""

import uuid
from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import User
from pytest_django import DjangoAssertNumQueries

from sessions_app.models import Blob, HistoryChunk, Session, Turn
from sessions_app.models.history_chunk import chunk_cache, name_of
from sessions_app.prompt.turns import user_task

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(alice: User) -> Session:
    return Session.objects.create(owner=alice, model="gemini-3-flash-preview")


def grow(session: Session, parent: Turn | None, *texts: str) -> list[Turn]:
    grown: list[Turn] = []
    for text in texts:
        parent = Turn.append(session, user_task(str(uuid.uuid4()), text), parent=parent)
        grown.append(parent)
    return grown


def freeze(session: Session, turns: list[Turn], parent: HistoryChunk | None = None) -> HistoryChunk:
    above = parent.pk if parent else None
    return HistoryChunk.objects.freeze(session, above, [turn.value for turn in turns], "seed")


def texts_of(head: Turn) -> tuple[list[str], list[str]]:
    """The chunks' texts and the texts of the turns behind them."""
    turns, newest, _ = Turn.objects.buffered(head.pk)
    rows = {str(turn.public): turn.text for turn in Turn.objects.all()}
    return [chunk.text for chunk in HistoryChunk.objects.chain(newest)], [rows[turn.key] for turn in turns]


def test_without_chunks_the_whole_branch_is_sent_turn_by_turn(session: Session) -> None:
    *_, head = grow(session, None, "a", "b", "c")
    assert texts_of(head) == ([], ["a", "b", "c"])


def test_an_empty_session_sends_nothing() -> None:
    assert Turn.objects.buffered(None) == ((), None, "")
    assert HistoryChunk.objects.chain(None) == ()


def test_the_walk_stops_at_the_newest_chunk(session: Session) -> None:
    turns = grow(session, None, "a", "b", "c", "d", "e")
    freeze(session, turns[2:4], freeze(session, turns[:2]))
    assert texts_of(turns[-1]) == (["[user]: a\n[user]: b\n", "[user]: c\n[user]: d\n"], ["e"])


def test_a_chunk_holds_on_two_branches_through_its_last_turn(session: Session) -> None:
    turns = grow(session, None, "a", "b", "c")
    freeze(session, turns[:2])
    (other,) = grow(session, turns[1], "other")
    assert texts_of(turns[-1])[0] == texts_of(other)[0] == ["[user]: a\n[user]: b\n"]


def test_a_chunk_does_not_hold_on_a_branch_that_left_before_its_end(session: Session) -> None:
    turns = grow(session, None, "a", "b", "c", "d")
    freeze(session, turns[2:3], freeze(session, turns[:1]))
    (other,) = grow(session, turns[1], "other")
    assert texts_of(other) == (["[user]: a\n"], ["b", "other"])


def test_a_message_that_ends_a_chunk_and_is_asked_again_is_sent_itself(session: Session) -> None:
    turns = grow(session, None, "a", "b", "c")
    freeze(session, turns[:2])
    assert texts_of(turns[1]) == ([], ["a", "b"])


def test_two_processes_that_freeze_the_same_turns_make_one_chunk(session: Session) -> None:
    turns = grow(session, None, "a", "b")
    assert freeze(session, turns) == freeze(session, turns)
    assert HistoryChunk.objects.count() == 1


def test_a_chunk_knows_what_it_holds(session: Session) -> None:
    chunk = freeze(session, grow(session, None, "a", "b"))
    assert (chunk.messages, chunk.policy, chunk.tokens) == (2, "seed", 7)
    assert chunk.content.bytes == b"[user]: a\n[user]: b\n"


def test_a_chunk_is_named_after_its_time_in_utc() -> None:
    first = datetime(2026, 11, 21, 8, 5, tzinfo=UTC)
    assert name_of(first, first.replace(hour=17)) == "Chat 08:05–17:05"


def test_reading_costs_two_statements_however_many_chunks_there_are(
    session: Session, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    turns = grow(session, None, *"abcdefgh")
    chunk = None
    for turn in turns[:-1]:
        chunk = freeze(session, [turn], chunk)
    texts_of(turns[-1])
    with django_assert_num_queries(2):
        HistoryChunk.objects.chain(Turn.objects.buffered(turns[-1].pk).chunk)


def test_texts_that_are_not_at_hand_cost_one_statement_more(
    session: Session, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    turns = grow(session, None, "a", "b")
    chunk = freeze(session, turns[:1])
    chunk_cache.clear()
    with django_assert_num_queries(2):
        assert [one.text for one in HistoryChunk.objects.chain(chunk.pk)] == ["[user]: a\n"]


def test_a_chunk_that_was_read_keeps_its_segments(session: Session) -> None:
    chunk = freeze(session, grow(session, None, "a"))
    assert HistoryChunk.objects.chain(chunk.pk)[0] is HistoryChunk.objects.chain(chunk.pk)[0]


def test_a_chunks_bytes_are_not_collected_while_it_stands(session: Session) -> None:
    chunk = freeze(session, grow(session, None, "a"))
    Blob.objects.delete_unreferenced(session.owner_id)
    chunk.content.refresh_from_db()


def test_erasing_a_session_takes_its_chunks_along(session: Session) -> None:
    freeze(session, grow(session, None, "a", "b"))
    session.erase()
    assert not HistoryChunk.objects.exists() and not Blob.objects.exists()
