"""Runs import jobs: reads the uploaded file, writes the session, removes what an ended job left."""

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import structlog
from django.conf import settings
from django.contrib.auth.models import User
from django.db import DatabaseError, transaction
from django.utils import timezone

from sessions_app.chat.import_check import CheckedFile
from sessions_app.chat.import_file import ImportFile
from sessions_app.chat.import_history import check_file
from sessions_app.chat.import_rows import SessionWriter, create_session
from sessions_app.chat.import_slices import Slices
from sessions_app.chat.throttle import Throttle
from sessions_app.database import close_unusable_connections
from sessions_app.error_codes import ImportProblem
from sessions_app.errors import NotImportable
from sessions_app.models import Blob, ImportJob, Run, Session, Turn
from sessions_app.models.import_job import ATTEMPT_LIMIT
from sessions_app.panels.row_transfer import TRANSFERRED
from sessions_app.runs.background import report
from sessions_app.storage_errors import is_full, is_temporary
from sessions_app.values import mended

FILE_AGE = timedelta(hours=1)
"""Age of a file from which it is removed if no job names it."""

BEAT_SECONDS = 1.0
"""Time between two signs of life while the file is checked."""

log = structlog.get_logger("pipeweb.imports")


class Interrupted(Exception):
    """The job was cancelled or belongs to another process now."""


class Stopped(Interrupted):
    """The process ends in an orderly way."""


def file_of(job: ImportJob) -> Path:
    return folder() / f"{job.public}.json"


def size_of(job: ImportJob) -> int:
    """Bytes of its file; 0 where it is gone."""
    try:
        return file_of(job).stat().st_size
    except FileNotFoundError:
        return 0


def folder() -> Path:
    path: Path = settings.PIPEWEB_DATA / "imports"
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def add_job(owner: User, name: str, chunks: Iterable[bytes]) -> ImportJob:
    """Keeps the uploaded file and creates its job."""
    job = ImportJob(owner=owner, name=name[:120])
    path = file_of(job)
    try:
        with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            for chunk in chunks:
                file.write(chunk)
        job.save()
    except BaseException:
        # Where the disk is full, the part of a file would take the room of others.
        path.unlink(missing_ok=True)
        raise
    return job


def jobs_for_this_machine() -> list[ImportJob]:
    """Jobs that no process works on.

    Those whose file is on another machine are left to it for a while; one that has failed needs no file.
    """
    oldest = timezone.now() - FILE_AGE
    jobs = ImportJob.objects.abandoned()
    return [job for job in jobs if job.error or file_of(job).exists() or job.heartbeat_at < oldest]


def remove_leftovers() -> None:
    """Removes jobs that ended long ago, and files whose job was never stored."""
    ImportJob.objects.outdated().delete()
    oldest = (timezone.now() - FILE_AGE).timestamp()
    old = [path for path in folder().iterdir() if path.stat().st_mtime < oldest]
    kept = {file_of(job) for job in ImportJob.objects.active()} if old else set()
    for path in set(old) - kept:
        path.unlink(missing_ok=True)


def run_job(pk: int, process: str, *, is_stopping: Callable[[], bool] = lambda: False) -> None:
    """Does the job if no other process does it. Afterwards it is over, or free for another process."""
    if not ImportJob.objects.filter(pk=pk).claim(process):
        return
    job = ImportJob.objects.select_related("session").get(pk=pk)
    worker = _Worker(job, is_stopping)
    with suppress(Interrupted):
        _end_well(worker, job)


def _end_well(worker: "_Worker", job: ImportJob) -> None:
    try:
        worker.carry_out()
    except Stopped:
        worker.give_up(counts=False)
    except Interrupted:
        worker.give_up()
    except NotImportable as error:
        worker.fail(error)
    except DatabaseError as error:
        report("import_not_written", error, job=str(job.public))
        close_unusable_connections()
        if is_temporary(error) and not is_full(error):
            worker.give_up()
        else:
            worker.fail(NotImportable(ImportProblem.NOT_WRITTEN))
    except Exception:
        log.exception("import_broke", job=str(job.public))
        worker.fail(NotImportable(ImportProblem.BROKEN))


class _Worker:
    def __init__(self, job: ImportJob, is_stopping: Callable[[], bool]) -> None:
        self._job = job
        self._is_stopping = is_stopping
        self._done = 0
        self._next_beat = 0.0
        self._throttle = Throttle()

    def carry_out(self) -> None:
        job = self._job
        if job.cancel_requested:
            raise Interrupted
        if job.error:
            # It had failed, and its process, or the database, did not come to the end of it.
            raise NotImportable(ImportProblem(job.error["reason"]), **job.error["figures"])
        # Of a process that died.
        self._remove_session()
        if job.attempts > ATTEMPT_LIMIT:
            raise NotImportable(ImportProblem.INTERRUPTED, limit=ATTEMPT_LIMIT)
        if not file_of(job).exists():
            raise NotImportable(ImportProblem.FILE_GONE)
        with ImportFile(file_of(job)) as file:
            checked = check_file(file, self._beat)
            self._begin(checked)
            assert job.session is not None
            head = SessionWriter(checked, job.session, Slices(self._count)).write()
        self._complete(head)

    def fail(self, error: NotImportable) -> None:
        told = {"reason": error.reason, "figures": mended(error.figures)}
        # First: nothing tells it once the file is gone, whose room a full disk needs for the rest.
        self._job.note(told)
        file_of(self._job).unlink(missing_ok=True)
        self._remove_session()
        self._job.fail(told)

    def give_up(self, *, counts: bool = True) -> None:
        """After a cancellation nothing is left; a job that the process cannot finish is free for another.

        `counts`: as an attempt, since the file may be why.
        """
        if ImportJob.objects.filter(pk=self._job.pk, cancel_requested=True).exists():
            self._remove_session()
            file_of(self._job).unlink(missing_ok=True)
            self._job.remove()
        else:
            self._job.release(counts=counts)

    def _begin(self, checked: CheckedFile) -> None:
        # Names of the file may hold what PostgreSQL refuses in a column.
        left_out = mended([name[:80] for name in checked.left_out[:20]])
        with transaction.atomic():
            session = create_session(self._job.owner_id, checked.session)
            self._renew(
                session=session,
                total=checked.total,
                done=0,
                format=checked.format,
                notes=mended(list(checked.notes)),
                left_out=left_out,
            )
        self._job.session = session

    def _complete(self, head: int | None) -> None:
        """Shows the session."""
        assert self._job.session is not None
        with transaction.atomic():
            Session.objects.filter(pk=self._job.session.pk).update(
                head=head, is_importing=False, updated_at=timezone.now()
            )
            self._renew(state=ImportJob.State.COMPLETED)
        file_of(self._job).unlink(missing_ok=True)

    def _beat(self) -> None:
        """A rest, and a sign of life, between two entries that are checked."""
        self._throttle.rest()
        if monotonic() >= self._next_beat:
            self._next_beat = monotonic() + BEAT_SECONDS
            self._renew()

    def _count(self, entries: int) -> None:
        self._done += entries
        self._renew(done=self._done)

    def _renew(self, **changes: Any) -> None:
        self._check_process()
        if not self._job.renew(**changes):
            raise Interrupted

    def _hold(self, _: int) -> None:
        """Renews the lease of a job that may have been cancelled."""
        self._check_process()
        if not self._job.hold():
            raise Interrupted

    def _check_process(self) -> None:
        if self._is_stopping():
            raise Stopped

    def _remove_session(self) -> None:
        session, self._job.session = self._job.session, None
        if session is not None:
            erase_partial(session, Slices(self._hold))


def erase_partial(session: Session, slices: Slices) -> None:
    """Erases a session that was never shown, in short transactions."""
    turns = Turn.objects.filter(session=session).order_by("-pk").values_list("pk", "content_id")
    # From the newest: what names a turn is gone before it.
    while batch := list(turns[: slices.size]):
        slices.commit(partial(_delete_turns, session.owner_id, dict(batch)), len(batch))
    for model in (*(source.model for source in TRANSFERRED), Run):
        keys = model.objects.filter(session=session).values_list("pk", flat=True)
        while found := list(keys[: slices.size]):
            rows = model.objects.filter(pk__in=found)
            slices.commit(partial(rows._raw_delete, rows.db), len(found))
    slices.commit(partial(_delete_session, session), 1)


def _delete_turns(owner_id: int, contents: Mapping[int, int]) -> None:
    """Deletes the turns, given with the keys of their contents."""
    Run.objects.filter(trigger__in=contents).update(trigger=None)
    rows = Turn.objects.filter(pk__in=contents)
    rows._raw_delete(rows.db)
    Blob.objects.filter(pk__in=contents.values()).delete_unreferenced(owner_id)


def _delete_session(session: Session) -> None:
    session.delete()
