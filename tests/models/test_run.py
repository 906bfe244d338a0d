"""Runs: one at a time, once per client id."""

import uuid
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from sessions_app.errors import QuotaExceeded
from sessions_app.models import Run, Session
from sessions_app.models.run import describe

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


def test_what_a_provider_says_is_stored_without_the_byte_that_postgresql_refuses() -> None:
    assert describe(QuotaExceeded("a\0b", hint="\0"))["message"] == "ab"
