"""A message that arrives while the run ends is either counted by that end, or starts a run of its own."""

import uuid
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from sessions_app.errors import RunError, SessionBusy
from sessions_app.models import QueuedMessage, Run, Session
from sessions_app.prompt.reply import Outcome
from sessions_app.runs import start
from sessions_app.runs.completion import mark_completed
from sessions_app.runs.start import TRIES, start_send
from sessions_app.runs.triggers import BUSY
from tests.factories import make_run

PATIENCE = 10.0
"""Seconds."""


def sent(session: Session, begin: Event) -> Run | None:
    begin.wait(PATIENCE)
    try:
        return start_send(session.pk, uuid.uuid4(), "Two", "here")
    finally:
        connection.close()


def test_a_message_that_the_end_of_the_run_did_not_count_starts_a_run(session: Session) -> None:
    run = start_send(session.pk, uuid.uuid4(), "One", "here")
    assert run is not None
    counted = Event()
    with ThreadPoolExecutor(1) as threads:
        second = threads.submit(sent, session, counted)
        with transaction.atomic():
            mark_completed(run, Outcome.COMPLETE)
            assert not QueuedMessage.objects.exists()
            counted.set()
            # Long enough for a message that waits for nothing to be queued unseen.
            with pytest.raises(TimeoutError):
                second.result(timeout=0.5)
        begun = second.result(timeout=PATIENCE)
    assert begun is not None and begun.trigger is not None and begun.trigger.text == "Two"
    assert not QueuedMessage.objects.exists()


def test_a_message_for_a_run_that_goes_on_is_queued(session: Session) -> None:
    assert start_send(session.pk, uuid.uuid4(), "One", "here") is not None
    assert start_send(session.pk, uuid.uuid4(), "Two", "here") is None
    assert [message.text for message in QueuedMessage.objects.all()] == ["Two"]


def test_a_conflict_that_lasts_ends_with_an_error_and_is_queued_nowhere(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = []

    def conflicting(*_: Any, **__: Any) -> Any:
        tries.append(1)
        raise IntegrityError("FOREIGN KEY constraint failed")

    monkeypatch.setattr("sessions_app.runs.start.task_of_message", conflicting)
    with pytest.raises(RunError) as refused:
        start_send(session.pk, uuid.uuid4(), "One", "here")
    assert len(tries) == TRIES and isinstance(refused.value.__cause__, SessionBusy)
    assert not QueuedMessage.objects.exists() and not Run.objects.exists()


def test_errors_that_are_raised_often_do_not_keep_what_they_met() -> None:
    assert BUSY() is not BUSY() and BUSY().__traceback__ is None


def test_a_message_is_kept_where_one_run_ends_and_another_begins_meanwhile(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, queue = make_run(session), start._queue

    def queue_between_runs(*args: Any) -> bool:
        monkeypatch.undo()
        first.end(Run.Status.COMPLETED)
        is_queued = queue(*args)
        make_run(session, "Meanwhile")
        return is_queued

    monkeypatch.setattr(start, "_queue", queue_between_runs)
    assert start_send(session.pk, uuid.uuid4(), "Two", "here") is None
    assert [message.text for message in QueuedMessage.objects.all()] == ["Two"]
