"""The turns that rolled over, in the numbers that the chat shows, on every branch."""

import uuid

import pytest
from django.contrib.auth.models import User

from sessions_app.models import HistoryChunk, Turn
from sessions_app.models.turn_numbers import turn_numbers
from sessions_app.prompt.static_change import RolledHistory
from sessions_app.prompt.turns import user_task
from sessions_app.runs.static_changes import CHUNK, rolled_into
from tests.factories import make_session
from tests.models.test_history_chunk import freeze, grow


def number_of(turn: Turn) -> int:
    (number,) = turn_numbers(turn.session_id, [f"turn:{turn.public}"]).values()
    return number


def names(*chunks: HistoryChunk) -> list[str]:
    return [f"{CHUNK}{chunk.pk}" for chunk in chunks]


@pytest.mark.django_db
def test_the_numbers_are_those_of_the_chat_on_each_branch(alice: User) -> None:
    session = make_session(alice)
    trunk = grow(session, None, "1", "2", "3")
    one, other = grow(session, trunk[-1], "4", "5"), grow(session, trunk[-1], "4 again")
    old = freeze(session, trunk)
    for branch in (one, other):
        new = freeze(session, branch, old)
        ends = (number_of(branch[0]), number_of(branch[-1]), 2, 2)
        assert rolled_into(names(old), names(old, new)) == RolledHistory(*ends)


@pytest.mark.django_db
def test_turns_that_a_repair_inserted_count_for_none(alice: User) -> None:
    session = make_session(alice)
    turns = grow(session, None, "1", "2")
    inserted = user_task(str(uuid.uuid4()), "…")
    values = [turns[0].value, inserted, turns[1].value]
    first = HistoryChunk.objects.freeze(session, None, values, "seed")
    later = grow(session, turns[-1], "3")
    second = freeze(session, later, first)
    assert rolled_into([], names(first)) == RolledHistory(1, 2, 1, 1)
    assert rolled_into(names(first), names(first, second)) == RolledHistory(3, 3, 2, 2)
