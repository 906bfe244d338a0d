"""What polls read is of the sessions and runs that they name, in a number of queries that does not grow."""

import uuid

import pytest
from django.contrib.auth.models import User
from pytest_django import DjangoAssertNumQueries

from sessions_app.models import QueuedMessage, Run, Session
from sessions_app.runs.stream_queries import (
    head_versions,
    newer_runs,
    newest_run_and_queue,
    queues_of,
    runs_to_stop,
)

pytestmark = pytest.mark.django_db

HERE, THERE = "this process", "another"


def sessions_of(owner: User, count: int) -> list[Session]:
    rows = (
        Session(owner=owner, model="gemini-3-flash-preview", head_version=number) for number in range(count)
    )
    return Session.objects.bulk_create(rows)


def run_of(session: Session, status: Run.Status = Run.Status.RUNNING, **fields: object) -> Run:
    return Run.objects.create(session=session, client_id=uuid.uuid4(), status=status, **fields)


def queue(session: Session, text: str) -> None:
    QueuedMessage.objects.create(session=session, client_id=uuid.uuid4(), text=text)


def test_runs_are_stopped_that_somebody_stopped_ended_erased_or_deleted_or_whose_person_is_gone(
    alice: User, bob: User
) -> None:
    goes_on, stopped, ended, erased, deleted = map(run_of, sessions_of(alice, 5))
    (gone,) = map(run_of, sessions_of(bob, 1))
    Run.objects.filter(pk=stopped.pk).update(stop_requested=True)
    ended.end(Run.Status.INTERRUPTED)
    User.objects.filter(pk=bob.pk).update(is_active=False)
    mine = {run.pk for run in (goes_on, stopped, ended, erased, deleted, gone)}
    erased.session.erase()
    deleted.session.soft_delete()
    assert runs_to_stop(mine) == mine - {goes_on.pk}
    assert runs_to_stop([goes_on.pk]) == set()


def test_newer_runs_are_those_of_other_processes_in_these_sessions(alice: User) -> None:
    first, second, other = sessions_of(alice, 3)
    seen = run_of(first, Run.Status.COMPLETED, process=THERE)
    theirs = [run_of(second, process=THERE), run_of(first, process=THERE)]
    run_of(other, process=THERE)
    assert newer_runs([first.pk, second.pk], seen.pk, HERE) == theirs
    assert newer_runs([first.pk, second.pk], seen.pk, THERE) == []
    assert newer_runs([first.pk, second.pk], theirs[-1].pk, HERE) == []


def test_every_session_has_its_queue_in_order(alice: User) -> None:
    first, second, other = sessions_of(alice, 3)
    for session, text in ((first, "one"), (second, "two"), (first, "three"), (other, "no")):
        queue(session, text)
    found = queues_of([first.pk, second.pk])
    assert {pk: [one.text for one in queue] for pk, queue in found.items()} == {
        first.pk: ["one", "three"],
        second.pk: ["two"],
    }
    assert queues_of([]) == {}


def test_a_stream_begins_behind_the_newest_run_that_is_over(alice: User) -> None:
    (session,) = sessions_of(alice, 1)
    assert newest_run_and_queue(session.pk) == (0, [])
    over = run_of(session, Run.Status.FAILED)
    run_of(session)
    queue(session, "later")
    newest, waiting = newest_run_and_queue(session.pk)
    assert newest == over.pk and [one.text for one in waiting] == ["later"]


def test_a_poll_of_many_sessions_takes_as_many_queries_as_one_of_few(
    alice: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for count in (1, 20, 100):
        sessions = sessions_of(alice, count)
        keys, runs = [session.pk for session in sessions], [run_of(session).pk for session in sessions]
        with django_assert_num_queries(4):
            assert head_versions(keys) == dict(zip(keys, range(count), strict=True))
            assert not newer_runs(keys, runs[-1], HERE) and not any(queues_of(keys).values())
            assert not runs_to_stop(runs)
