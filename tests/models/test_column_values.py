"""Values of columns are those that Django makes, whatever the database."""

import uuid
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import ForeignKey, IntegerField
from django.db.models.fields.json import KeyTransform

from sessions_app.models import Exchange, Run, Session
from sessions_app.models.column_values import TAKEN_AS_THEY_ARE, TYPES_LIMIT, StoredValues
from sessions_app.models.prepared import Reading, insert
from tests.factories import make_session

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 11, 3, 12, 0, 0, 5, tzinfo=UTC)
TOKYO = timezone(timedelta(hours=9))
SURROGATE = {"half": "\ud800"}
JSONS: list[Any] = [
    {},
    [],
    {"a": ["é", 1.5, None, True, -(2**63)]},
    {"n": 2**70},
    SURROGATE,
    {1: "key"},
]


@pytest.fixture
def session(alice: User) -> Session:
    return make_session(alice)


@pytest.mark.parametrize("kind", TAKEN_AS_THEY_ARE)
def test_values_that_are_taken_as_they_are_need_no_conversion(kind: Any) -> None:
    values: dict[type, list[Any]] = {
        int: [0, 7],
        bool: [True, False],
        str: ["", "é"],
        float: [0.0, 1.5],
        Decimal: [Decimal("0.00000001"), Decimal(-3)],
    }
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


@pytest.mark.parametrize("at", [NOON, NOON.replace(microsecond=0), NOON.astimezone(TOKYO), None])
def test_times_are_stored_and_read_as_django_does(session: Session, at: datetime | None) -> None:
    insert(Run(session=session, client_id=uuid.uuid4(), status="failed", ended_at=at))
    Run.objects.create(session=session, client_id=uuid.uuid4(), status="failed", ended_at=at)
    names = ("ended_at", "public", "client_id")
    assert columns_read(session, *names) == columns_stored(session, *names)
    assert [one.ended_at for one in Run.objects.all()] == [at, at]
    assert Run.objects.filter(ended_at=at).count() == 2


@pytest.mark.parametrize("value", JSONS)
def test_json_is_stored_and_read_as_django_does(session: Session, value: Any) -> None:
    if connection.vendor == "postgresql" and value == SURROGATE:
        pytest.skip("PostgreSQL refuses it")
    insert(Run(session=session, client_id=uuid.uuid4(), status="failed", error=value))
    Run.objects.create(session=session, client_id=uuid.uuid4(), status="failed", error=value)
    assert columns_read(session, "error") == columns_stored(session, "error")
    ours, theirs = Run.objects.values_list("error", flat=True)
    assert ours == theirs


def columns_read(session: Session, *names: str) -> list[tuple[Any, ...]]:
    return Reading[Any](lambda: Run.objects.filter(session=session.pk).values_list(*names)).all()


def columns_stored(session: Session, *names: str) -> list[tuple[Any, ...]]:
    return list(Run.objects.filter(session=session.pk).values_list(*names))


def test_a_time_without_a_zone_is_refused(session: Session) -> None:
    run = Run(session=session, client_id=uuid.uuid4(), ended_at=NOON.replace(tzinfo=None))
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL's columns have their zone")
    with pytest.raises(ValueError, match="time zone"):
        insert(run)


def test_decimals_keep_all_their_digits(session: Session) -> None:
    Session.objects.filter(pk=session.pk).update(spent_usd=Decimal("0.12345678"))
    reading = Reading[Any](lambda: Session.objects.values_list("spent_usd"))
    assert reading.all() == [(Decimal("0.12345678"),)]


def test_a_key_of_a_json_column_comes_as_it_is(session: Session) -> None:
    insert(Run(session=session, client_id=uuid.uuid4(), error={"kind": "1", "count": 2}))
    keys = [KeyTransform(name, "error") for name in ("kind", "count")]
    reading = Reading[Any](lambda: Run.objects.values_list(*keys))
    assert reading.all() == list(Run.objects.values_list(*keys))


def test_combinations_of_types_do_not_pile_up() -> None:
    values = StoredValues([Exchange._meta.get_field("model")])
    for number in range(TYPES_LIMIT + 5):
        kind = type(f"Text{number}", (str,), {})
        values._conversions_of((kind,), connection.vendor)
    assert len(values._conversions) <= TYPES_LIMIT
