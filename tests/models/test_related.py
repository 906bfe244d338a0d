"""Related objects of many rows at once."""

import uuid

import pytest
from django.contrib.auth.models import User
from pytest_django import DjangoAssertNumQueries

from sessions_app.models import Blob, Run, Turn
from sessions_app.models.branches import copy_branch_below, substitute
from sessions_app.models.related import attach
from sessions_app.prompt.turns import user_task
from tests.factories import make_run, make_session


def rows(owner: User, count: int) -> list[Turn]:
    """A branch of messages, read without what they refer to."""
    session = make_session(owner)
    said = [substitute(session, user_task(str(uuid.uuid4()), f"words {n}")) for n in range(count)]
    copy_branch_below(session, None, said)
    return list(Turn.objects.filter(session=session).order_by("depth"))


@pytest.mark.django_db
def test_each_row_has_its_own_object_after_one_query_for_each_name(
    alice: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    turns = rows(alice, 3)
    run = make_run(turns[0].session)
    turns[1].run_id = run.pk
    with django_assert_num_queries(2):
        attach(turns, "content", "run")
        shown = [turn.content.pk for turn in turns], [turn.run and turn.run.pk for turn in turns]
    assert shown == ([turn.content_id for turn in turns], [None, run.pk, None])


@pytest.mark.django_db
def test_what_is_gone_by_then_is_left_to_be_asked_for(alice: User) -> None:
    (turn,) = rows(alice, 1)
    turn.run_id = 4_000_000
    attach([turn], "run")
    with pytest.raises(Run.DoesNotExist):
        _ = turn.run


def test_no_rows_are_no_query() -> None:
    attach([], "content")


@pytest.mark.django_db
def test_more_rows_than_a_condition_of_the_database_may_have(alice: User) -> None:
    body = b'{"role":"user","parts":[{"text":"words"}]}'
    turns = rows(alice, 1)
    stored = Blob.objects.store(alice.pk, (body.replace(b"words", b"%d" % n) for n in range(1_100)))
    many = [Turn(session=turns[0].session, content_id=key) for key in stored.values()]
    attach(many, "content")
    assert len({turn.content.body for turn in many}) == 1_100
