"""The group commit: what was added is in the rows after a flush, once and in order."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import DatabaseError

from sessions_app.models import Run, RunLog, Session
from sessions_app.runs import writer as module
from sessions_app.runs.writer import Writer, logs_of
from tests.factories import make_run


@pytest.fixture
async def writer(transactional_db: None) -> AsyncIterator[Writer]:
    writer = Writer()
    yield writer
    await writer.close()


def log_of(run: Run) -> list[tuple[int, list[str]]]:
    return [(row.seq_from, row.wires) for row in RunLog.objects.filter(run=run).order_by("seq_from")]


def test_the_events_of_a_run_are_one_row() -> None:
    one, other = Run(pk=1), Run(pk=2)
    rows = logs_of([(one, 3, "a"), (other, 0, "x"), (one, 4, "b")])
    assert [(row.run_id, row.seq_from, row.seq_to, row.wires) for row in rows] == [
        (1, 3, 4, ["a", "b"]),
        (2, 0, 0, ["x"]),
    ]


async def test_a_failed_write_leaves_the_events_in_order_for_the_next(
    writer: Writer, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = await sync_to_async(make_run)(session)
    writer.add_event(run, 0, '"a"')

    def broken(*rows: Any) -> None:
        raise DatabaseError

    with monkeypatch.context() as patch:
        patch.setattr(module, "commit", broken)
        with pytest.raises(DatabaseError):
            await writer.flush()
    assert writer.lag > 0
    writer.add_event(run, 1, '"b"')
    await writer.flush()
    assert await sync_to_async(log_of)(run) == [(0, ['"a"', '"b"'])]
    assert writer.lag == 0


async def test_what_comes_during_a_flush_is_in_the_next(writer: Writer, session: Session) -> None:
    run = await sync_to_async(make_run)(session)
    writer.add_event(run, 0, '"a"')
    flush = asyncio.create_task(writer.flush())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    writer.add_event(run, 1, '"b"')
    await flush
    await writer.flush()
    assert await sync_to_async(log_of)(run) == [(0, ['"a"']), (1, ['"b"'])]
