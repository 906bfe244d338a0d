"""Places among siblings, leaves and heads, compared with a walk over all turns that shares no code."""

import uuid
from collections.abc import Sequence
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from sessions_app.models import Run, Session, Turn
from sessions_app.models.branches import (
    BranchChoice,
    choices_of,
    copy_branch_below,
    copy_of,
    copy_session,
    head_of,
    is_on_branch,
    newest_leaf,
)
from sessions_app.prompt.turns import user_task
from tests.factories import NOW, make_run, make_session

PARENTS = st.lists(st.none() | st.integers(0, 6), min_size=1, max_size=9)
"""Of each turn the place of its parent among the turns before it, if it has one."""


def grown(session: Session, parents: Sequence[int | None], run: Run | None = None) -> list[Turn]:
    turns: list[Turn] = []
    for parent in parents:
        above = turns[parent % len(turns)] if turns and parent is not None else None
        value = user_task(str(uuid.uuid4()), f"Turn {len(turns)}")
        turns.append(Turn.append(session, value, parent=above, run=run, advances=False))
    return turns


def walked(turns: Sequence[Turn], leaf: Turn) -> list[Turn]:
    by_key = {turn.pk: turn for turn in turns}
    branch, here = [leaf], leaf
    while here.parent_id is not None:
        here = by_key[here.parent_id]
        branch.insert(0, here)
    return branch


class PlacesOfATree(TestCase):
    @settings(max_examples=40, deadline=None)
    @given(PARENTS, PARENTS)
    def test_a_turn_has_its_place_among_those_of_its_parent(
        self, parents: list[int | None], others: list[int | None]
    ) -> None:
        owner, _ = User.objects.get_or_create(username="alice")
        turns = grown(make_session(owner), parents)
        grown(make_session(owner), others)
        for leaf in turns:
            branch = walked(turns, leaf)
            assert dict(choices_of(branch)) == {
                turn.pk: place for turn in branch if (place := self._place(turns, turn)) is not None
            }

    @staticmethod
    def _place(turns: Sequence[Turn], turn: Turn) -> BranchChoice | None:
        family = [one.public for one in turns if one.parent_id == turn.parent_id]
        index, count = family.index(turn.public), len(family)
        if count == 1:
            return None
        before = family[index - 1] if index > 0 else None
        after = family[index + 1] if index < count - 1 else None
        return BranchChoice(index + 1, count, before, after)

    @settings(max_examples=40, deadline=None)
    @given(PARENTS)
    def test_leaves_and_branches(self, parents: list[int | None]) -> None:
        owner, _ = User.objects.get_or_create(username="alice")
        turns = grown(make_session(owner), parents)
        for turn in turns:
            below = [one for one in turns if turn in walked(turns, one)]
            assert newest_leaf(turn).pk == below[-1].pk
            on = [head.pk for head in turns if is_on_branch(turn, head.pk)]
            assert on == [head.pk for head in turns if turn in walked(turns, head)]


def test_no_turns_have_no_places(alice: User) -> None:
    grown(make_session(alice), [None, None])
    assert choices_of([]) == {}


def test_the_beginnings_of_another_agent_are_no_branches(alice: User) -> None:
    session = make_session(alice)
    lanes = ["", "", "agent", "agent", "agent"]
    roots = [
        grown(
            session,
            [None],
            Run.objects.create(
                session=session, client_id=uuid.uuid4(), status="completed", now=NOW, lane=lane
            ),
        )[0]
        for lane in lanes
    ]
    assert [choices_of([root])[root.pk].count for root in roots] == [5, 5, 3, 3, 3]


@pytest.mark.django_db
def test_a_turn_is_on_no_branch_of_a_session_without_a_head(alice: User) -> None:
    assert not is_on_branch(grown(make_session(alice), [None])[0], None)


def test_the_head_is_that_of_the_session_as_it_is_stored(alice: User) -> None:
    session, other = make_session(alice), make_session(alice)
    assert head_of(session.pk) is None
    for one in (other, session):
        make_run(one)
    before = session.head
    Turn.append(Session.objects.get(pk=session.pk), user_task(str(uuid.uuid4()), "More"), parent=before)
    found = head_of(session.pk)
    assert found is not None and found != before and found.parent == before
    assert head_of(other.pk) == other.head


def test_a_copied_branch_stands_below_its_parent_with_the_times_of_its_origins(alice: User) -> None:
    session = make_session(alice)
    turns = grown(session, [None, 0, 1, 2])
    then = timezone.now() - timedelta(days=3)
    Turn.objects.filter(pk__in=[turn.pk for turn in turns]).update(created_at=then)
    copy_branch_below(session, turns[0], [copy_of(turn) for turn in turns[2:]])
    session.refresh_from_db()
    branch = Turn.objects.branch(session.head_id)
    assert [turn.text for turn in branch] == ["Turn 0", "Turn 2", "Turn 3"]
    assert [turn.depth for turn in branch] == [0, 1, 2]
    assert [turn.origin_id for turn in branch[1:]] == [turn.pk for turn in turns[2:]]
    assert {turn.created_at for turn in branch} == {then}
    assert copy_of(branch[2]).origin_id == turns[3].pk
    assert session.head_version == 1


def test_no_turns_to_copy_make_the_parent_the_head(alice: User) -> None:
    session = make_session(alice)
    turns = grown(session, [None, 0])
    copy_branch_below(session, turns[0], [])
    assert head_of(session.pk) == turns[0] and Turn.objects.count() == 2
    copy_branch_below(session, None, [copy_of(turns[1])])
    head = head_of(session.pk)
    assert head is not None and (head.depth, head.parent_id, head.text) == (0, None, "Turn 1")


def test_a_fork_has_runs_of_its_own_that_are_over(alice: User) -> None:
    session = make_session(alice, temporary=True)
    run = make_run(session)
    session.refresh_from_db()
    assert session.head is not None
    fork = copy_session(session, session.head)
    (copy,), (turn,) = fork.runs.all(), fork.turns.all()
    assert (copy.status, copy.trigger, turn.run) == (Run.Status.STOPPED, turn, copy)
    assert copy.client_id != run.client_id and copy.now == run.now
    assert fork.temporary and fork.forked_from == session and fork.head == turn
    assert fork.shown_title.startswith("Fork of")
