"""A run with any damaged column is ended by a heartbeat, and so is every other run."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, connection, models, transaction
from django.utils import timezone

from sessions_app.models import Exchange, RawChunk, Run, RunLog, Turn
from sessions_app.runs.processes import ProcessLock
from tests.factories import make_exchange, make_run, make_session, text_chunk
from tests.runs.running import end_abandoned_runs

SURVIVORS = {"id", "status", "run", "exchange"}
"""Without these a row is no longer that of the run, or the run is not active."""

VALUES: tuple[Any, ...] = (
    b"\x80\xff\x00\xfe",
    "no such thing \U0001f4a3",
    "{" * 3_000,
    '{"a":[{"parts":{"figures":5}}]}',
    "5",
    -1,
    2**62,
    None,
)


@pytest.fixture
def lock(tmp_path: Path) -> Iterator[ProcessLock]:
    lock = ProcessLock(tmp_path)
    yield lock
    lock.release()


def abandoned(owner: User) -> Run:
    """A run of a dead process, which had received text and shown it."""
    run = make_run(make_session(owner))
    exchange = make_exchange(run, [])
    chunk = text_chunk("Half an ans")
    RawChunk.objects.bulk_create([RawChunk(exchange=exchange, seq=0, ms=1.0, body=chunk)])
    RunLog.of(run, 0, ['{"type":"started"}']).save()
    Exchange.objects.filter(pk=exchange.pk).update(ended_at=None)
    Run.objects.filter(pk=run.pk).update(heartbeat_at=timezone.now() - timedelta(minutes=1))
    return run


def damage(run: Run, model: type[models.Model], field: Any, value: Any) -> bool:
    """Writes the value past Django; False where the database refuses it."""
    of_run = {"Run": "id", "Exchange": "run_id", "RunLog": "run_id", "Turn": "run_id"}.get(model.__name__)
    where = (
        f"{of_run} = %s"
        if of_run
        else "exchange_id IN (SELECT id FROM sessions_app_exchange WHERE run_id = %s)"
    )
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            table = model._meta.db_table
            cursor.execute(f'UPDATE {table} SET "{field.column}" = %s WHERE {where}', [value, run.pk])
    except DatabaseError:
        return False
    return True


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("model", [Run, Exchange, RawChunk, RunLog, Turn], ids=lambda model: model.__name__)
def test_every_run_ends_whatever_a_column_of_one_holds(
    alice: User, lock: ProcessLock, model: type[models.Model]
) -> None:
    survived = 0
    with connection.constraint_checks_disabled():
        for field in model._meta.concrete_fields:
            if field.name in SURVIVORS:
                continue
            for value in VALUES:
                poisoned = abandoned(alice)
                if not damage(poisoned, model, field, value):
                    Run.objects.filter(pk=poisoned.pk).update(status=Run.Status.FAILED)
                    continue
                innocent = abandoned(alice)
                end_abandoned_runs(lock)
                left = (
                    Run.objects.active()
                    .filter(pk__in=(poisoned.pk, innocent.pk))
                    .values_list("pk", flat=True)
                )
                assert not left, (
                    f"{field.column} = {value!r}: {'innocent' if innocent.pk in left else 'poisoned'}"
                )
                assert innocent.turns.filter(kind="model_response", text="Half an ans").exists()
                survived += 1
    assert survived > 5
