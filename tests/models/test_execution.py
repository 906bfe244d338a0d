"""Compiled statements run as through Django's cursor."""

from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries

from sessions_app.models.execution import ROWS_AT_ONCE, append, execute

pytestmark = pytest.mark.django_db

SQL = "SELECT %s, '100%%', %s"


def test_placeholders_and_percents_are_those_of_django() -> None:
    with connection.cursor() as cursor:
        cursor.execute(SQL, [1, "é"])
        theirs = cursor.fetchall()
    assert list(execute(connection, SQL, [1, "é"]).fetchall()) == theirs


def test_whoever_looks_at_statements_sees_it() -> None:
    seen: list[str] = []

    def note(run: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        seen.append(sql)
        return run(sql, params, many, context)

    with connection.execute_wrapper(note):
        assert execute(connection, SQL, [1, 2]).fetchone()[0] == 1
    with CaptureQueriesContext(connection) as captured:
        execute(connection, SQL, [1, 2])
    assert seen == [SQL] and len(captured) == 1


def test_errors_are_those_of_django() -> None:
    with pytest.raises(DatabaseError), transaction.atomic():
        execute(connection, "SELECT * FROM no_such_table WHERE 1 = %s", [1])
    broken = "INSERT INTO sessions_app_rawchunk (exchange_id, seq, ms, body) VALUES (%s, NULL, 0, %s)"
    with pytest.raises(IntegrityError), transaction.atomic():
        execute(connection, broken, [1, b""])


def test_nothing_runs_in_a_transaction_that_is_broken() -> None:
    with transaction.atomic():
        connection.needs_rollback = True
        with pytest.raises(transaction.TransactionManagementError):
            execute(connection, SQL, [1, 2])
        connection.needs_rollback = False


@pytest.mark.parametrize("count", [0, 1, ROWS_AT_ONCE, ROWS_AT_ONCE + 1, 3 * ROWS_AT_ONCE + 5])
def test_rows_are_appended_in_few_statements_and_existing_ones_kept(
    count: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    append(connection, "auth_group", ("id", "name"), [(1, "here before")])
    with django_assert_num_queries(-(-count // ROWS_AT_ONCE)):
        append(
            connection, "auth_group", ("id", "name"), [(key, f"group {key}") for key in range(1, count + 1)]
        )
    names = {1: "here before"} | {key: f"group {key}" for key in range(2, count + 1)}
    assert dict(Group.objects.values_list("pk", "name")) == names
