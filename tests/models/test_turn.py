"""The tree of turns."""

import uuid

import pytest
from django.contrib.auth.models import User
from pytest_django import DjangoAssertNumQueries

from sessions_app.error_codes import RefusalCode
from sessions_app.errors import HistoryGone
from sessions_app.models import Blob, Session, Turn
from sessions_app.models.branches import substitute
from sessions_app.models.turn import SEARCHED
from sessions_app.models.turn_values import content_cache, value_cache
from sessions_app.prompt import turns, wire
from sessions_app.prompt.parts import content
from sessions_app.prompt.turns import TurnKind, user_task

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(alice: User) -> Session:
    return Session.objects.create(owner=alice, model="gemini-3-flash-preview")


def grow(session: Session, text: str, parent: Turn | None = None) -> Turn:
    return Turn.append(session, user_task(str(uuid.uuid4()), text), parent=parent)


def test_a_new_turn_becomes_the_head(session: Session) -> None:
    turn = grow(session, "hello")
    session.refresh_from_db()
    assert session.head == turn and turn.depth == 0


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (TurnKind.USER_TASK, "Mind the\n\ntime zone."),
        (TurnKind.TOOL_RESPONSE, "Mind the\n\ntime zone."),
        (TurnKind.MODEL_RESPONSE, "Mind thetime zone."),
    ],
)
def test_the_pieces_of_a_person_are_paragraphs_and_those_of_a_model_go_on(
    session: Session, kind: TurnKind, said: str
) -> None:
    parts: list[dict[str, object]] = [
        {"text": "Mind the"},
        {"inlineData": {"mimeType": "image/png", "data": "AA=="}},
        {"text": "time zone."},
    ]
    made = turns.Turn(str(uuid.uuid4()), kind, wire.dumps(content(kind.role, parts)))
    turn = Turn.append(session, made, parent=None)
    assert turn.text == turn.whole_text == said
    Turn.objects.filter(pk=turn.pk).update(text="x" * SEARCHED)
    turn.refresh_from_db()
    assert turn.whole_text == said


def test_an_edited_text_is_searched_as_far_as_any_other(session: Session) -> None:
    made = substitute(session, user_task(str(uuid.uuid4()), "x" * (SEARCHED + 1)))
    assert len(made.text) == SEARCHED and len(made.whole_text) == SEARCHED + 1


def test_the_history_is_the_walk_from_the_head_oldest_first(session: Session) -> None:
    first = grow(session, "one")
    second = grow(session, "two", first)
    grow(session, "a sibling", first)
    third = grow(session, "three", second)
    assert Turn.objects.branch(third.pk) == [first, second, third]


def test_contents_in_memory_are_not_read_again(
    session: Session, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    second = grow(session, "two", grow(session, "one"))
    with django_assert_num_queries(1):
        warm = Turn.objects.buffered(second.pk)
    value_cache.clear()
    with django_assert_num_queries(1):
        joined = Turn.objects.buffered(second.pk)
    content_cache.clear()
    value_cache.clear()
    with django_assert_num_queries(2):
        cold = Turn.objects.buffered(second.pk)
    with django_assert_num_queries(1):
        again = Turn.objects.buffered(second.pk)
    assert warm == joined == cold == again
    assert [turn.wire for turn in cold.turns] == [turn.wire for turn in Turn.objects.branch(second.pk)]


def test_a_history_whose_session_is_erased_while_it_is_read_is_an_error_with_a_code(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = grow(session, "one")
    content_cache.clear()
    blobs = Blob.objects.in_bulk

    def erase_first(keys: list[int]) -> dict[int, Blob]:
        session.erase()
        return blobs(keys)

    monkeypatch.setattr(Blob.objects, "in_bulk", erase_first)
    with pytest.raises(HistoryGone) as raised:
        Turn.objects.buffered(turn.pk)
    assert raised.value.reason is RefusalCode.CHAT_ERASED


def test_a_mark_of_a_turn_is_read_whatever_is_in_memory(session: Session) -> None:
    turn = grow(session, "one")
    assert Turn.objects.buffered(turn.pk).turns[0].refused_in is None
    Turn.objects.filter(pk=turn.pk).update(refused_in=4)
    assert Turn.objects.buffered(turn.pk).turns[0].refused_in == 4


def test_an_empty_session_has_no_history() -> None:
    assert Turn.objects.branch(None) == []


def test_a_long_history_costs_a_constant_number_of_queries(
    session: Session, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    turn = None
    for number in range(30):
        turn = grow(session, f"turn {number}", turn)
    assert turn is not None
    with django_assert_num_queries(2):
        branch = Turn.objects.branch(turn.pk)
        assert [item.text for item in branch] == [f"turn {number}" for number in range(30)]
        assert all(item.wire for item in branch)


@pytest.mark.parametrize(
    "text", ["nul \0 inside", "lone \ud800 surrogate", "family 👩‍👩‍👧 emoji", "x" * 1_000_000]
)
def test_it_stores_and_shows_odd_text(session: Session, text: str) -> None:
    stored = Turn.objects.get(pk=grow(session, text).pk)
    shown = stored.parts[0].text
    assert shown == text.replace("\ud800", "\ufffd")
    assert "\0" not in stored.text


def test_equal_contents_share_their_bytes(session: Session) -> None:
    first = grow(session, "same")
    second = grow(session, "same", first)
    assert first.content_id == second.content_id


def test_the_value_of_a_turn_names_it_by_its_public_id(session: Session) -> None:
    turn = grow(session, "hello")
    assert turn.value.key == str(turn.public) and turn.value.wire == turn.wire
