"""Import jobs: in slices, hidden until complete, cancelled, taken over, refused."""

import asyncio
import errno
import os
import sqlite3
import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.db import OperationalError
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone

from sessions_app.chat import import_slices
from sessions_app.chat.import_slices import SMALLEST_SIZE, Slices
from sessions_app.chat.import_views import import_session
from sessions_app.chat.importer import Importer
from sessions_app.chat.imports import (
    add_job,
    file_of,
    folder,
    jobs_for_this_machine,
    remove_leftovers,
    run_job,
)
from sessions_app.chat.transfer import export_session
from sessions_app.error_codes import ImportProblem
from sessions_app.models import Blob, BlobSlice, ImportJob, Run, Session, Todo, Turn
from sessions_app.models.blob_slice import SLICE
from sessions_app.models.import_job import ATTEMPT_LIMIT, LEASE
from sessions_app.search import find
from tests import factories
from tests.chat.test_transfer import shape


@pytest.fixture
def original(bob: User) -> Session:
    session = factories.make_session(bob, title="Original")
    for _ in range(30):
        factories.play_flight(session)
    session.todos.create(position=1, title="bake")
    return session


@pytest.fixture
def job(alice: User, original: Session, monkeypatch: pytest.MonkeyPatch) -> ImportJob:
    monkeypatch.setattr(import_slices, "FIRST_SIZE", 8)
    monkeypatch.setattr(import_slices, "LARGEST_SIZE", 8)
    return add_job(alice, "talk.json", [export_session(original)])


def at_call(number: int, act: Callable[[], object]) -> Callable[[], bool]:
    """For `is_stopping`, which is asked in every transaction: acts in the one of this number."""
    calls = iter(range(10**6))
    return lambda: next(calls) == number and bool(act())


@pytest.fixture
def after_slice(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, Callable[[], object]], None]:
    """Acts between two transactions, after the one of this number."""

    def plan(number: int, act: Callable[[], object]) -> None:
        calls = iter(range(10**6))
        monkeypatch.setattr(import_slices, "sleep", lambda _: act() if next(calls) == number else None)

    return plan


def disk_full() -> OperationalError:
    error = OperationalError("told by Django")
    error.__cause__ = sqlite3.OperationalError("told by SQLite")
    error.__cause__.sqlite_errorcode = sqlite3.SQLITE_FULL
    return error


def rows_of(user: User) -> dict[str, int]:
    mine: dict[str, Any] = {"session__owner": user}
    return {
        "sessions": Session.objects.filter(owner=user).count(),
        "turns": Turn.objects.filter(**mine).count(),
        "runs": Run.objects.filter(**mine).count(),
        "todos": Todo.objects.filter(**mine).count(),
        "blobs": Blob.objects.filter(owner=user).count(),
    }


def test_a_large_content_is_written_in_slices_and_read_whole(alice: User, bob: User) -> None:
    original = factories.make_session(bob, title="Long")
    long = "word é " * (SLICE // 4)
    factories.answered(original, long, "short")
    transactions: list[int] = []

    def count() -> bool:
        transactions.append(BlobSlice.objects.count())
        return False

    job = add_job(alice, "long.json", [export_session(original)])
    run_job(job.pk, "p", is_stopping=count)
    made = Session.objects.of(alice).get()
    assert max(after - before for before, after in pairwise(transactions)) == 1
    blob = Blob.objects.get(owner=alice, slices__number=0)
    assert blob.slices.count() == -(-blob.size // SLICE)
    assert shape(made) == shape(original)
    read, kept = (Turn.objects.buffered(session.head_id).turns for session in (made, original))
    assert [turn.wire for turn in read] == [turn.wire for turn in kept]


def test_nobody_sees_the_session_before_it_is_complete(job: ImportJob, client: Client, alice: User) -> None:
    seen: list[int] = []

    def look() -> bool:
        half = Session.objects.get(owner=alice)
        seen.append(half.turns.count())
        assert not Session.objects.of(alice).exists()
        assert client.get(half.get_absolute_url()).status_code == 404
        assert not find(alice, "AA100").hits and "Original" not in client.get("/").content.decode()
        return False

    run_job(job.pk, "p", is_stopping=at_call(9, look))
    made = Session.objects.of(alice).get()
    assert 0 < seen[0] < made.turns.count() and find(alice, "AA100").hits
    assert client.get(made.get_absolute_url()).status_code == 200


def test_progress_is_counted(job: ImportJob, alice: User) -> None:
    read: list[tuple[int, int]] = []
    run_job(
        job.pk,
        "p",
        is_stopping=at_call(12, lambda: read.append(ImportJob.objects.values_list("done", "total").get())),
    )
    (done, total), after = read[0], ImportJob.objects.get(pk=job.pk)
    assert 0 < done < total == after.done == after.total and after.percent == 100


def test_a_cancelled_import_leaves_nothing(job: ImportJob, alice: User, after_slice: Any) -> None:
    before, half = rows_of(alice), {}

    def cancel() -> None:
        half.update(rows_of(alice))
        ImportJob.objects.update(cancel_requested=True)

    after_slice(10, cancel)
    run_job(job.pk, "p")
    assert half["turns"] and half["runs"]
    assert rows_of(alice) == before and not ImportJob.objects.exists() and not file_of(job).exists()


def test_what_a_process_leaves_behind_is_finished_by_the_next(
    job: ImportJob, original: Session, alice: User
) -> None:
    run_job(job.pk, "first", is_stopping=at_call(12, lambda: True))
    assert rows_of(alice)["turns"] and ImportJob.objects.abandoned().get() == job
    run_job(job.pk, "second")
    assert shape(Session.objects.of(alice).get()) == shape(original)
    assert rows_of(alice)["sessions"] == 1


@pytest.mark.parametrize("at", [0, 1, 12])
def test_orderly_ends_of_processes_never_give_a_job_up(
    job: ImportJob, original: Session, alice: User, at: int
) -> None:
    for number in range(ATTEMPT_LIMIT + 2):
        run_job(job.pk, f"process {number}", is_stopping=at_call(at, lambda: True))
        job.refresh_from_db()
        assert (job.state, job.attempts) == (ImportJob.State.WAITING, 0)
    run_job(job.pk, "last")
    assert shape(Session.objects.of(alice).get()) == shape(original)


class Killed(BaseException):
    pass


def test_the_job_of_a_dead_process_is_taken_over_after_its_lease(
    job: ImportJob, original: Session, alice: User
) -> None:
    def die() -> None:
        raise Killed

    with pytest.raises(Killed):
        run_job(job.pk, "first", is_stopping=at_call(12, die))
    run_job(job.pk, "second")
    assert ImportJob.objects.get().attempts == 1
    assert not Session.objects.of(alice).exists()
    ImportJob.objects.update(heartbeat_at=timezone.now() - 2 * LEASE)
    run_job(job.pk, "second")
    assert shape(Session.objects.of(alice).get()) == shape(original)
    assert rows_of(alice)["sessions"] == 1


def test_a_process_that_lost_its_lease_writes_nothing_more(
    job: ImportJob, alice: User, after_slice: Any
) -> None:
    after_slice(10, lambda: ImportJob.objects.update(process="other"))
    run_job(job.pk, "slow")
    job.refresh_from_db()
    assert job.state == ImportJob.State.RUNNING and not Session.objects.of(alice).exists()


def test_a_file_that_ends_processes_is_given_up(job: ImportJob, alice: User) -> None:
    ImportJob.objects.update(attempts=ATTEMPT_LIMIT)
    run_job(job.pk, "p")
    job.refresh_from_db()
    assert job.error["reason"] == ImportProblem.INTERRUPTED and not file_of(job).exists()


def test_a_failure_while_writing_leaves_nothing_and_is_said(
    job: ImportJob, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("unforeseen")

    before = rows_of(alice)
    monkeypatch.setattr("sessions_app.chat.import_rows.add_rows", fail)
    run_job(job.pk, "p")
    job.refresh_from_db()
    assert (job.state, job.error["reason"]) == (ImportJob.State.FAILED, ImportProblem.BROKEN)
    assert rows_of(alice) == before


def test_a_database_that_was_away_for_a_moment_leaves_the_job_to_the_next_attempt(
    job: ImportJob, alice: User, after_slice: Any
) -> None:
    def fail() -> None:
        raise OperationalError("the connection is lost")

    after_slice(3, fail)
    run_job(job.pk, "p")
    job.refresh_from_db()
    assert (job.state, job.attempts) == (ImportJob.State.WAITING, 1) and file_of(job).exists()
    assert [left.pk for left in jobs_for_this_machine()] == [job.pk]
    run_job(job.pk, "p")
    job.refresh_from_db()
    assert (job.state, rows_of(alice)["sessions"]) == (ImportJob.State.COMPLETED, 1)


def test_a_disk_that_is_full_to_the_end_of_a_failure_is_said_by_the_next_attempt(
    job: ImportJob,
    client: Client,
    after_slice: Any,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(*_: Any) -> None:
        raise disk_full()

    before = rows_of(job.owner)
    after_slice(3, fail)
    with monkeypatch.context() as patch:
        patch.setattr("sessions_app.chat.imports.erase_partial", fail)
        with pytest.raises(OperationalError):
            run_job(job.pk, "p")
    assert "was not imported" in client.get(reverse("imports")).content.decode()
    ImportJob.objects.update(heartbeat_at=timezone.now() - 2 * LEASE)
    assert not file_of(job).exists() and jobs_for_this_machine() == [job]
    run_job(job.pk, "p")
    job.refresh_from_db()
    assert (job.state, job.error["reason"]) == (ImportJob.State.FAILED, ImportProblem.NOT_WRITTEN)
    assert rows_of(job.owner) == before
    assert not [record for record in caplog.records if record.exc_info]


@pytest.mark.parametrize("place", ["file", "row"])
def test_an_upload_that_finds_no_room_leaves_no_file(
    alice: User, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"{"
        if place == "file":
            raise OSError(errno.ENOSPC, "No space left on device")

    def refuse(*_: Any, **__: Any) -> None:
        raise disk_full()

    before = {*folder().iterdir()}
    if place == "row":
        monkeypatch.setattr(ImportJob, "save", refuse)
    with pytest.raises((OSError, OperationalError)):
        add_job(alice, "talk.json", pieces())
    assert {*folder().iterdir()} == before


def test_uploaded_files_are_readable_for_the_server_only(alice: User) -> None:
    path = file_of(add_job(alice, "x", [b"{}"]))
    assert path.stat().st_mode & 0o777 == 0o600 and folder().stat().st_mode & 0o777 == 0o700


def test_leftovers_are_removed(alice: User) -> None:
    kept, old = (add_job(alice, name, [b"{}"]) for name in ("kept", "old"))
    orphan = folder() / f"{uuid.uuid4()}.json"
    orphan.write_bytes(b"{}")
    for path in (orphan, file_of(kept)):
        os.utime(path, (0, 0))
    ImportJob.objects.filter(pk=old.pk).update(
        state=ImportJob.State.FAILED, created_at=timezone.now() - timedelta(days=8)
    )
    remove_leftovers()
    assert not orphan.exists() and file_of(kept).exists() and ImportJob.objects.get() == kept


def test_a_file_on_another_machine_is_left_to_it_for_an_hour(alice: User) -> None:
    job = add_job(alice, "x", [b"{}"])
    ImportJob.objects.update(heartbeat_at=timezone.now() - 2 * LEASE)
    assert jobs_for_this_machine() == [job]
    file_of(job).unlink()
    assert jobs_for_this_machine() == []
    ImportJob.objects.update(heartbeat_at=timezone.now() - timedelta(hours=2))
    assert jobs_for_this_machine() == [job]
    run_job(job.pk, "p")
    assert ImportJob.objects.get().error["reason"] == ImportProblem.FILE_GONE


def test_the_next_transaction_has_the_size_that_fits(monkeypatch: pytest.MonkeyPatch, db: None) -> None:
    clock = iter([0.0, 0.08, 10.0, 10.002])
    monkeypatch.setattr(import_slices, "monotonic", lambda: next(clock))
    slices = Slices(lambda _: None)
    monkeypatch.setattr(import_slices, "sleep", lambda _: None)
    slices.commit(lambda: None, 40)
    assert slices.size == SMALLEST_SIZE
    slices.commit(lambda: None, SMALLEST_SIZE)
    assert slices.size == 2 * SMALLEST_SIZE


def test_cancel_asks_the_process_that_imports(client: Client, job: ImportJob, alice: User) -> None:
    ImportJob.objects.update(state=ImportJob.State.RUNNING, process="other")
    answer = client.post(reverse("dismiss-import", args=[job.public]), headers={"HX-Request": "true"})
    assert "Cancelling" in answer.content.decode() and ImportJob.objects.get().cancel_requested


def test_an_importer_that_ends_leaves_a_file_to_the_next(alice: User, original: Session) -> None:
    importer = Importer()
    async_to_sync(importer.stop)()
    file = ContentFile(export_session(original), "talk.json")
    request: Any = RequestFactory().post(reverse("import"), {"file": file})
    request.user, request.htmx, request.scope = alice, False, {"importer": importer}
    request._dont_enforce_csrf_checks = True
    answer = import_session(request)
    assert (answer.status_code, answer["Location"]) == (302, reverse("sessions"))
    job = ImportJob.objects.get()
    assert job.state == ImportJob.State.WAITING and file_of(job).exists()


@pytest.mark.django_db(transaction=True)
async def test_an_importer_does_what_it_is_given_and_what_was_left(alice: User, bob: User) -> None:
    session = await sync_to_async(factories.make_session)(bob)
    await sync_to_async(factories.play_flight)(session)
    body = await sync_to_async(export_session)(session)
    given = await sync_to_async(add_job)(alice, "given", [body])
    left = await sync_to_async(add_job)(alice, "left", [body])
    await ImportJob.objects.filter(pk=left.pk).aupdate(heartbeat_at=timezone.now() - 2 * LEASE)
    importer = Importer()
    importer.start()
    await sync_to_async(importer.submit(given.pk, 0).result)(120)
    for _ in range(3_000):
        if not await ImportJob.objects.active().aexists():
            break
        await asyncio.sleep(0.05)
    await importer.stop()
    assert await Session.objects.of(alice).acount() == 2
