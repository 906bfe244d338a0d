"""PostgreSQL ends every connection of both processes: each is replaced, and no answer notices."""

import asyncio
import time

from tests.deployment.postgres import Database
from tests.deployment.site import Site
from tests.deployment.test_streams import begun
from tests.deployment.visitor import Visitor, is_gapless

LIMIT = 12.0
"""Seconds in which a run ends that nobody watches."""

STOP_LIMIT = 6.0

CHUNKS = """
SELECT exchange.id, chunk.seq FROM sessions_app_rawchunk chunk
JOIN sessions_app_exchange exchange ON exchange.id = chunk.exchange_id
JOIN sessions_app_run run ON run.id = exchange.run_id WHERE run.public = %s ORDER BY 1, 2
"""
ANSWER = """
SELECT turn.text FROM sessions_app_turn turn JOIN sessions_app_run run ON run.id = turn.run_id
WHERE run.public = %s AND turn.kind = 'model_response'
"""
STATUS = "SELECT status FROM sessions_app_run WHERE public = %s"


def assert_all_chunks_are_stored_once(database: Database, run: str) -> None:
    stored = database.rows(CHUNKS, run)
    assert len({exchange for exchange, _ in stored}) == 1
    assert [seq for _, seq in stored] == list(range(len(stored)))
    assert len(stored) > 20


async def status_of(database: Database, run: str) -> str:
    """The status in which the run ends, or has after the limit."""
    deadline = time.monotonic() + LIMIT
    while (status := str(database.rows(STATUS, run)[0][0])) in ("queued", "running"):
        if time.monotonic() > deadline:
            break
        await asyncio.sleep(0.1)
    return status


async def end_connections(database: Database) -> None:
    """As soon as there are some: a process connects again with its next piece of work."""
    deadline = time.monotonic() + LIMIT
    while not database.terminate_connections():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.05)


async def test_a_viewer_of_an_answer_gets_all_of_it(site: Site, visitor: Visitor) -> None:
    session = visitor.new_session()
    async with visitor.reader(session, 0) as reader:
        run = await begun(reader)
        for _ in range(5):
            await end_connections(site.database)
            await reader.hear("delta", len(reader.of("delta")) + 2)
        assert (await reader.hear("finished"))["status"] == "completed"
        assert is_gapless(reader.told_of(run), first=0)
        assert site.database.rows(ANSWER, run) == [(reader.text_of(run),)]
    assert_all_chunks_are_stored_once(site.database, run)


async def test_an_answer_without_a_viewer_is_completed(site: Site, visitor: Visitor) -> None:
    session = visitor.new_session()
    async with visitor.reader(session, 0) as reader:
        run = await begun(reader)
    await end_connections(site.database)
    assert await status_of(site.database, run) == "completed"
    assert_all_chunks_are_stored_once(site.database, run)


async def test_idle_processes_answer_the_next_page_and_the_next_message(site: Site, visitor: Visitor) -> None:
    session = visitor.new_session()
    async with visitor.reader(session, 0) as reader:
        await reader.send("Hello")
        await reader.hear("finished")
        await end_connections(site.database)
        await reader.send("Are you there?")
        assert (await reader.hear("finished", 2))["status"] == "completed"
    await end_connections(site.database)
    async with visitor.reader(session, 0) as reader:
        await reader.send("And now?")
        assert (await reader.hear("finished"))["status"] == "completed"
    await end_connections(site.database)
    assert visitor.get(f"/s/{session}/").status_code == 200
    assert "never retrieved" not in site.logs


async def test_a_database_that_is_read_only_for_a_while_loses_no_answer(site: Site, visitor: Visitor) -> None:
    session, other = visitor.new_session(), visitor.new_session()
    async with visitor.reader(session, 0) as reader, visitor.reader(other, 1) as waiting:
        run = await begun(reader)
        with site.database.read_only():
            await waiting.send("Are you there?")
            # A connection that had been ended fails once: the page would send it again.
            refused = await waiting.hear("refused")
            assert "takes no changes" in refused["message"]
            assert visitor.get(f"/s/{session}/").status_code == 200
            assert visitor.post("/new", quick="1").status_code == 507
            await asyncio.sleep(3)
            assert len(reader.of("delta")) > 3 and not reader.of("finished")
        assert (await reader.hear("finished"))["status"] == "completed"
        assert is_gapless(reader.told_of(run), first=0)
        assert site.database.rows(ANSWER, run) == [(reader.text_of(run),)]
        await waiting.send("And now?")
        assert (await waiting.hear("finished"))["status"] == "completed"
    assert_all_chunks_are_stored_once(site.database, run)


def test_pages_say_that_the_database_is_away_until_it_is_back(site: Site, visitor: Visitor) -> None:
    session = visitor.new_session()
    with site.database.gone():
        found = [visitor.get(path) for path in ("/", f"/s/{session}/", "/sign-in")]
        found.append(visitor.post("/new", quick="1"))
        assert [answer.status_code for answer in found] == [503] * 4
        assert all(answer.headers["Retry-After"] for answer in found)
    assert visitor.get(f"/s/{session}/").status_code == 200


async def test_a_stop_through_the_other_process_ends_an_answer_without_a_viewer(
    site: Site, visitor: Visitor
) -> None:
    session = visitor.new_session()
    async with visitor.reader(session, 0) as first:
        run = await begun(first)
    async with visitor.reader(session, 1) as second:
        await second.hear("delta")
        await end_connections(site.database)
        asked = time.monotonic()
        await second.tell(type="stop", run=run)
        assert (await second.hear("finished"))["status"] == "stopped"
        assert time.monotonic() - asked < STOP_LIMIT
    assert await status_of(site.database, run) == "stopped"
