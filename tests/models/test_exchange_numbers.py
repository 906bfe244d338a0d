"""Exchanges count from 1 in their session, in runs that go on."""

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from sessions_app.errors import RunEnded
from sessions_app.models import Run, Session
from sessions_app.models.exchange_numbers import take_number
from tests.factories import make_run, make_session

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(alice: User) -> Run:
    return make_run(make_session(alice))


def test_numbers_follow_each_other_and_are_stored(run: Run) -> None:
    with CaptureQueriesContext(connection) as queries:
        assert [take_number(run) for _ in range(3)] == [1, 2, 3]
    assert len(queries) == 3
    assert Session.objects.get(pk=run.session_id).exchange_count == 3


@pytest.mark.parametrize("status", [Run.Status.COMPLETED, Run.Status.STOPPED, Run.Status.INTERRUPTED])
def test_a_run_that_is_over_gets_none(run: Run, status: Run.Status) -> None:
    Run.objects.filter(pk=run.pk).update(status=status)
    with pytest.raises(RunEnded), transaction.atomic():
        take_number(run)
    assert run.session.exchange_count == Session.objects.get(pk=run.session_id).exchange_count == 0
