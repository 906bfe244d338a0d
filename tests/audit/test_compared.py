"""What a verdict is audited by: the exchange before, the model's minimum, whether the answer ended."""

import sys
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User

from sessions_app.audit.audit import audit_session
from sessions_app.audit.differences import Figure
from sessions_app.audit.minimums import minimum_of
from sessions_app.audit.rows import SessionRows
from sessions_app.emulator.slash_commands import parse_faults
from sessions_app.models import Exchange, ModelFacts, Turn
from sessions_app.prompt.turns import TurnKind
from sessions_app.runs import history_edits, recorder
from tests.matrix.played_session import PlayedSession
from tests.runs.mortal_process import in_database_thread
from tests.runs.scripted_session import LONG, MODEL, SHORT

PREPARE = "sessions_app.runs.request.prepare"
"""The module; the package has a function of that name."""

Begin = Callable[..., PlayedSession]


@pytest.fixture
def begin(transactional_db: None, alice: User) -> Iterator[Begin]:
    started: list[PlayedSession] = []

    def start(background: str = LONG, **settings: Any) -> PlayedSession:
        started.append(PlayedSession(alice, background, **{"cache_mode": "implicit"} | settings))
        return started[-1]

    yield start
    for one in started:
        one.process.end()


def found(played: PlayedSession) -> set[tuple[int, Any]]:
    return {(one.exchange, one.figure) for one in audit_session(played.session.pk, "played")}


def previous_numbers(played: PlayedSession) -> list[int | None]:
    return list(played.session.exchanges.order_by("number").values_list("previous__number", flat=True))


def test_another_exchange_in_the_place_of_the_one_before_is_noticed(begin: Begin) -> None:
    played = begin()
    for _ in range(3):
        played.talk()
    assert previous_numbers(played) == [None, 1, 2]
    first = played.session.exchanges.get(number=1)
    played.session.exchanges.filter(number=3).update(previous=first)
    assert (3, Figure.COMPARED_WITH) in found(played)


def test_a_verdict_that_names_another_exchange_is_noticed(begin: Begin) -> None:
    played = begin()
    for _ in range(3):
        played.talk()
    newest = played.newest()
    figures = newest.verdict_figures
    moved = figures | {"seen": figures["seen"] | {"number": 1}}
    Exchange.objects.filter(pk=newest.pk).update(verdict_figures=moved)
    assert found(played) == {(3, Figure.COMPARED_WITH)}


def the_first(context: Any) -> int | None:
    numbers = Exchange.objects.filter(session=context.session).order_by("number")
    return numbers.values_list("pk", flat=True).first()


def test_a_broken_choice_of_the_exchange_before_is_noticed(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[PREPARE], "_previous_of", the_first)
    played = begin()
    for _ in range(3):
        played.talk()
    assert (3, Figure.COMPARED_WITH) in found(played)


def correct_answer(played: PlayedSession) -> None:
    played.session.refresh_from_db()
    branch = Turn.objects.branch(played.session.head_id)
    answer = next(turn for turn in reversed(branch) if turn.kind == TurnKind.MODEL_RESPONSE)
    in_database_thread(
        lambda: history_edits.correct_answer(played.session.pk, answer.public, "Another answer.")
    )


def test_a_corrected_answer_counts_as_the_one_that_it_stands_for(begin: Begin) -> None:
    played = begin()
    for _ in range(2):
        played.talk()
    correct_answer(played)
    played.talk()
    assert previous_numbers(played)[-1] == 2
    assert found(played) == set()


def test_a_new_wording_of_the_first_message_is_compared_with_the_newest_request(begin: Begin) -> None:
    played = begin()
    for _ in range(2):
        played.talk()
    first = Turn.objects.filter(session=played.session, kind=TurnKind.USER_TASK).earliest("pk")
    text = "task=anew rounds=0 calls=1"
    played.run(played.process.runner.edit(played.session.pk, uuid.uuid4(), first.public, text))
    assert previous_numbers(played) == [None, 1, 2]
    assert found(played) == set()


def test_a_wrong_minimum_is_noticed(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "implicit_minimum", lambda facts: 100_000)
    played = begin()
    played.talk()
    assert (1, Figure.IMPLICIT_MINIMUM) in found(played)


def test_the_minimum_that_an_administrator_entered_holds(begin: Begin) -> None:
    ModelFacts.objects.create(model=MODEL, implicit_minimum=100)
    played = begin(SHORT)
    for _ in range(2):
        played.talk()
    assert played.newest().verdict_figures["minimum"] == 100
    assert found(played) == set()


def test_facts_that_were_changed_later_contradict_no_verdict(begin: Begin) -> None:
    played = begin()
    played.talk()
    ModelFacts.objects.create(model=MODEL, implicit_minimum=100)
    assert found(played) == set()


@pytest.mark.parametrize(
    ("model", "minimum"), [("gemini-2.5-flash", 2_048), ("gemini-3.6-flash", 4_096), ("other-model", 0)]
)
def test_what_is_documented_of_each_generation(begin: Begin, model: str, minimum: int) -> None:
    played = begin()
    played.talk()
    rows = SessionRows(played.session.pk)
    assert minimum_of(rows, {**rows.exchanges[0], "model": model}) == minimum


def test_an_answer_that_was_stopped_is_cut_off_whatever_its_row_says(begin: Begin) -> None:
    played = begin()
    played.talk()
    played.stop()
    stopped = played.newest()
    assert stopped.verdict_figures["reason"] == "cut_off"
    assert found(played) == set()
    figures = stopped.verdict_figures | {"reason": "unexplained"}
    Exchange.objects.filter(pk=stopped.pk).update(verdict="provider_miss", verdict_figures=figures)
    assert found(played) >= {(2, Figure.VERDICT)}


def test_a_request_that_is_refused_was_not_answered(begin: Begin) -> None:
    played = begin()
    played.provider.emulator.faults.configured = tuple(parse_faults("error 400"))
    played.talk()
    refused = played.newest()
    assert refused.run.status == "failed" and not refused.chunks.exists()
    assert refused.verdict_figures["reason"] == "not_answered"
    assert found(played) == set()
    figures = refused.verdict_figures | {"reason": "no_usage"}
    Exchange.objects.filter(pk=refused.pk).update(verdict_figures=figures)
    assert found(played) == {(1, Figure.VERDICT)}


def test_a_whole_answer_that_passes_for_a_cut_one_is_noticed(begin: Begin) -> None:
    played = begin()
    played.talk()
    whole = played.newest()
    figures = whole.verdict_figures | {"reason": "cut_off"}
    Exchange.objects.filter(pk=whole.pk).update(
        verdict="unknown", verdict_figures=figures, money=whole.money | {"at_least": True}
    )
    assert (1, Figure.VERDICT) in found(played)
