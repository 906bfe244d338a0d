"""Prepared statements do what the ORM does, and are built and compiled once."""

import uuid
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.db.models import BigIntegerField, Count, F, ForeignKey, IntegerField, QuerySet
from django.db.models.signals import post_save, pre_save
from django.db.models.sql.compiler import SQLCompiler, SQLInsertCompiler, SQLUpdateCompiler

from sessions_app.models import Blob, Exchange, Run, Session, Turn
from sessions_app.models.prepared import (
    TAKEN_AS_THEY_ARE,
    Change,
    Parameter,
    Reading,
    insert,
    insert_all,
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


@pytest.mark.parametrize("kind", TAKEN_AS_THEY_ARE)
def test_values_that_are_taken_as_they_are_need_no_conversion(kind: Any) -> None:
    values: dict[type, list[Any]] = {int: [0, 7], bool: [True, False], str: ["", "é"], float: [0.0, 1.5]}
    fields = [field for model in apps.get_models() for field in model._meta.concrete_fields]
    seen = [field for field in fields if type(field) is kind and not names_rows_by_text(field)]
    assert seen
    for field in seen:
        for value in (None, *values[TAKEN_AS_THEY_ARE[kind]]):
            # On PostgreSQL an integer comes as a subclass of int that names the column's width.
            kept = field.get_db_prep_save(value, connection)
            assert isinstance(kept, type(value)) and kept == value


def names_rows_by_text(field: Any) -> bool:
    return isinstance(field, ForeignKey) and not isinstance(field.target_field, IntegerField)


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
    bodies = [b"one", b"two", b"three"]
    first = [Blob.of(alice.pk, f"{number:064}", body) for number, body in enumerate(bodies)]
    insert_all(first)
    again = [Blob.of(alice.pk, blob.sha256, b"other") for blob in reversed(first)]
    again.append(Blob.of(alice.pk, "f" * 64, b"four"))
    insert_all(again, unique=("owner", "sha256"), updated=("size",))
    assert [blob.pk for blob in again[:3]] == [blob.pk for blob in reversed(first)]
    assert {blob.sha256: blob.pk for blob in Blob.objects.all()} == {blob.sha256: blob.pk for blob in again}
    assert Blob.objects.get(pk=first[0].pk).size == len(b"other")
    assert Blob.objects.get(pk=first[0].pk).bytes == b"one"


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
