"""Database work of background tasks begins with a connection that works."""

import ast
import asyncio
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from threading import Event

import pytest
from django.contrib.auth.models import User
from django.db import Error, connections, transaction
from django.db.models import Model, QuerySet

from sessions_app.database import SIDE_BY_SIDE, THREADS, close_unusable_connections, database_sync_to_async
from tests.task_threads import PATIENCE, close_task_connections, in_each_task_thread

APP = Path(__file__).parents[1] / "sessions_app"


def lose(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ends the connection of this thread, as a server does that restarts."""
    connection = connections["default"]
    connection.ensure_connection()
    lost = connection.connection
    assert lost is not None
    monkeypatch.setattr(connection, "is_usable", lambda: connection.connection is not lost)
    lost.close()


@pytest.fixture(autouse=True)
def connections_closed_after() -> Iterator[None]:
    """No other test begins with one that was lost."""
    yield
    close_task_connections()


@pytest.mark.django_db(transaction=True)
async def test_a_lost_connection_is_replaced_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    await asyncio.to_thread(in_each_task_thread, partial(lose, monkeypatch))
    assert await database_sync_to_async(User.objects.count)() == 0


@pytest.mark.django_db(transaction=True)
async def test_a_connection_that_was_lost_in_the_work_is_replaced_before_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def work() -> None:
        User.objects.count()
        lose(monkeypatch)
        User.objects.count()

    with pytest.raises(Error):
        await database_sync_to_async(work)()
    assert {await database_sync_to_async(User.objects.count)() for _ in range(3 * THREADS)} == {0}


@pytest.mark.django_db
def test_a_transaction_keeps_its_connection(alice: User) -> None:
    connection = connections["default"]
    held, connection.errors_occurred = connection.connection, True
    close_unusable_connections()
    assert connection.connection is held and User.objects.get() == alice


@pytest.mark.django_db(transaction=True)
async def test_connections_that_work_are_kept_for_the_next_pieces_of_work() -> None:
    def connected() -> object:
        connections["default"].ensure_connection()
        return connections["default"].connection

    used = [await database_sync_to_async(connected)() for _ in range(3 * THREADS)]
    assert len(set(map(id, used))) <= (THREADS if SIDE_BY_SIDE else 1)


@pytest.mark.skipif(SIDE_BY_SIDE is None, reason="SQLite has one thread for the work of tasks")
@pytest.mark.django_db(transaction=True)
async def test_pieces_of_work_run_side_by_side_on_postgresql(alice: User) -> None:
    """One that waits for a row holds no other up."""
    is_held, is_done = Event(), Event()

    def hold() -> None:
        with transaction.atomic():
            User.objects.select_for_update().get(pk=alice.pk)
            is_held.set()
            assert is_done.wait(PATIENCE)

    def find() -> User:
        assert is_held.wait(PATIENCE)
        found = User.objects.get(pk=alice.pk)
        is_done.set()
        return found

    _, found = await asyncio.gather(database_sync_to_async(hold)(), database_sync_to_async(find)())
    assert found == alice


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("error", [None, ValueError("the work failed")])
async def test_a_cancelled_task_goes_on_after_the_work_it_had_begun(error: Exception | None) -> None:
    has_begun, may_end, order = Event(), Event(), list[str]()

    def work() -> None:
        has_begun.set()
        assert may_end.wait(PATIENCE)
        order.append("work")
        if error:
            raise error

    async def run() -> None:
        try:
            await database_sync_to_async(work)()
        finally:
            await database_sync_to_async(order.append)("end")

    task = asyncio.create_task(run())
    await asyncio.to_thread(has_begun.wait, PATIENCE)
    # With SQLite a second time would cancel the next piece.
    for _ in range(3 if SIDE_BY_SIDE else 1):
        task.cancel()
        await asyncio.sleep(0.01)
    assert not order
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert order == ["work", "end"]


ASYNCHRONOUS = {
    name
    for owner in (QuerySet, Model)
    for name in dir(owner)
    if name.startswith("a") and hasattr(owner, name[1:])
}
"""`aget`, `afirst`, …: they run in the thread of `sync_to_async` and look at no connection."""


def breaches(tree: ast.AST) -> Iterator[int]:
    """Lines that reach the database around `database_sync_to_async`."""
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module="asgiref.sync", names=names):
                if any(alias.name == "sync_to_async" for alias in names):
                    yield node.lineno
            case ast.Attribute(attr=name) if name in ASYNCHRONOUS:
                yield node.lineno
            case ast.comprehension(is_async=1, iter=source) | ast.AsyncFor(iter=source):
                if ".objects." in ast.unparse(source):
                    yield source.lineno


def test_no_task_reaches_the_database_on_another_way() -> None:
    known = APP / "database.py"
    found = {
        f"{path.relative_to(APP)}:{line}"
        for path in APP.rglob("*.py")
        if path != known
        for line in breaches(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert not found


@pytest.mark.parametrize(
    "line",
    [
        "from asgiref.sync import async_to_sync, sync_to_async",
        "await runs.aupdate(stop_requested=True)",
        "[row async for row in Run.objects.all()]",
    ],
)
def test_each_other_way_is_seen(line: str) -> None:
    assert list(breaches(ast.parse(line)))
