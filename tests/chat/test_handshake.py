"""What a socket begins with: among others the run of the last answer in view, as the page names it."""

import uuid
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from sessions_app.chat.handshake import Admission, read_admission
from sessions_app.chat.transcript import Transcript
from sessions_app.models import Run, Session, Turn
from sessions_app.models.branches import copy_session
from sessions_app.prompt.turns import user_task
from tests.factories import make_exchange, make_run, make_session


def admission(session: Session) -> Admission:
    client = Client()
    client.force_login(session.owner)
    found = read_admission(client.session.session_key or "", session.public)
    assert found is not None
    return found


def answered(session: Session) -> Run:
    run = make_run(session)
    make_exchange(run)
    run.end(Run.Status.COMPLETED)
    return run


def failed(session: Session) -> Run:
    run = make_run(session)
    run.end(Run.Status.FAILED)
    return run


def answered_twice(session: Session) -> Run:
    first = answered(session)
    again = Run.objects.create(
        session=session,
        client_id=first.public,
        status=Run.Status.FAILED,
        trigger=first.trigger,
        now=first.now,
    )
    session.switch_branch(first.trigger)
    return again


def on_the_earlier_branch(session: Session) -> Run:
    first = answered(session)
    head = session.head
    answered(session)
    session.switch_branch(head)
    return first


def of_a_fork(session: Session) -> Run:
    answered(session)
    session.refresh_from_db()
    assert session.head is not None
    return Run.objects.get(session=copy_session(session, session.head))


@pytest.mark.parametrize("shape", [answered, failed, answered_twice, on_the_earlier_branch, of_a_fork])
def test_the_last_run_is_that_of_the_last_answer_of_the_page(
    shape: Callable[[Session], Run], alice: User
) -> None:
    run = shape(make_session(alice))
    session = Session.objects.get(pk=run.session_id)
    told = admission(session)
    shown = Transcript.ending_at(session.head).runs[-1].run
    assert shown is not None
    assert told.last_run == shown.public == run.public and told.active_run is None


def test_a_chat_without_an_answer_has_none(alice: User) -> None:
    session = make_session(alice)
    assert admission(session).last_run is None
    Turn.append(session, user_task(str(uuid.uuid4()), "Imported"), parent=None)
    assert admission(session).last_run is None


def test_somebody_elses_chat_has_nothing(alice: User, bob: User) -> None:
    session = make_session(alice)
    answered(session)
    client = Client()
    client.force_login(bob)
    found = read_admission(client.session.session_key or "", session.public)
    assert found is not None and (found.session_pk, found.last_run) == (0, None)
