"""Instances are those of `Model.__init__` and `from_db`."""

import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Model

from sessions_app.models import Booking, Exchange, ExchangeAttempt, Run, RunLog, Session, Turn
from sessions_app.models.instances import loaded, new
from tests.factories import make_session

pytestmark = pytest.mark.django_db

MADE = (Booking, Exchange, ExchangeAttempt, Run, RunLog, Turn)
"""Models whose instances are made by `new`."""

UNLIKE = {"public", "now", "started_at", "heartbeat_at"}
"""Columns of which no two rows have the same default."""


@pytest.fixture
def session(alice: User) -> Session:
    return make_session(alice)


def state_of(row: Model) -> tuple[dict[str, Any], dict[str, Any]]:
    columns = {name: value for name, value in vars(row).items() if name != "_state"}
    return columns, {
        "fields_cache": row._state.fields_cache,
        "adding": row._state.adding,
        "db": row._state.db,
    }


@pytest.mark.parametrize("model", MADE)
def test_a_new_instance_has_the_defaults_of_its_model(model: type[Model]) -> None:
    (ours, our_state), (theirs, their_state) = (state_of(make) for make in (new(model), model()))
    for name in UNLIKE & set(ours):
        assert type(ours.pop(name)) is type(theirs.pop(name))
    assert ours == theirs and our_state == their_state
    for name, value in ours.items():
        if isinstance(value, dict | list):
            assert value is not getattr(new(model), name)


def test_relations_are_taken_as_instances_keys_or_none(session: Session) -> None:
    run = Run.objects.create(session=session, client_id=uuid.uuid4())
    facts: dict[str, Any] = {
        "public": uuid.uuid4(),
        "session": session,
        "run": run,
        "exchange": None,
        "parent_id": 7,
        "depth": 2,
    }
    assert state_of(new(Turn, **facts)) == state_of(Turn(**facts))
    with pytest.raises(TypeError):
        new(Turn, nothing=1)


def test_a_loaded_row_is_that_of_the_database_and_reads_what_was_left_out(session: Session) -> None:
    names = ["model", "id", "title"]
    row = loaded(Session, connection.alias, names, [session.model, session.pk, "Before"])
    assert row.title == "Before" and "owner_id" in row.get_deferred_fields()
    assert (row.owner, row._state.adding, row._state.db) == (session.owner, False, connection.alias)
    whole = [field.attname for field in Session._meta.concrete_fields]
    values = Session.objects.values_list(*whole).get(pk=session.pk)
    assert state_of(loaded(Session, connection.alias, whole, values)) == state_of(
        Session.from_db(connection.alias, whole, values)
    )
