"""Waking those who wait for events."""

import asyncio

import pytest

from sessions_app.runs.run_streams import Broadcast


async def test_who_is_served_where_the_news_is_sleeps_on() -> None:
    broadcast, served = Broadcast(), list[int]()
    answers = iter([True, True, False])

    def serve() -> bool:
        served.append(1)
        return next(answers)

    waiting = asyncio.create_task(broadcast.wait(serve))
    await asyncio.sleep(0)
    for _ in range(2):
        broadcast.wake_all()
        await asyncio.sleep(0)
        assert not waiting.done()
    broadcast.wake_all()
    # It has news already, and is not asked again before it has taken them.
    broadcast.wake_all()
    await waiting
    assert len(served) == 3


async def test_an_error_of_a_viewer_is_raised_where_that_viewer_waits() -> None:
    broadcast = Broadcast()

    def broken() -> bool:
        raise OSError

    bad, good = asyncio.create_task(broadcast.wait(broken)), asyncio.create_task(broadcast.wait())
    await asyncio.sleep(0)
    broadcast.wake_all()
    await good
    with pytest.raises(OSError):
        await bad
