"""Looking at another branch, other words for an answer, forks: the tree only grows."""

import uuid
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from sessions_app.errors import RunError, SessionBusy
from sessions_app.models import Run, Session, Todo, Turn
from sessions_app.models.branches import choices_of, newest_leaf
from sessions_app.prompt.signatures import prepare_signatures, signatures_of
from sessions_app.prompt.turns import user_task
from sessions_app.runs import history_edits
from sessions_app.runs.start import start_edit, start_retry
from tests import factories


@pytest.fixture
def session(alice: User) -> Session:
    session = factories.make_session(alice)
    factories.make_history(session, 3)
    return session


def texts(session: Session) -> list[str]:
    session.refresh_from_db()
    return [turn.text for turn in Turn.objects.branch(session.head_id)]


def task(session: Session, text: str) -> Turn:
    return Turn.objects.get(session=session, text=text)


def reword(session: Session, text: str, other: str) -> Run:
    run = start_edit(session.pk, uuid.uuid4(), task(session, text).public, other, "here")
    assert run is not None
    return run


def test_an_edit_is_a_sibling_of_the_message(session: Session) -> None:
    run = reword(session, "Question 1", "Question one")
    assert texts(session) == ["Question 0", "Answer 0", "Question one"]
    assert run.trigger and run.trigger.parent == task(session, "Answer 0")
    assert Turn.objects.filter(session=session).count() == 7


def test_the_first_message_can_be_reworded_too(session: Session) -> None:
    reword(session, "Question 0", "Hello")
    assert texts(session) == ["Hello"]
    choices = choices_of(Turn.objects.branch(Session.objects.get(pk=session.pk).head_id))
    assert [(choice.position, choice.count) for choice in choices.values()] == [(2, 2)]


def test_an_edit_sent_twice_starts_one_run(session: Session) -> None:
    client, turn = uuid.uuid4(), task(session, "Question 1").public
    assert start_edit(session.pk, client, turn, "Again", "here") is not None
    assert start_edit(session.pk, client, turn, "Again", "here") is None


def test_an_answer_is_not_edited_as_a_message(session: Session) -> None:
    with pytest.raises(RunError):
        start_edit(session.pk, uuid.uuid4(), task(session, "Answer 1").public, "No", "here")
    assert Run.objects.active_in(session.pk) is None


def test_switching_shows_the_newest_end_of_the_other_branch(session: Session) -> None:
    old = task(session, "Question 1")
    factories.finish(reword(session, "Question 1", "Question one"))
    history_edits.switch_branch(session.pk, old.public)
    assert texts(session)[-1] == "Answer 2"
    assert Session.objects.get(pk=session.pk).head_version == 1


def test_nothing_moves_while_the_session_answers(session: Session) -> None:
    old = task(session, "Question 1")
    reword(session, "Question 1", "Question one")
    with pytest.raises(SessionBusy):
        history_edits.switch_branch(session.pk, old.public)
    with pytest.raises(SessionBusy):
        history_edits.correct_answer(session.pk, task(session, "Answer 0").public, "No")


def test_a_turn_of_another_session_is_not_there(session: Session, alice: User) -> None:
    other = factories.make_session(alice)
    with pytest.raises(RunError):
        history_edits.switch_branch(other.pk, task(session, "Question 1").public)


def test_a_corrected_answer_has_no_signature_and_says_so(session: Session) -> None:
    history_edits.correct_answer(session.pk, task(session, "Answer 1").public, "My answer")
    assert texts(session) == ["Question 0", "Answer 0", "Question 1", "My answer"]
    edited = task(session, "My answer")
    assert edited.edited and edited.origin == task(session, "Answer 1") and edited.route == ""
    assert signatures_of(edited.wire) == () and signatures_of(task(session, "Answer 1").wire)


def test_a_message_is_not_corrected_as_an_answer(session: Session) -> None:
    with pytest.raises(RunError):
        history_edits.correct_answer(session.pk, task(session, "Question 1").public, "No")


def test_answering_again_in_a_rewritten_branch_stays_in_it(session: Session) -> None:
    old = task(session, "Question 1")
    copy = Turn.append(session, user_task(str(uuid.uuid4()), "Copy"), parent=old.parent, run=old.run)
    assert old.run
    run = start_retry(session.pk, uuid.uuid4(), old.run.public, "here", copy.public)
    assert run and run.trigger == copy


def test_a_fork_has_the_branch_up_to_the_turn_and_shares_its_bytes(session: Session) -> None:
    Todo.objects.create(session=session, position=1, title="Flour")
    fork = history_edits.fork_session(session.pk, task(session, "Answer 1").public)
    assert texts(fork) == ["Question 0", "Answer 0", "Question 1", "Answer 1"]
    mine, theirs = (Turn.objects.branch(each.head_id) for each in (fork, session))
    assert [turn.content_id for turn in mine] == [turn.content_id for turn in theirs[:4]]
    assert [turn.parent_id for turn in mine] == [None, *(turn.pk for turn in mine[:-1])]
    assert (fork.forked_from, fork.owner, fork.title) == (session, session.owner, "Fork of Flights")
    assert fork.todos.get().title == "Flour" and session.todos.count() == 1


def test_a_fork_knows_what_nobody_wrote(session: Session) -> None:
    session.runs.update(continuations=2)
    fork = history_edits.fork_session(session.pk, task(session, "Answer 1").public)
    assert set(fork.runs.values_list("continuations", flat=True)) == {2}


def test_signatures_of_a_fork_go_back_to_their_route_only(session: Session) -> None:
    fork = history_edits.fork_session(session.pk, task(session, "Answer 1").public)
    values = [turn.value for turn in Turn.objects.branch(fork.head_id)]
    same, _ = prepare_signatures(values, route=factories.ROUTE, required=True)
    other, notes = prepare_signatures(values, route="another", required=True)
    assert signatures_of(same[1].wire) and not signatures_of(other[1].wire) and notes


def test_a_fork_of_a_running_session_is_over(session: Session) -> None:
    factories.make_run(session, "Now")
    fork = history_edits.fork_session(session.pk, task(session, "Now").public)
    assert set(fork.runs.values_list("status", flat=True)) == {"completed", "stopped"}


def test_a_fork_never_begins_with_an_open_call(alice: User) -> None:
    session = factories.make_session(alice)
    factories.play_flight(session)
    call = Turn.objects.get(session=session, kind=Turn.Kind.FUNCTION_CALLING)
    with pytest.raises(RunError):
        history_edits.fork_session(session.pk, call.public)


def test_a_fork_outlives_its_origin(session: Session) -> None:
    fork = history_edits.fork_session(session.pk, task(session, "Answer 2").public)
    session.erase()
    assert len(texts(fork)) == 6 and fork.forked_from is None


class TestTrees(TestCase):
    """Laws over random trees: siblings are found from every one of them, a leaf has nothing below."""

    @settings(max_examples=25, deadline=None)
    @given(st.lists(st.integers(0, 30), min_size=1, max_size=30))
    def test_choices_and_leaves(self, places: list[int]) -> None:
        session = factories.make_session(User.objects.create_user(uuid.uuid4().hex))
        turns: list[Turn] = []
        for place in places:
            parent = turns[place % len(turns)] if turns and place else None
            turns.append(Turn.append(session, user_task(str(uuid.uuid4()), "x"), parent=parent))
        choices = choices_of(turns)
        for turn in turns:
            family = [each.public for each in turns if each.parent_id == turn.parent_id]
            choice = choices.get(turn.pk)
            assert (choice is not None) == (len(family) > 1)
            assert choice is None or family[choice.position - 1] == turn.public
            leaf = newest_leaf(turn)
            assert not any(each.parent_id == leaf.pk for each in turns)
            assert turn.pk in {each.pk for each in Turn.objects.branch(leaf.pk)}


@pytest.mark.parametrize(
    "change",
    [
        history_edits.switch_branch,
        history_edits.fork_session,
        lambda session_pk, turn: history_edits.correct_answer(session_pk, turn, "Other words"),
    ],
)
def test_a_turn_of_another_session_is_not_found(
    session: Session, bob: User, change: Callable[[int, uuid.UUID], Session]
) -> None:
    other = factories.make_session(bob)
    factories.make_history(other, 1)
    before = texts(session)
    with pytest.raises(RunError):
        change(session.pk, task(other, "Answer 0").public)
    assert texts(session) == before and Session.objects.count() == 2
