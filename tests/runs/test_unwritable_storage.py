"""Storage that can only be read, or is away for a moment: people are told, and no log has a traceback."""

import asyncio
import errno
import sqlite3
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db import DatabaseError, InternalError, OperationalError
from django.http import HttpRequest
from django.test import RequestFactory

from sessions_app.chat.consumers import BROKEN
from sessions_app.chat.storage_refusals import StorageRefusalsMiddleware
from sessions_app.errors import StorageReadOnly
from sessions_app.gemini.event_stream import StreamChunk
from sessions_app.models import QueuedMessage, RawChunk, Run, Session, Turn
from sessions_app.runs import first_request, run_end
from sessions_app.runs.runner import Runner
from sessions_app.runs.writer import Writer
from sessions_app.storage_errors import is_read_only, is_temporary, storage_refusals_raised
from tests.chat.sockets import connected
from tests.factories import make_exchange, make_run
from tests.runs.running import send
from tests.runs.test_full_disk import database_error


def told_by_postgres(sqlstate: str, kind: type[DatabaseError]) -> DatabaseError:
    error = kind("told by Django")
    error.__cause__ = type("Told", (Exception,), {"sqlstate": sqlstate})()
    return error


READ_ONLY = told_by_postgres("25006", InternalError)
AWAY = told_by_postgres("57P01", OperationalError)


def raising(error: Exception) -> Callable[..., Any]:
    def broken(*_: object, **__: object) -> None:
        raise error

    return broken


def tracebacks(caplog: pytest.LogCaptureFixture) -> list[Any]:
    return [record.msg for record in caplog.records if record.exc_info]


@pytest.mark.parametrize(
    "error",
    [
        READ_ONLY,
        database_error(sqlite3.SQLITE_READONLY),
        database_error(sqlite3.SQLITE_READONLY_DIRECTORY),
        database_error(sqlite3.SQLITE_IOERR_WRITE),
    ],
    ids=str,
)
def test_a_database_that_takes_no_changes_may_take_them_later(error: DatabaseError) -> None:
    assert is_read_only(error) and is_temporary(error)
    with pytest.raises(StorageReadOnly), storage_refusals_raised():
        raise error


@pytest.mark.parametrize(
    "error", [AWAY, database_error(sqlite3.SQLITE_IOERR_READ), told_by_postgres("XX001", InternalError)]
)
def test_other_errors_do_not_say_so(error: DatabaseError) -> None:
    assert not is_read_only(error)


async def test_what_a_read_only_database_refuses_is_kept_for_later(
    session: Session, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """psycopg tells of it by an InternalError, of which rows were dropped."""
    writer = Writer()
    exchange = await sync_to_async(lambda: make_exchange(make_run(session), []))()
    with monkeypatch.context() as patch:
        patch.setattr(RawChunk.objects, "append", raising(READ_ONLY))
        writer.add_chunk(exchange.pk, StreamChunk(0, 1.0, b"{}"))
        with pytest.raises(InternalError):
            await writer.flush()
    await writer.flush()
    assert await exchange.chunks.acount() == 1 and not tracebacks(caplog)
    await writer.close()


@pytest.mark.parametrize(
    "error", [READ_ONLY, OSError(errno.EROFS, "Read-only file system"), StorageReadOnly()], ids=str
)
def test_a_form_is_answered_with_507(error: Exception) -> None:
    request: HttpRequest = RequestFactory().post("/", headers={"Sec-Fetch-Mode": "cors"})
    middleware: Any = StorageRefusalsMiddleware(lambda _: None)  # type: ignore[arg-type]
    told = middleware.process_exception(request, error)
    assert told.status_code == 507 and b"takes no changes" in told.content


def test_a_database_that_is_away_is_a_page_without_it(caplog: pytest.LogCaptureFixture) -> None:
    """No database is allowed here."""
    middleware: Any = StorageRefusalsMiddleware(lambda _: None)  # type: ignore[arg-type]
    told = middleware.process_exception(RequestFactory().get("/"), AWAY)
    assert (told.status_code, told["Retry-After"]) == (503, "5") and b"<h1>" in told.content
    assert not tracebacks(caplog)


async def test_the_socket_says_that_the_storage_is_read_only_and_stays(
    runner: Runner, session: Session, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    socket = await connected(runner, session, alice)
    client_id = uuid.uuid4()
    with monkeypatch.context() as patch:
        patch.setattr("sessions_app.runs.runner.create_run", raising(READ_ONLY))
        await socket.send_command(type="send", client_id=client_id, text="Hello")
        (refused,) = await socket.receive_until("refused")
    assert refused["client_id"] == str(client_id) and "takes no changes" in refused["message"]
    await socket.send_command(type="send", client_id=client_id, text="Hello")
    assert (await socket.receive_until("finished"))[-1]["status"] == "completed"
    await socket.disconnect()
    await runner.drain()


async def test_a_command_that_meets_no_database_ends_the_socket_for_another_one(
    runner: Runner,
    session: Session,
    alice: User,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The page connects again and sends the message under the same id."""
    socket = await connected(runner, session, alice)
    monkeypatch.setattr("sessions_app.runs.runner.create_run", raising(AWAY))
    await socket.send_command(type="send", client_id=uuid.uuid4(), text="Hello")
    assert await socket.receive_code() == BROKEN
    assert not tracebacks(caplog) and not await Run.objects.aexists()


@pytest.mark.parametrize("error", [database_error(sqlite3.SQLITE_FULL), READ_ONLY, AWAY], ids=str)
async def test_a_run_that_the_storage_ends_has_no_traceback(
    runner: Runner,
    session: Session,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: DatabaseError,
) -> None:
    monkeypatch.setattr(run_end, "RETRY_SECONDS", 0.02)
    monkeypatch.setattr(first_request, "prepare", raising(error))
    public = await send(runner, session, "Hello")
    await runner.drain()
    run = await Run.objects.aget(public=public)
    assert run.status == Run.Status.FAILED and not tracebacks(caplog)
    told = {"StorageFull", "StorageReadOnly"} if error is not AWAY else {"RunError"}
    assert run.error["kind"] in told


async def test_an_answer_is_complete_though_what_follows_cannot_begin(
    runner: Runner, session: Session, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The message goes on waiting, and the poller begins its run."""
    public = await send(runner, session, "Hello")
    await QueuedMessage.objects.acreate(session=session, client_id=uuid.uuid4(), text="Next")
    monkeypatch.setattr("sessions_app.runs.runner.start_following", raising(READ_ONLY))
    await asyncio.wait_for(runner.drain(), 60)
    run = await Run.objects.aget(public=public)
    assert run.status == Run.Status.COMPLETED and await QueuedMessage.objects.aexists()
    assert await Turn.objects.filter(run=run, cut=False, kind="model_response").aexists()
    events = {record.msg["event"] for record in caplog.records if isinstance(record.msg, dict)}
    assert "continue_failed" in events and "run_broke" not in events
