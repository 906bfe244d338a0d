"""The threads of a process that import small files, and wait for the processes that import large ones."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from threading import Event, Lock
from uuid import uuid4

from django.conf import settings
from django.db import connections

from sessions_app.chat.imports import jobs_for_this_machine, remove_leftovers, run_job, size_of
from sessions_app.database import database_sync_to_async
from sessions_app.runs.background import BackgroundTask, isolated

THREADS = 4
"""Imports at a time in one process; each has a database connection of its own."""

ROUND_SECONDS = 10.0
"""Time between two searches for jobs that no process works on."""

CLEANING_ROUNDS = 360
"""Rounds between two removals of what was left behind."""

SMALL_SIZE = 500_000
"""Bytes up to which a file is imported in this process: it is done before another one has started."""


class Importer:
    """One per process. A job that is running when the process ends is left to the next one."""

    def __init__(self) -> None:
        self._key = uuid4().hex
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="pipeweb-import")
        # One at a time: each is a process with a file in memory.
        self._waiters = ThreadPoolExecutor(1, thread_name_prefix="pipeweb-import-process")
        self._is_stopping = Event()
        self._rounds = BackgroundTask("import_rounds_ended", self._run_rounds)
        self.start = self._rounds.start
        self._lock = Lock()
        self._submitted: set[int] = set()
        self._children: set[subprocess.Popen[bytes]] = set()

    def submit(self, pk: int, size: int) -> "Future[None]":
        """Runs the job, whose file has `size` bytes, when a thread is free.

        After `stop` it is left to another process, and the future is cancelled.
        """
        with self._lock:
            if self._is_stopping.is_set():
                left: Future[None] = Future()
                left.cancel()
                return left
            self._submitted.add(pk)
            if size > SMALL_SIZE:
                return self._waiters.submit(self._run, self._run_beside, pk)
            return self._threads.submit(self._run, self._run_here, pk)

    async def stop(self) -> None:
        """Ends after the current transactions. Idempotent."""
        with self._lock:
            self._is_stopping.set()
            for child in self._children:
                child.terminate()
        await self._rounds.stop()
        for threads in (self._waiters, self._threads):
            end = partial(threads.shutdown, wait=True, cancel_futures=True)
            await asyncio.get_running_loop().run_in_executor(None, end)

    async def _run_rounds(self) -> None:
        rounds = 0
        while True:
            with isolated("import_round_failed"):
                await database_sync_to_async(self._submit_abandoned)()
                if rounds % CLEANING_ROUNDS == 0:
                    await database_sync_to_async(remove_leftovers)()
            rounds += 1
            await asyncio.sleep(ROUND_SECONDS)

    def _submit_abandoned(self) -> None:
        for job in jobs_for_this_machine():
            if job.pk not in self._submitted:
                self.submit(job.pk, size_of(job))

    def _run(self, work: Callable[[int], None], pk: int) -> None:
        try:
            with isolated("import_failed", job=pk):
                work(pk)
        finally:
            with self._lock:
                self._submitted.discard(pk)
            connections.close_all()

    def _run_here(self, pk: int) -> None:
        run_job(pk, self._key, is_stopping=self._is_stopping.is_set)

    def _run_beside(self, pk: int) -> None:
        with self._lock:
            if self._is_stopping.is_set():
                return
            child = subprocess.Popen(  # noqa: S603
                [sys.executable, "-m", "sessions_app.chat.import_process", str(pk), self._key],
                cwd=settings.BASE_DIR,
                env={**os.environ, "DJANGO_SETTINGS_MODULE": settings.SETTINGS_MODULE},
                stdin=subprocess.DEVNULL,
                # Ctrl-C is for this process, which then ends its children.
                start_new_session=True,
            )
            self._children.add(child)
        child.wait()
        with self._lock:
            self._children.discard(child)
