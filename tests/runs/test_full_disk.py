"""A full disk: nothing is lost, and everybody is told. SQLite's own limit of pages stands for the disk."""

import errno
import sqlite3
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db import DatabaseError, InterfaceError, OperationalError, connection
from django.http import HttpRequest
from django.test import Client, RequestFactory

from sessions_app.chat.storage_refusals import StorageRefusalsMiddleware
from sessions_app.errors import StorageFull, WorkspaceError
from sessions_app.gemini.event_stream import StreamChunk
from sessions_app.metrics import ERRORS, UNEXPECTED
from sessions_app.models import RawChunk, Run, RunLog, Session, Turn
from sessions_app.prompt.wire import loads
from sessions_app.runs import run_end
from sessions_app.runs.runner import Runner
from sessions_app.runs.tool_rounds import ToolRound
from sessions_app.runs.writer import Writer, commit
from sessions_app.storage_errors import is_full, is_temporary, storage_refusals_raised
from sessions_app.workspace import Workspace
from tests.chat.sockets import connected
from tests.factories import make_exchange, make_run, make_session
from tests.prompt.examples import call
from tests.runs.hops import answer, done
from tests.runs.running import send, until

on_sqlite = pytest.mark.skipif(connection.vendor != "sqlite", reason="SQLite's limit of pages")
LONG = "word " * 19_000
PAGES = 2**31 - 2


def set_page_limit(pages: int | None = None) -> None:
    """Of this thread's connection; by default what the database has."""
    with connection.cursor() as cursor:
        if pages is None:
            cursor.execute("VACUUM")
            cursor.execute("PRAGMA page_count")
            (pages,) = cursor.fetchone()
        cursor.execute(f"PRAGMA max_page_count = {pages}")


@contextmanager
def full_disk() -> Iterator[None]:
    set_page_limit()
    try:
        yield
    finally:
        set_page_limit(PAGES)


def database_error(code: int, kind: type[DatabaseError] = OperationalError) -> DatabaseError:
    cause = sqlite3.OperationalError("told by SQLite")
    cause.sqlite_errorcode = code
    error = kind("told by Django")
    error.__cause__ = cause
    return error


def told_by_postgres(sqlstate: str) -> DatabaseError:
    error = OperationalError("told by Django")
    error.__cause__ = type("Told", (Exception,), {"sqlstate": sqlstate})()
    return error


@pytest.mark.parametrize(
    ("error", "full", "temporary"),
    [
        (database_error(sqlite3.SQLITE_FULL), True, True),
        (database_error(sqlite3.SQLITE_IOERR_SHMSIZE), True, True),
        (database_error(sqlite3.SQLITE_BUSY), False, True),
        (database_error(sqlite3.SQLITE_BUSY_SNAPSHOT), False, True),
        (database_error(sqlite3.SQLITE_ERROR), False, False),
        (told_by_postgres("53100"), True, True),
        (told_by_postgres("08006"), False, True),
        (InterfaceError("connection already closed"), False, True),
        (DatabaseError("integer out of range"), False, False),
        (OSError(errno.ENOSPC, "No space left on device"), True, False),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), True, False),
        (OSError(errno.EACCES, "Permission denied"), False, False),
        (ValueError("depth"), False, False),
    ],
    ids=str,
)
def test_what_an_error_says_about_the_storage(error: Exception, full: bool, temporary: bool) -> None:
    assert (is_full(error), is_temporary(error)) == (full, temporary)
    with pytest.raises(StorageFull if full else type(error)), storage_refusals_raised():
        raise error


@on_sqlite
@pytest.mark.django_db(transaction=True)
def test_a_text_that_is_no_text_is_no_trouble_of_the_database(alice: User) -> None:
    session = make_session(alice)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE sessions_app_session SET purpose = CAST(x'80ff' AS TEXT)")
    with pytest.raises(OperationalError) as caught:
        session.refresh_from_db()
    assert not is_temporary(caught.value)


@on_sqlite
@pytest.mark.django_db(transaction=True)
def test_a_form_is_answered_with_507_and_saves_nothing(client: Client, alice: User) -> None:
    client.get("/")
    before = Session.objects.count()
    with full_disk():
        answers = [
            client.post("/new", {"model": "gemini-3-flash-preview", "purpose": LONG}, headers=headers)
            for headers in ({}, {"Sec-Fetch-Mode": "cors"})
        ]
    page, told = answers
    assert [answer.status_code for answer in answers] == [507, 507]
    assert "disk is full" in page.content.decode() and "disk is full" in told.json()["message"]
    assert Session.objects.count() == before


def test_a_file_that_finds_no_room_is_answered_alike_and_others_are_left_alone() -> None:
    request: HttpRequest = RequestFactory().post("/", headers={"Sec-Fetch-Mode": "cors"})
    middleware: Any = StorageRefusalsMiddleware(lambda _: None)  # type: ignore[arg-type]
    assert middleware.process_exception(request, OSError(errno.ENOSPC, "")).status_code == 507
    assert middleware.process_exception(request, StorageFull()).status_code == 507
    assert middleware.process_exception(request, OSError(errno.EACCES, "")) is None


def test_a_workspace_without_room_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = Workspace(tmp_path)
    workspace.write_text("plan.md", "old")

    def refuse(code: int) -> Callable[..., None]:
        def broken(*_: object) -> None:
            raise OSError(code, "told by the system")

        return broken

    for code, kind in (
        (errno.ENOSPC, StorageFull),
        (errno.EDQUOT, StorageFull),
        (errno.EACCES, WorkspaceError),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(Path, "replace", refuse(code))
            with pytest.raises(kind):
                workspace.write_text("plan.md", "new")
    assert workspace.read_text("plan.md") == "old"


@on_sqlite
async def test_the_socket_tells_it_at_the_message_and_stays(
    runner: Runner, session: Session, alice: User
) -> None:
    socket = await connected(runner, session, alice)
    await sync_to_async(set_page_limit)()
    client_id = uuid.uuid4()
    await socket.send_command(type="send", client_id=client_id, text=LONG)
    (refused,) = await socket.receive_until("refused")
    assert refused["client_id"] == str(client_id) and "disk is full" in refused["message"]
    await sync_to_async(set_page_limit)(PAGES)
    assert not await Run.objects.aexists() and not await Turn.objects.aexists()
    await socket.send_command(type="send", client_id=client_id, text=LONG)
    assert (await socket.receive_until("finished"))[-1]["status"] == "completed"
    await socket.disconnect()
    await runner.drain()


async def test_an_answer_waits_for_room_and_loses_nothing(
    runner: Runner, session: Session, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(run_end, "RETRY_SECONDS", 0.02)
    monkeypatch.setattr("sessions_app.runs.writer.RETRY_SECONDS", 0.02)
    is_full_now = [False]

    def committing(chunks: Any, events: Any, attempts: Any) -> None:
        is_full_now[0] = is_full_now[0] or bool(chunks)
        if is_full_now[0]:
            raise database_error(sqlite3.SQLITE_FULL)
        commit(chunks, events, attempts)

    monkeypatch.setattr("sessions_app.runs.writer.commit", committing)
    public = await send(runner, session, "Hello")
    (live,) = runner.live_runs.values()

    async def is_told() -> bool:
        return any("disk is full" in wire for wire in live.wires)

    await until(is_told)
    assert (await Run.objects.aget(public=public)).is_active
    monkeypatch.setattr("sessions_app.runs.writer.commit", commit)
    await runner.drain()
    run = await Run.objects.aget(public=public)
    assert run.status == Run.Status.COMPLETED and not run.error
    answer = await Turn.objects.aget(run=run, kind="model_response")
    folded = [loads(bytes(chunk.body)) async for chunk in RawChunk.objects.filter(exchange__run=run)]
    assert answer.text and not answer.cut and len(folded) > 1
    logs = [row async for row in RunLog.objects.filter(run=run).order_by("seq_from")]
    events = [orjson.loads(wire) for row in logs for wire in row.wires]
    assert [event["seq"] for event in events] == list(range(len(events)))
    assert events[-1]["type"] == "finished"


@pytest.fixture
async def writer(transactional_db: None) -> Any:
    writer = Writer()
    yield writer
    await writer.close()


async def test_a_row_that_cannot_be_stored_keeps_no_other_from_it(
    writer: Writer, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = [await sync_to_async(lambda: make_run(make_session(alice)))() for _ in range(2)]
    append = RawChunk.objects.append

    def refusing(rows: Any) -> None:
        if any(body == b"bad" for *_, body in rows):
            raise DatabaseError("string or blob too big")
        append(rows)

    monkeypatch.setattr(RawChunk.objects, "append", refusing)
    exchanges = [await sync_to_async(make_exchange)(run, []) for run in (bad, good)]
    for exchange, bodies in zip(exchanges, ([b"{}", b"bad", b"{}"], [b"{}", b"{}"]), strict=True):
        for seq, body in enumerate(bodies):
            writer.add_chunk(exchange.pk, StreamChunk(seq, 1.0, body))
    writer.add_event(bad, 0, "\ud800")
    writer.add_event(good, 0, '"a"')
    await writer.flush()
    assert writer.lag == 0
    stored = [[chunk.seq async for chunk in exchange.chunks.all()] for exchange in exchanges]
    assert stored == [[0, 2], [0, 1]]
    assert [row.run_id async for row in RunLog.objects.all()] == [good.pk]


async def test_a_flush_that_failed_is_tried_again_without_another_row(
    writer: Writer, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions_app.runs.writer.RETRY_SECONDS", 0.02)
    run = await sync_to_async(make_run)(session)
    writer.add_event(run, 0, '"a"')

    def broken(*_: object) -> None:
        raise database_error(sqlite3.SQLITE_FULL)

    with monkeypatch.context() as patch:
        patch.setattr("sessions_app.runs.writer.commit", broken)
        with pytest.raises(OperationalError):
            await writer.flush()
    await until(RunLog.objects.filter(run=run).aexists)


async def test_a_disk_that_is_full_inside_a_round_of_tools_is_told_as_such(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def finish(*_: Any) -> dict[str, Any]:
        raise database_error(sqlite3.SQLITE_FULL)

    monkeypatch.setattr(ToolRound, "finish", finish)
    counted = {kind: ERRORS.labels(kind=kind)._value.get() for kind in ("StorageFull", UNEXPECTED)}
    run, _, events = await answer(session, [done(call("current_time"), call("current_time"))])
    assert (run.status, run.error["kind"]) == (Run.Status.FAILED, "StorageFull")
    assert ERRORS.labels(kind="StorageFull")._value.get() == counted["StorageFull"] + 1
    assert ERRORS.labels(kind=UNEXPECTED)._value.get() == counted[UNEXPECTED]
    assert events[-1]["status"] == "failed"
