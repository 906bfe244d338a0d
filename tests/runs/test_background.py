"""Tasks that do not end, rows that keep no other from being read, and logs that do not repeat themselves."""

import asyncio
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection

from sessions_app.models import Session
from sessions_app.runs import background
from sessions_app.runs.background import BackgroundTask, is_set_within, isolated, readable, unbroken
from tests.factories import make_session


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1_000.0]
    monkeypatch.setattr(background, "monotonic", lambda: now[0])
    return now


def lines(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [record.msg for record in caplog.records if isinstance(record.msg, dict)]


def fail(error: type[Exception], **row: object) -> None:
    with isolated("failed", **row):
        raise error


def test_an_error_that_comes_with_every_beat_is_logged_at_growing_intervals(
    clock: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    times: list[float] = []
    for _ in range(2_000):
        fail(TypeError, run=1)
        times += [clock[0]] * (len(lines(caplog)) - len(times))
        clock[0] += 4
    assert [round(time - 1_000) for time in times] == [0, 12, 32, 72, 152, 312, 632, 1272, 2552, 5112]
    assert lines(caplog)[3]["repeats"] == 9


def test_another_row_another_error_and_one_that_comes_back_are_logged_at_once(
    clock: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    for error, row in ((TypeError, 1), (TypeError, 1), (TypeError, 2), (ValueError, 2), (ValueError, 2)):
        fail(error, run=row)
    assert len(lines(caplog)) == 3
    clock[0] += 60
    fail(ValueError, run=2)
    assert len(lines(caplog)) == 4 and "repeats" not in lines(caplog)[3]


@pytest.mark.parametrize("steps", range(6))
async def test_a_task_is_cancelled_also_at_the_moment_that_it_waited_for(steps: int) -> None:
    event = asyncio.Event()

    async def work() -> None:
        while True:
            await is_set_within(event, 60)
            event.clear()

    task = asyncio.create_task(work())
    await asyncio.sleep(0.01)
    event.set()
    for _ in range(steps):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task], timeout=1)
    assert task.cancelled()


async def test_an_event_that_does_not_come_is_waited_for_no_longer() -> None:
    assert not await is_set_within(asyncio.Event(), 0.01)


@pytest.mark.parametrize("error", [KeyError, asyncio.CancelledError])
async def test_a_task_that_is_ended_by_an_error_begins_again(
    error: type[BaseException], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(background, "RESTART_SECONDS", 0)
    begun = asyncio.Event()
    starts = 0

    async def work() -> None:
        nonlocal starts
        starts += 1
        if starts < 3:
            raise error
        begun.set()
        await asyncio.sleep(60)

    task = BackgroundTask("work_ended", work)
    task.start()
    await asyncio.wait_for(begun.wait(), 60)
    assert lines(caplog)[0]["event"] == "work_ended"
    await task.stop()
    assert starts == 3


async def test_a_task_whose_work_is_done_is_not_begun_again() -> None:
    before, done = asyncio.all_tasks(), asyncio.Event()

    async def work() -> None:
        assert not done.is_set()
        done.set()

    task = BackgroundTask("work_ended", work)
    task.start()
    (begun,) = asyncio.all_tasks() - before
    await asyncio.wait_for(begun, 60)
    assert done.is_set()
    await task.stop()


async def test_a_task_begins_once_and_leaves_nothing_when_it_is_stopped() -> None:
    before, starts, ends = asyncio.all_tasks(), 0, 0

    async def work() -> None:
        nonlocal starts, ends
        starts += 1
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)
            ends += 1

    task = BackgroundTask("work_ended", work)
    await task.stop()
    for _ in range(2):
        task.start()
        await asyncio.sleep(0.01)
    for _ in range(2):
        await task.stop()
        assert (starts, ends) == (1, 1) and asyncio.all_tasks() == before


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL keeps the types of its columns")
def test_a_row_that_cannot_be_read_keeps_no_other_from_it(
    alice: User, caplog: pytest.LogCaptureFixture
) -> None:
    sessions = [make_session(alice) for _ in range(3)]
    with connection.cursor() as cursor:
        cursor.execute("UPDATE sessions_app_session SET public = 'no id' WHERE id = %s", [sessions[1].pk])
    found = readable(Session.objects.order_by("pk"), "not_read")
    assert found == [sessions[0], sessions[2]]
    assert [line.get("row") for line in lines(caplog)] == [None, sessions[1].pk]


@pytest.mark.parametrize("is_waited_for", [True, False])
def test_an_error_is_logged_when_nobody_waits_for_the_work_any_more(
    clock: list[float], caplog: pytest.LogCaptureFixture, is_waited_for: bool
) -> None:
    async def check() -> None:
        goes_on = asyncio.Event()

        @unbroken
        async def work() -> None:
            await goes_on.wait()
            raise TypeError

        waiting = asyncio.ensure_future(work())
        await asyncio.sleep(0)
        if not is_waited_for:
            waiting.cancel()
            await asyncio.wait({waiting})
        goes_on.set()
        await asyncio.wait({waiting})
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        if is_waited_for:
            assert isinstance(waiting.exception(), TypeError)

    background.repeats.clear()
    asyncio.run(check())
    events = [line["event"] for line in lines(caplog)]
    assert events == ([] if is_waited_for else ["unattended_work_failed"])
