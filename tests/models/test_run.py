"""Runs: one at a time, once per client id."""

import threading
import uuid
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from sessions_app.errors import QuotaExceeded, RunEnded
from sessions_app.models import Run, Session
from sessions_app.models.exchange_numbers import take_number
from sessions_app.models.run import describe
from sessions_app.runs.run_end import end_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(alice: User) -> Session:
    return Session.objects.create(owner=alice, model="gemini-3-flash-preview")


def make(session: Session, **fields: object) -> Run:
    return Run.objects.create(session=session, client_id=uuid.uuid4(), **fields)


def test_the_database_refuses_a_second_active_run(session: Session) -> None:
    make(session, status=Run.Status.RUNNING)
    with pytest.raises(IntegrityError), transaction.atomic():
        make(session)


def test_a_finished_run_makes_room(session: Session) -> None:
    make(session).end(Run.Status.COMPLETED)
    assert make(session).is_active


def test_the_database_refuses_a_client_id_twice(session: Session) -> None:
    first = make(session)
    first.end(Run.Status.COMPLETED)
    with pytest.raises(IntegrityError), transaction.atomic():
        Run.objects.create(session=session, client_id=first.client_id)


def test_only_a_silent_active_run_is_abandoned(session: Session) -> None:
    run = make(session, status=Run.Status.RUNNING)
    assert not Run.objects.abandoned()
    Run.objects.filter(pk=run.pk).update(heartbeat_at=timezone.now() - timedelta(seconds=16))
    assert list(Run.objects.abandoned()) == [run]
    run.end(Run.Status.STOPPED)
    assert not Run.objects.abandoned()


@pytest.mark.parametrize("status", [status for status in Run.Status if status not in Run.ACTIVE])
def test_a_run_that_has_ended_cannot_be_held(session: Session, status: Run.Status) -> None:
    run = make(session)
    Run.objects.hold(run.pk)
    run.end(status)
    with pytest.raises(RunEnded):
        Run.objects.hold(run.pk)


HOLDS: list[Callable[[Run], object]] = [lambda run: Run.objects.hold(run.pk), take_number]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("hold", HOLDS)
def test_a_run_that_is_held_ends_after_the_transaction(
    session: Session, hold: Callable[[Run], object]
) -> None:
    run = make(session)

    def end() -> None:
        end_run(run.pk, Run.Status.INTERRUPTED)
        connection.close()

    ending = threading.Thread(target=end)
    with transaction.atomic():
        hold(run)
        ending.start()
        ending.join(0.3)
        assert Run.objects.active().filter(pk=run.pk).exists() and ending.is_alive()
    ending.join()
    assert not Run.objects.active().filter(pk=run.pk).exists()


def test_an_error_is_kept_in_words_and_numbers() -> None:
    error = QuotaExceeded("Too many.", hint="Wait.", code=429, status="RESOURCE_EXHAUSTED", retry_after=21)
    assert describe(error) == {
        "kind": "QuotaExceeded",
        "message": "Too many.",
        "hint": "Wait.",
        "code": 429,
        "status": "RESOURCE_EXHAUSTED",
        "retry_after": 21,
    }


def test_an_error_is_stored_without_nul() -> None:
    assert describe(QuotaExceeded("a\0b", hint="\0"))["message"] == "ab"
