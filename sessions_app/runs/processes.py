"""Server processes: notifications between them over Redis, lock files, recovery of abandoned runs."""

import asyncio
import fcntl
import os
import uuid
from collections.abc import AsyncGenerator, Collection, Iterable
from pathlib import Path
from time import monotonic
from typing import Any

from channels.layers import InMemoryChannelLayer, get_channel_layer
from django.db.models import DateTimeField, OuterRef, QuerySet, Subquery
from django.utils import timezone

from sessions_app.errors import RunError
from sessions_app.models import QueuedMessage, Run
from sessions_app.models.prepared import Parameter, Reading
from sessions_app.models.run import LARGEST_SKEW, LEASE
from sessions_app.runs.background import isolated, report
from sessions_app.runs.run_end import end_run

GROUP = "pipeweb.changes"
RECONNECT_SECONDS = 1.0

PAUSE_SECONDS = 0.05
"""Between two messages of a process, each of which every process receives."""


def _connection_errors() -> tuple[type[Exception], ...]:
    """Errors of an unreachable Redis. Its client takes 6 MB: nobody else imports it."""
    from redis.exceptions import RedisError

    return (OSError, RedisError)


class Notifier:
    """Tells other processes that sessions changed; a lost message costs one poll (`run_poller`).

    Does nothing with the in-memory layer: there is no other process. `process` is the key of this one, whose
    own messages are not passed on: what it changed its viewers have already.
    """

    def __init__(self, process: str) -> None:
        layer = get_channel_layer()
        self._layer: Any = None if isinstance(layer, InMemoryChannelLayer) else layer
        self._errors = _connection_errors() if self._layer is not None else ()
        self._process = process
        self._changed: set[int] = set()
        self._sending: asyncio.Task[None] | None = None

    def notify(self, session_pks: Iterable[int]) -> None:
        """Sends in the background and never fails; what changes within PAUSE_SECONDS goes with the next
        message.
        """
        if self._layer is None:
            return
        self._changed.update(session_pks)
        if self._sending is None:
            self._send_changed()

    async def listen(self) -> AsyncGenerator[set[int], None]:
        """Keys of sessions that other processes changed; reconnects after errors of Redis."""
        while self._layer is not None:
            try:
                channel = await self._layer.new_channel()
                await self._layer.group_add(GROUP, channel)
                while True:
                    message = await self._layer.receive(channel)
                    if message["process"] != self._process:
                        yield set(message["sessions"])
            except self._errors as error:
                report("bell_away", error)
                await asyncio.sleep(RECONNECT_SECONDS)

    def _send_changed(self) -> None:
        loop = asyncio.get_running_loop()
        self._sending = loop.create_task(self._send()) if self._changed else None

    async def _send(self) -> None:
        changed, self._changed = sorted(self._changed), set()
        message = {"type": "news", "process": self._process, "sessions": changed}
        try:
            await self._layer.group_send(GROUP, message)
        except self._errors as error:
            report("bell_silent", error)
        finally:
            # Not a task that sleeps: it would be left over when the process ends.
            asyncio.get_running_loop().call_later(PAUSE_SECONDS, self._send_changed)


def living_processes(folder: Path) -> int:
    """How many processes of this machine hold a lock in the folder."""
    if not folder.is_dir():
        return 0
    own = ProcessLock(folder)
    try:
        others = {path.stem for path in folder.glob("*.lock")} - {own.key}
        return len(others - own.dead_keys())
    finally:
        own.release()


class ProcessLock:
    """A locked file in `folder`, which the kernel unlocks when the process dies.

    `key` is stored on every run of the process.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self.key = uuid.uuid4().hex
        # Renamed when locked: an unlocked `.lock` file means a dead process.
        unnamed = folder / f"{self.key}.new"
        self._file = os.open(unnamed, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(self._file, fcntl.LOCK_EX)
        unnamed.rename(self._path(self.key))

    def dead_keys(self) -> set[str]:
        """Keys of dead processes of this machine; those of other machines are known by their lease."""
        keys = {path.stem for path in self._folder.glob("*.lock")} - {self.key}
        return {key for key in keys if self._is_free(key)}

    def remove(self, key: str) -> None:
        """Deletes the file of a dead process whose runs have been ended."""
        self._path(key).unlink(missing_ok=True)

    def release(self) -> None:
        self.remove(self.key)
        self.unlock()

    def unlock(self) -> None:
        """Leaves the file, which tells the next process that this one is dead."""
        os.close(self._file)

    def _is_free(self, key: str) -> bool:
        try:
            file = os.open(self._path(key), os.O_RDWR)
        except OSError:
            # Gone, or of another user: the lease of its runs tells of that one.
            return False
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            os.close(file)
        return True

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.lock"


def leave(process_lock: ProcessLock) -> None:
    """At the end of a process: the runs that it could not end are known by its file to be abandoned."""
    has_runs = True
    with isolated("runs_not_read"):
        has_runs = Run.objects.active().filter(process=process_lock.key).exists()
    if has_runs:
        process_lock.unlock()
    else:
        process_lock.release()


PROCESS_DIED = RunError("The server stopped while it was answering.", hint="What had arrived is kept.")


SURE_SECONDS = LEASE.total_seconds()
"""For which a lease has to look expired: where a clock was set, all of them do until they are renewed."""


class LeaseWatch:
    """Which leases have expired, by what one process has seen and its own clock."""

    def __init__(self) -> None:
        self._silent_since: dict[int, float] = {}

    def expired(self, silent: Collection[int]) -> set[int]:
        """Those of the runs, whose leases look expired now, that have looked so for SURE_SECONDS."""
        now, before = monotonic(), self._silent_since
        self._silent_since = {pk: before.get(pk, now) for pk in silent}
        return {pk for pk, since in self._silent_since.items() if now - since >= SURE_SECONDS}


def abandoned_runs(process_lock: ProcessLock, leases: LeaseWatch) -> list[int]:
    """Keys of the active runs of dead processes; forgets dead processes that have none.

    A process is dead when its lock on this machine is free or the lease of its runs has expired.
    """
    dead_keys = process_lock.dead_keys()
    left = dict(Run.objects.active().filter(process__in=dead_keys).values_list("pk", "process"))
    for key in {*dead_keys} - {*left.values()}:
        process_lock.remove(key)
    now = timezone.now()
    silent = {pk for (pk,) in _silent.all(since=now - LEASE, until=now + LARGEST_SKEW)}
    return sorted(leases.expired(silent).union(left))


def _of_silent() -> "QuerySet[Run, Any]":
    since, until = (Parameter(name, DateTimeField()) for name in ("since", "until"))
    return Run.objects.silent(since, until).values_list("pk")


_silent: Reading[tuple[int]] = Reading(_of_silent)


def end_abandoned_run(pk: int) -> int | None:
    """Marks the run interrupted; returns the key of its session, None if that was not possible."""
    with isolated("reap_failed", run=pk):
        if end_run(pk, Run.Status.INTERRUPTED, error=PROCESS_DIED) is not None:
            return Run.objects.values_list("session_id", flat=True).get(pk=pk)
    return None


def sessions_left_waiting() -> list[int]:
    """Sessions with queued messages after a completed run whose process died: one query.

    After a stop or a failure, queued messages wait for the person.
    """
    return [session for (session,) in _left_waiting.all(since=timezone.now() - LEASE)]


def _of_left_waiting() -> "QuerySet[QueuedMessage, Any]":
    newest = Run.objects.filter(session=OuterRef("session")).order_by("-pk").values("status")[:1]
    since = Parameter("since", DateTimeField())
    waiting = QueuedMessage.objects.filter(
        queued_at__lt=since, session__deleted_at=None, session__owner__is_active=True
    )
    left = waiting.alias(last=Subquery(newest)).filter(last=Run.Status.COMPLETED).order_by("session")
    return left.values_list("session").distinct()


_left_waiting: Reading[tuple[int]] = Reading(_of_left_waiting)
