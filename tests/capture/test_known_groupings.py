"""Several processes relay for one address, and each knows what the others recorded."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError

from sessions_app.capture import recording
from sessions_app.capture.recording import Recording
from sessions_app.capture.records import Record
from sessions_app.capture.regrouping import split
from sessions_app.models import CaptureAddress, CapturedRequest, Session
from tests.capture.answers import Asking, audited, calls, exchange_of, says
from tests.capture.conversations import body_of, call, model, result, user
from tests.capture.random_programs import FAILED, unsound

pytestmark = pytest.mark.django_db

BREAD, OVEN = user("How do I scale the loaf to two kilograms?"), user("And how long does it bake then?")
DOUBLE, LONGER = model("Double all of it."), model("Twenty minutes longer.")


@pytest.fixture
def program(alice: User) -> Asking:
    return Asking(CaptureAddress.issue(alice.pk, "Laptop")[0])


@pytest.fixture
def processes(program: Asking) -> list[Recording]:
    return [program.recording, Recording()]


def test_a_conversation_that_changes_between_processes_is_one_session(
    program: Asking, processes: list[Recording]
) -> None:
    said: list[object] = []
    for at, text in enumerate(("one", "two", "three", "four", "five")):
        program.recording = processes[at % 2]
        said.append(user(f"Message {text} about the bread."))
        row = program.exchange(body_of(said), says(f"Answer {text} about the bread."))
        said.append(model(f"Answer {text} about the bread."))
        assert row.number == at + 1 and row.captured.relation == ("continues" if at else "opens")
    assert Session.objects.captured().count() == 1 and not audited() and not unsound()


def test_a_failure_that_another_process_saw_is_retried(program: Asking, processes: list[Recording]) -> None:
    begun = program.begun(body_of([BREAD]))
    program.recording([begun])
    processes[1]([program.begun(body_of([OVEN], system="Another."))])
    program.recording([program.ended(begun, FAILED, 503)])
    program.recording = processes[1]
    again = program.exchange(body_of([BREAD]), says("Double all of it."))
    assert again.captured.relation == "retry" and again.resend_of == exchange_of(
        CapturedRequest.objects.get(public=begun.key)
    )


def test_calls_that_another_process_saw_have_their_sub_agent(
    program: Asking, processes: list[Recording]
) -> None:
    first = program.exchange(body_of([BREAD]), calls("ask_baker", task="Find the oven in the cellar."))
    program.recording = processes[1]
    agent = program.exchange(body_of([user("Find the oven in the cellar.")], system="A baker."), says("So."))
    assert agent.captured.relation == "sub_agent" and agent.session == first.session
    assert not agent.captured.is_guess


def test_an_old_answer_of_another_process_is_recognised(program: Asking, processes: list[Recording]) -> None:
    asked = call("look", where="into the oven")
    program.exchange(body_of([BREAD]), says("Double all of it."))
    program.recording = processes[1]
    program.exchange(body_of([BREAD, DOUBLE, OVEN]), calls("look", where="into the oven"))
    program.recording = processes[0]
    after = program.exchange(body_of([BREAD, DOUBLE, OVEN, asked, result("look", degrees=230)]), says("Hot."))
    assert after.run.exchanges.count() == 2 and not unsound() and not audited()
    routes = after.session.turns.filter(kind="function_calling").values_list("exchange__number", flat=True)
    assert list(routes) == [2]


def test_what_a_person_changed_is_read_again_by_every_process(
    program: Asking, processes: list[Recording]
) -> None:
    for process, body in zip(processes, (body_of([BREAD]), body_of([BREAD, DOUBLE, OVEN])), strict=True):
        program.recording = process
        last = program.exchange(body, says("Double all of it."))
    apart = split(last.session, 2)
    said = [BREAD, DOUBLE, OVEN]
    for process in processes:
        program.recording = process
        said += [model("Double all of it."), user(f"And what of message {len(said)}?")]
        assert program.exchange(body_of(said), says("Double all of it.")).session == apart
    assert not unsound() and not audited()


def test_a_side_call_that_another_process_took_in_stays_one(
    program: Asking, processes: list[Recording]
) -> None:
    routed: dict[str, Any] = {"system": "Route.", "tools": None}
    program.exchange(body_of([BREAD], **routed), says("flash"))
    program.recording = processes[1]
    main = program.exchange(body_of([BREAD]), says("Double all of it."))
    program.recording = processes[0]
    router = program.exchange(body_of([BREAD, DOUBLE, OVEN], **routed), says("flash"))
    assert router.session == main.session and router.captured.role == "side"
    lanes = CapturedRequest.objects.filter(role="side").values_list("lane", flat=True)
    assert len(lanes) == 2 and len(set(lanes)) == 1


@pytest.mark.parametrize("where", ["begin_exchange", "end_exchange"])
def test_nothing_of_a_batch_that_was_rolled_back_is_remembered(
    program: Asking, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    first = program.exchange(body_of([BREAD]), says("Double all of it."))
    begun, other = (
        program.begun(body_of([BREAD, DOUBLE, OVEN])),
        program.begun(body_of([OVEN, LONGER, BREAD])),
    )
    records: list[Record] = [begun, program.ended(begun, says("Twenty minutes longer.")), other]
    real, calls_left = getattr(recording, where), 1 if where == "begin_exchange" else 0

    def fail_later(*args: object) -> object:
        nonlocal calls_left
        calls_left -= 1
        if calls_left < 0:
            raise DatabaseError("away")
        return real(*args)

    with monkeypatch.context() as patch:
        patch.setattr(recording, where, fail_later)
        with pytest.raises(DatabaseError):
            program.recording(records)
    program.recording(records)
    second = exchange_of(CapturedRequest.objects.get(public=begun.key))
    assert second.session == first.session and second.previous == first
    assert second.captured.relation == "continues" and not unsound() and not audited()
