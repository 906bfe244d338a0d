"""Rows of many tables in one statement."""

from datetime import UTC, datetime

import pytest
from django.db.models import IntegerField
from pytest_django import DjangoAssertNumQueries

from sessions_app.models import Session
from sessions_app.panels import KINDS
from sessions_app.panels.kinds.logs import LogRow, Logs
from sessions_app.panels.kinds.memories import Memories
from sessions_app.panels.kinds.todos import TodoRow, Todos
from sessions_app.panels.kinds.tree import WorkspaceTree
from sessions_app.panels.refresh import STATES
from sessions_app.panels.rows import read_rows

WHEN = datetime(2026, 11, 21, 9, 0, 0, 123_000, tzinfo=UTC)


@pytest.mark.parametrize("source", [one for one in (*KINDS, STATES) if one.model], ids=lambda one: one.key)
def test_every_source_is_sorted_by_a_whole_number(source: Todos) -> None:
    """PostgreSQL joins no column of numbers to one of text."""
    field = source.model._meta.pk if source.order == "pk" else source.model._meta.get_field(source.order)
    assert isinstance(field, IntegerField)


def test_rows_come_typed_sorted_and_in_one_query(
    session: Session, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    session.log_entries.create(text='a "b" \\ ü \n', created_at=WHEN)
    for position, done in ((2, True), (1, False)):
        session.todos.create(position=position, title="x", done=done, changed_at=WHEN)
    with django_assert_num_queries(1):
        found = read_rows(session, (Todos(), Logs(), Memories(), WorkspaceTree()))
    assert found["logs"] == [LogRow(text='a "b" \\ ü \n', created_at=WHEN)]
    assert found["todos"] == [
        TodoRow(position=1, title="x", done=False, changed_at=WHEN),
        TodoRow(position=2, title="x", done=True, changed_at=WHEN),
    ]
    assert not found.get("memories") and not found.get("tree")


def test_sources_without_rows_cost_nothing(
    session: Session, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(0):
        assert not read_rows(session, (WorkspaceTree(),))
