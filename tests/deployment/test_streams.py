"""A run in one process, its readers in the other, and what happens when something dies between them."""

import asyncio
import time

import pytest
from redis import Redis

from sessions_app.runs.processes import GROUP
from tests.deployment.site import Site
from tests.deployment.visitor import Reader, Visitor, is_gapless

LONG = "/long Tell me about the lighthouse"
SECOND_PROCESS_LIMIT = 15.0
"""Seconds until the readers of another process hear that a run has died."""

NOTICE_LIMIT = 10.0
"""Seconds until every process has found a Redis again that was away."""


async def begun(reader: Reader, text: str = LONG) -> str:
    """Sends a message and waits until the answer is under way; the run."""
    await reader.send(text)
    run = str((await reader.hear("started"))["run"])
    await reader.hear("delta", 3)
    return run


async def test_a_reader_of_the_other_process_gets_the_same_events(visitor: Visitor) -> None:
    session = visitor.new_session()
    async with visitor.reader(session, 0) as first, visitor.reader(session, 1) as second:
        run = await begun(first)
        for reader in (first, second):
            assert (await reader.hear("finished"))["status"] == "completed"
        assert first.told_of(run) == second.told_of(run)
        assert is_gapless(second.told_of(run), first=0)
        assert len(second.text_of(run)) > 500


async def test_a_reader_who_joins_late_in_the_other_process_misses_nothing(visitor: Visitor) -> None:
    session = visitor.new_session()
    async with visitor.reader(session, 0) as first:
        run = await begun(first)
        async with visitor.reader(session, 1) as second:
            await second.hear("finished")
            await first.hear("finished")
            assert second.told_of(run) == first.told_of(run)[1:]


async def test_a_reader_through_nginx_gets_the_whole_answer(visitor: Visitor) -> None:
    session = visitor.new_session()
    async with visitor.reader(session) as reader:
        run = await begun(reader)
        assert (await reader.hear("finished"))["status"] == "completed"
        assert is_gapless(reader.told_of(run), first=0)


async def test_a_killed_process_leaves_an_interrupted_run_that_can_be_retried(
    site: Site, visitor: Visitor
) -> None:
    session = visitor.new_session()
    async with visitor.reader(session, 0) as first, visitor.reader(session, 1) as second:
        run = await begun(first)
        await second.hear("delta", 3)
        site.processes[0].kill()
        killed = time.monotonic()
        finished = await second.hear("finished")
        assert (finished["run"], finished["status"]) == (run, "interrupted")
        assert time.monotonic() - killed < SECOND_PROCESS_LIMIT
        assert is_gapless(second.told_of(run), first=0)
        # What the log has is what the reader had, and all of it was in the first reader's page.
        assert first.text_of(run).startswith(second.text_of(run))
    assert f'data-retry="{run}"' in visitor.get(f"/s/{session}/").text
    await assert_a_retry_works(visitor, session, run)


async def assert_a_retry_works(visitor: Visitor, session: str, run: str) -> None:
    async with visitor.reader(session) as page:
        await page.tell(type="retry", client_id="6f1c2c53-9a3e-4a50-8a39-0d6c1ba0a3c1", run=run)
        started = await page.hear("started")
        assert started["retry_of"] == run
        assert (await page.hear("finished"))["status"] == "completed"
        assert is_gapless(page.told_of(started["run"]), first=0)


async def test_a_restarted_redis_costs_no_reader_an_event(site: Site, visitor: Visitor) -> None:
    session = visitor.new_session()
    async with visitor.reader(session, 0) as first, visitor.reader(session, 1) as second:
        run = await begun(first)
        await second.hear("delta", 3)
        await asyncio.to_thread(site.redis.stop)
        heard = len(second.of("delta"))
        await second.hear("delta", heard + 8)
        await asyncio.to_thread(site.redis.start)
        assert (await second.hear("finished"))["status"] == "completed"
        await first.hear("finished")
        assert second.told_of(run) == first.told_of(run)


async def test_notices_are_heard_again_after_redis_was_away(site: Site, visitor: Visitor) -> None:
    session = visitor.new_session()
    async with visitor.reader(session, 0), visitor.reader(session, 1):
        await asyncio.to_thread(site.redis.stop)
        await asyncio.to_thread(site.redis.start)
        assert await asyncio.to_thread(is_heard_by, len(site.processes), site.redis.port)
    assert "never retrieved" not in site.logs


def is_heard_by(count: int, port: int) -> bool:
    """Whether so many processes listen for notices again within the limit."""
    deadline = time.monotonic() + NOTICE_LIMIT
    while listeners(port) < count and time.monotonic() < deadline:
        time.sleep(0.1)
    return listeners(port) == count


def listeners(port: int) -> int:
    """How many processes have subscribed to notices."""
    with Redis(port=port) as client:
        channels = [name for name in client.pubsub_channels() if GROUP.encode() in name]
        return sum(count for _, count in client.pubsub_numsub(*channels)) if channels else 0


async def test_readers_have_no_channel_in_redis_and_leave_without_an_error(
    site: Site, visitor: Visitor
) -> None:
    session, before = visitor.new_session(), len(site.logs)
    with Redis(port=site.redis.port) as client:
        channels = client.pubsub_channels()
        for _ in range(5):
            async with visitor.reader(session, 0) as first, visitor.reader(session, 1) as second:
                await begun(first, "Hello")
                await second.hear("finished")
                assert client.pubsub_channels() == channels
    assert "exception" not in site.logs[before:].lower()


async def test_a_stop_sent_to_the_other_process_ends_the_run(visitor: Visitor) -> None:
    session = visitor.new_session()
    async with visitor.reader(session, 0) as first, visitor.reader(session, 1) as second:
        run = await begun(first)
        await second.tell(type="stop", run=run)
        asked = time.monotonic()
        for reader in (first, second):
            assert (await reader.hear("finished"))["status"] == "stopped"
        assert time.monotonic() - asked < 3
        assert first.text_of(run) == second.text_of(run) != ""


async def test_a_process_that_is_told_to_end_loses_nothing(site: Site, visitor: Visitor) -> None:
    session = visitor.new_session()
    async with visitor.reader(session, 0) as first, visitor.reader(session, 1) as second:
        run = await begun(first)
        await asyncio.to_thread(site.processes[0].stop)
        assert (await second.hear("finished"))["status"] == "interrupted"
        shown = first.text_of(run)
        assert shown and second.text_of(run).startswith(shown)


@pytest.mark.parametrize("process", [0, 1])
async def test_a_message_sent_while_the_other_process_answers_waits_and_is_answered(
    visitor: Visitor, process: int
) -> None:
    session = visitor.new_session()
    async with visitor.reader(session, process) as first, visitor.reader(session, 1 - process) as second:
        await begun(first)
        await second.send("And then?")
        await first.hear("queue")
        for reader in (first, second):
            await reader.hear("finished", 2)
            assert [event["text"] for event in reader.of("started")] == [LONG, "And then?"]
