"""A server on SQLite that ends in the middle of an answer: what the reader was told, and what is kept."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

import pytest

from tests.deployment.visitor import is_gapless
from tests.server import Server
from tests.visitors import Watcher, new_session, signed_in

pytestmark = pytest.mark.slow

LOST_SECONDS = 2.0
"""What a kill may cost at most here: a flush of 0.15 s, and on a busy machine the way to the disk."""

SCAN_SECONDS = 30.0
"""Until a server that starts has ended the runs of a dead one."""

PIECES = 60
"""Pieces of the answer before the server ends; it has about a hundred."""


class Kept(NamedTuple):
    status: str
    text: str


def kept(folder: Path, run: str) -> Kept:
    """What the database has of a run; the text is that of its cut turn."""
    with closing(sqlite3.connect(folder / "pipeweb.sqlite3")) as database:
        key, status = database.execute(
            "SELECT id, status FROM sessions_app_run WHERE public = ?", [UUID(run).hex]
        ).fetchone()
        turns = "SELECT text FROM sessions_app_turn WHERE run_id = ? AND cut"
        texts = [text for (text,) in database.execute(turns, [key])]
    return Kept(status, "".join(texts))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of all servers here: only the first start takes its time."""
    return tmp_path_factory.mktemp("data")


async def begun(reader: Watcher) -> str:
    """An answer that is under way; its run."""
    await reader.send("/slow please")
    run = str((await reader.hear("started"))["run"])
    await reader.hear("delta", PIECES)
    return run


async def test_a_server_that_is_told_to_end_says_so_and_keeps_what_was_read(folder: Path) -> None:
    with Server(folder) as server, signed_in(server) as person:
        async with Watcher(server, person, new_session(person)) as reader:
            run = await begun(reader)
            server.process.terminate()
            assert (await reader.hear("finished"))["status"] == "interrupted"
        assert server.process.wait(60) == 0
    assert is_gapless(reader.told_of(run), first=0)
    assert kept(folder, run) == Kept("interrupted", reader.text_of(run))


async def test_a_server_that_is_killed_loses_the_last_moment_and_the_next_one_ends_its_run(
    folder: Path,
) -> None:
    with Server(folder) as server, signed_in(server) as person:
        session = new_session(person)
        async with Watcher(server, person, session) as reader:
            run = await begun(reader)
            killed = time.monotonic()
            server.process.kill()
            server.process.wait()
    assert kept(folder, run) == Kept("running", "")
    with Server(folder):
        found = ended(folder, run)
    assert found.status == "interrupted"
    assert reader.text_of(run).startswith(found.text)
    read_before = reader.text_until(killed - LOST_SECONDS)
    assert read_before and found.text.startswith(read_before)


def ended(folder: Path, run: str) -> Kept:
    """A run once it is over, or what it is when the time for that is over."""
    deadline = time.monotonic() + SCAN_SECONDS
    while (found := kept(folder, run)).status == "running" and time.monotonic() < deadline:
        time.sleep(0.05)
    return found
