"""A session that is erased while its run goes on: the run ends, and nothing is reported as a fault."""

import logging
import uuid

import pytest

from sessions_app.models import Blob, Run, Session
from sessions_app.models.turn_values import content_cache
from sessions_app.runs.runner import Runner
from tests.runs.running import send


async def test_a_session_that_is_erased_while_its_history_is_read_ends_its_run(
    session: Session, runner: Runner, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    await send(runner, session, "One")
    await runner.drain()
    read = Blob.objects.in_bulk

    def erase_first(keys: list[int]) -> dict[int, Blob]:
        Session.objects.get(pk=session.pk).erase()
        return read(keys)

    content_cache.clear()
    monkeypatch.setattr(Blob.objects, "in_bulk", erase_first)
    caplog.clear()
    await runner.send(session.pk, uuid.uuid4(), "Two")
    await runner.drain()
    reported = [record.msg for record in caplog.records if record.levelno > logging.INFO]
    assert [(line["event"], line["kind"]) for line in reported if isinstance(line, dict)] == [
        ("run_failed", "HistoryGone")
    ]
    assert len(reported) == 1
    assert not await Run.objects.aexists()
