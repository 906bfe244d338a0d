"""Prepared statements do what the ORM does, and are built and compiled once."""

import uuid
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.db.models import BigIntegerField, Count, F, QuerySet
from django.db.models.signals import post_save, pre_save
from django.db.models.sql.compiler import SQLCompiler, SQLInsertCompiler, SQLUpdateCompiler
from django.test.utils import CaptureQueriesContext

from sessions_app.models import Blob, Exchange, Run, Session, Turn
from sessions_app.models.blob import PackedBlob
from sessions_app.models.prepared import (
    Change,
    Parameter,
    Reading,
    insert,
    insert_all,
    insert_values,
    parameter,
    update,
)
from sessions_app.prompt.turns import user_task
from tests.factories import make_session

pytestmark = pytest.mark.django_db

KEY = Parameter("key", BigIntegerField())
NOON = datetime(2026, 11, 3, 12, 0, tzinfo=UTC)


@pytest.fixture
def session(alice: User) -> Session:
    return make_session(alice)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kinds of statements that Django compiles from now on."""
    kinds: list[str] = []
    for compiler in (SQLCompiler, SQLInsertCompiler, SQLUpdateCompiler):
        plain: Any = compiler.as_sql

        def counted(self: Any, *args: Any, plain: Any = plain, **named: Any) -> Any:
            kinds.append(type(self).__name__)
            return plain(self, *args, **named)

        monkeypatch.setattr(compiler, "as_sql", counted)
    return kinds


def a_run(session: Session) -> Run:
    return Run(session=session, client_id=uuid.uuid4(), status=Run.Status.COMPLETED, error={"kind": "é"})


def columns_of(row: Any) -> dict[str, Any]:
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


def test_an_inserted_row_reads_back_with_every_column(session: Session) -> None:
    run = insert(a_run(session))
    assert columns_of(Run.objects.get(pk=run.pk)) == columns_of(run)
    assert not run._state.adding


def test_sqlite_is_not_asked_to_return_the_key_of_one_row(session: Session) -> None:
    """It runs a RETURNING as a trigger, and copies each page that such a statement changes."""
    with CaptureQueriesContext(connection) as context:
        insert(a_run(session))
    (statement,) = context.captured_queries
    assert ("RETURNING" in statement["sql"]) == (connection.vendor != "sqlite")


def test_a_row_gets_its_own_key_where_a_trigger_inserts_others(session: Session) -> None:
    """The words of turns are indexed so."""
    turns = []
    for number in range(3):
        with transaction.atomic():
            value = user_task(str(uuid.uuid4()), f"Word{number} and more")
            turns.append(Turn.append(session, value, parent=None, run=insert(a_run(session))))
    assert [Turn.objects.get(public=turn.public).pk for turn in turns] == [turn.pk for turn in turns]


def test_inserting_and_updating_send_the_signals_of_saving(session: Session) -> None:
    seen: list[tuple[bool | None, frozenset[str] | None]] = []

    def note(created: bool | None = None, update_fields: Any = None, **_: Any) -> None:
        seen.append((created, update_fields))

    for signal in (pre_save, post_save):
        signal.connect(note, sender=Run)
    try:
        run = insert(a_run(session))
        update(run, "outcome")
        theirs, ours = [], seen[:]
        seen.clear()
        run = a_run(session)
        run.save(force_insert=True)
        run.save(update_fields=["outcome"])
        theirs = seen[:]
    finally:
        for signal in (pre_save, post_save):
            signal.disconnect(note, sender=Run)
    assert ours == theirs and len(ours) == 4


def test_a_constraint_of_the_database_holds_and_ends_the_transaction(session: Session) -> None:
    run = insert(a_run(session))
    again = a_run(session)
    again.client_id = run.client_id
    with pytest.raises(IntegrityError), transaction.atomic():
        insert(again)
    with transaction.atomic():
        with pytest.raises(IntegrityError):
            insert(again)
        assert transaction.get_connection().needs_rollback
        transaction.set_rollback(True)


def test_an_update_stores_these_columns_and_no_other(session: Session) -> None:
    run = insert(a_run(session))
    run.outcome, run.ended_at, run.process = "complete", NOON, "elsewhere"
    update(run, "outcome", "ended_at")
    stored = Run.objects.get(pk=run.pk)
    assert (stored.outcome, stored.ended_at, stored.process) == ("complete", NOON, "")


def test_an_update_of_a_row_that_is_gone_raises(session: Session) -> None:
    run = insert(a_run(session))
    Run.objects.filter(pk=run.pk).delete()
    with pytest.raises(DatabaseError):
        update(run, "outcome")


def test_several_rows_get_their_keys_in_order_and_known_ones_keep_theirs(alice: User) -> None:
    names, unique = PackedBlob._fields, ("owner", "sha256")
    bodies = [b"one", b"two", b"three"]
    first = [PackedBlob.of(alice.pk, f"{number:064}", body) for number, body in enumerate(bodies)]
    keys = insert_values(Blob, names, first)
    again = [PackedBlob.of(alice.pk, blob.sha256, b"other") for blob in reversed(first)]
    again.append(PackedBlob.of(alice.pk, "f" * 64, b"four"))
    known = insert_values(Blob, names, again, unique=unique, updated=("size",))
    assert known[:3] == keys[::-1]
    assert {blob.sha256: blob.pk for blob in Blob.objects.all()} == {
        blob.sha256: key for blob, key in zip(again, known, strict=True)
    }
    assert Blob.objects.get(pk=keys[0]).size == len(b"other")
    assert Blob.objects.get(pk=keys[0]).bytes == b"one"
    assert insert_values(Blob, names, []) == []


def test_instances_that_are_inserted_together_get_their_keys(session: Session) -> None:
    runs = [a_run(session), a_run(session)]
    insert_all(runs)
    assert [run.pk for run in runs] == [*Run.objects.order_by("pk").values_list("pk", flat=True)]


def test_instances_come_with_relations_annotations_and_columns_left_out(session: Session) -> None:
    Turn.append(session, user_task(str(uuid.uuid4()), "hello"), parent=None, run=insert(a_run(session)))

    def rows() -> "QuerySet[Any, Any]":
        found = Turn.objects.select_related("session__owner", "run", "exchange").defer("text", "run__error")
        return found.annotate(siblings=Count("session__turns")).filter(session=KEY)

    (found,) = Reading[Any](rows).all(key=session.pk)
    assert found.session == session and found.session.owner.username == session.owner.username
    assert found.run.client_id and found.exchange is None and found.siblings == 1
    assert found.get_deferred_fields() == {"text"} and found.text == "hello"
    assert found.run.get_deferred_fields() == {"error"}


def test_values_are_converted_as_the_orm_does(session: Session) -> None:
    run = insert(a_run(session))
    names = ("public", "error", "started_at", "session__spent_usd")
    reading = Reading[Any](lambda: Run.objects.filter(pk=KEY).values_list(*names)[:1])
    assert reading.first(key=run.pk) == Run.objects.values_list(*names).get(pk=run.pk)
    assert reading.first(key=run.pk + 1) is None


def test_a_change_adds_exactly_and_tells_how_many_rows_it_changed(session: Session) -> None:
    spent = parameter(Session, "spent_usd")
    change = Change(lambda: (Session.objects.filter(pk=KEY), {"spent_usd": F("spent_usd") + spent}))
    for _ in range(10):
        assert change.run(key=session.pk, spent_usd=Decimal("0.00000001")) == 1
    assert change.run(key=session.pk + 1, spent_usd=Decimal(1)) == 0
    session.refresh_from_db()
    assert session.spent_usd == Decimal("0.0000001")


def test_nothing_is_compiled_twice(session: Session, compiled: list[str]) -> None:
    reading = Reading[Any](lambda: Exchange.objects.filter(session=KEY))
    change = Change(lambda: (Run.objects.filter(session=KEY), {"outcome": parameter(Run, "outcome")}))

    def everything() -> None:
        reading.all(key=session.pk)
        change.run(key=session.pk, outcome="complete")
        update(insert(a_run(session)), "outcome")

    everything()
    assert compiled
    compiled.clear()
    everything()
    assert not compiled
