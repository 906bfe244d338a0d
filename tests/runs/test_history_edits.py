"""Rewriting a conversation: always a branch, nothing destroyed, every turn somewhere exactly once."""

import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_django import DjangoAssertNumQueries

from sessions_app.errors import RunError, SessionBusy
from sessions_app.models import HistoryChunk, Session, Turn
from sessions_app.prompt.detach import Thresholds, chunk_text, cuts
from sessions_app.prompt.history import violations
from sessions_app.prompt.repair import repair
from sessions_app.prompt.signatures import signatures_of
from sessions_app.prompt.turns import FILLER, TurnKind
from sessions_app.runs import history_edits
from tests.factories import answered, finish, make_run, make_session, play_flight

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(alice: User) -> Session:
    return make_session(alice)


def branch(session: Session) -> list[Turn]:
    session.refresh_from_db()
    return Turn.objects.branch(session.head_id)


def texts(session: Session) -> list[str]:
    return [turn.text for turn in branch(session)]


def task(session: Session, text: str) -> Turn:
    return next(turn for turn in branch(session) if turn.text == text)


@pytest.fixture
def talk(session: Session) -> Session:
    for number in "123":
        answered(session, f"Q{number}", f"A{number}")
    return session


def test_a_deleted_turn_is_gone_from_the_branch_and_stays_in_the_tree(talk: Session) -> None:
    before = branch(talk)
    history_edits.delete_turns(talk.pk, [turn.public for turn in before[2:4]])
    assert texts(talk) == ["Q1", "A1", "Q3", "A3"]
    assert Turn.objects.branch(before[-1].pk) == before


def test_only_what_comes_after_the_change_is_copied(talk: Session) -> None:
    before = branch(talk)
    history_edits.delete_turns(talk.pk, [before[2].public, before[3].public])
    after = branch(talk)
    assert after[:2] == before[:2]
    assert [turn.origin for turn in after[2:]] == before[4:]
    assert [turn.depth for turn in after] == [0, 1, 2, 3]


def test_later_turns_keep_run_exchange_signatures_and_time(talk: Session) -> None:
    old = branch(talk)[-1]
    history_edits.delete_turns(talk.pk, [task(talk, "Q2").public])
    new = branch(talk)[-1]
    assert (new.run, new.exchange, new.route, new.created_at) == (
        old.run,
        old.exchange,
        old.route,
        old.created_at,
    )
    assert signatures_of(new.wire) == signatures_of(old.wire) != ()
    assert new.content_id == old.content_id


def test_the_last_answer_is_deleted_without_a_copy(talk: Session) -> None:
    before = branch(talk)
    history_edits.delete_turns(talk.pk, [before[-1].public])
    assert branch(talk) == before[:-1]


def test_everything_can_be_deleted(talk: Session) -> None:
    history_edits.delete_turns(talk.pk, [turn.public for turn in branch(talk)])
    assert branch(talk) == []


def test_a_call_and_its_result_are_deleted_together(session: Session) -> None:
    play_flight(session)
    calling = branch(session)[1]
    history_edits.delete_turns(session.pk, [calling.public])
    assert [turn.kind for turn in branch(session)] == [TurnKind.USER_TASK, TurnKind.MODEL_RESPONSE]


def test_a_short_form_stands_where_the_answer_with_its_tools_stood(session: Session) -> None:
    play_flight(session)
    answered(session, "Thanks", "Welcome")
    first, *_ = branch(session)
    history_edits.shorten(session.pk, first.public, " Late. ")
    after = branch(session)
    assert [turn.text for turn in after] == ["Is AA100 late?", "Late.", "Thanks", "Welcome"]
    short = after[1]
    assert short.summary and short.covers == 3 and short.origin and short.origin.text == "It is on time."
    assert signatures_of(short.wire) == ()


def test_a_summary_stands_for_a_range(talk: Session) -> None:
    first, _, _, last, *_ = branch(talk)
    history_edits.compress(talk.pk, first.public, last.public, "Two questions.")
    summary, *later = branch(talk)
    assert summary.kind == TurnKind.COMPRESSED_HISTORY and summary.covers == 4
    assert summary.parent is None and [turn.text for turn in later] == ["Q3", "A3"]


def test_a_summary_of_a_summary_counts_all_its_turns(talk: Session) -> None:
    first, second, *_ = branch(talk)
    history_edits.compress(talk.pk, first.public, second.public, "One.")
    summary, _, last, *_ = branch(talk)
    history_edits.compress(talk.pk, summary.public, last.public, "More.")
    assert branch(talk)[0].covers == 4


@pytest.mark.parametrize(("first", "last"), [(1, 3), (0, 2), (2, 1)])
def test_a_summary_parts_no_question_from_its_answer(talk: Session, first: int, last: int) -> None:
    turns = branch(talk)
    with pytest.raises(RunError, match="whole questions"):
        history_edits.compress(talk.pk, turns[first].public, turns[last].public, "x")


@pytest.mark.parametrize("text", ["", "  \n", "x" * (history_edits.SUMMARY_LIMIT + 1)])
def test_a_summary_says_something_and_not_too_much(talk: Session, text: str) -> None:
    with pytest.raises(RunError, match="summary"):
        history_edits.shorten(talk.pk, task(talk, "Q1").public, text)


def test_nothing_is_rewritten_while_the_session_answers(talk: Session) -> None:
    make_run(talk, "Q4")
    with pytest.raises(SessionBusy):
        history_edits.delete_turns(talk.pk, [branch(talk)[0].public])


def test_what_is_not_on_the_branch_cannot_be_rewritten(talk: Session) -> None:
    with pytest.raises(RunError, match="not there any more"):
        history_edits.delete_turns(talk.pk, [uuid.uuid4()])
    with pytest.raises(RunError, match="not there any more"):
        history_edits.shorten(talk.pk, uuid.uuid4(), "x")


def test_a_rewrite_costs_as_many_statements_for_a_long_conversation_as_for_a_short_one(
    talk: Session, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(30):
        answered(talk, f"More {number}", "Yes")
    doomed = branch(talk)[0].public
    with django_assert_num_queries(9):
        history_edits.delete_turns(talk.pk, [doomed])


def test_a_stopped_round_is_mended_on_a_branch(session: Session) -> None:
    play_flight(session)
    answer = branch(session)[-1]
    session.advance(answer.parent)
    finish(make_run(session, "And AA101?"))
    old = branch(session)
    history_edits.repair_history(session.pk)
    mended = branch(session)
    assert [turn.wire for turn in mended] == [*(turn.wire for turn in old[:3]), FILLER, old[3].wire]
    assert mended[:3] == old[:3] and mended[3].run == old[2].run and mended[4].origin == old[3]
    assert violations([turn.value for turn in mended]) == ()


def test_a_sound_history_is_not_mended(talk: Session) -> None:
    with pytest.raises(RunError, match="no repair"):
        history_edits.repair_history(talk.pk)


class Storm:
    """A session to which anything happens; the law is checked after each blow."""

    LIMITS = Thresholds(chunk_messages=2, chunk_tokens=1, keep_messages=2, keep_tokens=0)

    def __init__(self, session: Session) -> None:
        self.session = session
        self.count = 0

    def blow(self, what: str, where: int) -> None:
        turns = branch(self.session)
        tasks = [turn for turn in turns if turn.kind == TurnKind.USER_TASK]
        if what == "talk" or not tasks:
            self.count += 1
            answered(self.session, f"Q{self.count}", f"A{self.count}")
        elif what == "tools":
            play_flight(self.session)
        elif what == "detach":
            self.detach()
        else:
            getattr(self, what)(turns, tasks[where % len(tasks)])
        self.check()

    def detach(self) -> None:
        values, parent, _ = Turn.objects.buffered(self.session.head_id)
        start = 0
        for end in cuts(values, self.LIMITS):
            parent = HistoryChunk.objects.freeze(self.session, parent, values[start:end], "seed").pk
            start = end

    def leave(self, turns: list[Turn], task: Turn) -> None:
        self.session.switch_branch(task)
        answered(self.session, "Other", "Way")

    def delete(self, turns: list[Turn], task: Turn) -> None:
        doomed = [task, *history_edits.turns_answering(turns, task.public)]
        history_edits.delete_turns(self.session.pk, [turn.public for turn in doomed])

    def shorten(self, turns: list[Turn], task: Turn) -> None:
        if history_edits.turns_answering(turns, task.public):
            history_edits.shorten(self.session.pk, task.public, "Short.")

    def compress(self, turns: list[Turn], task: Turn) -> None:
        if earlier := history_edits.turns_before(turns, task.public):
            history_edits.compress(self.session.pk, earlier[0].public, earlier[-1].public, "Before.")

    def check(self) -> None:
        """Chunks, then buffered turns, then the trigger: the branch, each turn once and in order."""
        values = [turn.value for turn in branch(self.session)]
        buffered, newest, _ = Turn.objects.buffered(self.session.head_id)
        chunks = HistoryChunk.objects.chain(newest)
        held = sum(HistoryChunk.objects.get(pk=chunk.key).messages for chunk in chunks)
        assert values[held:] == list(buffered)
        assert "".join(chunk.text for chunk in chunks) == chunk_text(values[:held])
        mended, _ = repair(buffered)
        assert violations(mended) == ()


blows = st.tuples(
    st.sampled_from(["talk", "talk", "tools", "detach", "detach", "leave", "delete", "shorten", "compress"]),
    st.integers(0, 6),
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(storm=st.lists(blows, max_size=14))
def test_every_turn_is_sent_exactly_once_whatever_happened(alice: User, storm: list[Any]) -> None:
    session = Storm(make_session(alice))
    for what, where in storm:
        session.blow(what, where)
